// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Members are the registered clusters, with what is watched in them.
type Members struct {
	registry    *member.Registry
	pods        *pods.Store
	capacity    *capacity.Estimator
	autoscalers *mirror.Mirror[*autoscalingv2.HorizontalPodAutoscaler, record]
	sizes       *sizing.Members
	scope       tenancy.Scope
}

var _ Fleet = (*Members)(nil)

// NewMembers returns the clusters of the registry, which are asked for what is in these namespaces. The caller runs all three.
func NewMembers(registry *member.Registry, store *pods.Store, rooms *capacity.Estimator, scope tenancy.Scope) *Members {
	return &Members{
		registry:    registry,
		pods:        store,
		capacity:    rooms,
		autoscalers: newAutoscalers(scope),
		sizes:       sizing.New(store, rooms, scope),
		scope:       scope,
	}
}

// Run watches what members have of their own, as far as it is asked for, until ctx ends.
func (m *Members) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return m.autoscalers.Run(ctx) })
	group.Go(func() error { return m.sizes.Run(ctx) })
	return group.Wait()
}

// Settled implements [Fleet].
func (m *Members) Settled() error { return m.registry.Settled() }

// Clusters implements [Fleet].
func (m *Members) Clusters() []Cluster {
	var all []Cluster
	for _, one := range m.registry.Members() {
		all = append(all, memberCluster{one, m})
	}
	return all
}

// memberCluster is one registered cluster.
type memberCluster struct {
	*member.Member
	all *Members
}

func (c memberCluster) Facts() assignment.ClusterFacts {
	t := c.Topology()
	return assignment.ClusterFacts{
		Name: c.Name(), Labels: c.Labels(), Provider: t.Provider, Region: t.Region, Zones: t.Zones, Taints: c.Taints(),
	}
}

func (c memberCluster) ClockOffset() time.Duration {
	offset, _ := c.Member.ClockOffset()
	return offset
}

func (c memberCluster) Silence() *fleet.Silence {
	silence, _ := fleet.Classify(c.Member.Silence())
	return silence
}

func (c memberCluster) Pods(ctx context.Context, namespace string, selector labels.Selector) pods.Listing {
	return c.all.pods.Ask(ctx, c.Member, namespace, selector)
}

func (c memberCluster) Sizer() sizing.Sizer { return c.all.sizes.Of(c.Member) }
