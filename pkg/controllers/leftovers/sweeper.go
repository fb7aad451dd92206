// SPDX-License-Identifier: Apache-2.0

// Package leftovers removes from members what nobody else knows of: HorizontalPodAutoscalers of this hub whose FederatedHPA is no more,
// as a deletion ends after a grace, also if a cluster is silent; and those of a FederatedHPA that has forgotten the cluster, as it was not
// registered when it was taken out of the selection.
//
// An autoscaler is removed only if it names this hub as the one to do so, and the hub itself, asked after the member was, does not
// have the owner that its label names, or its owner neither selects the cluster nor names it in its status. So no other hub's is
// touched, and no cache that lags decides.
package leftovers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

const (
	// period is how soon after its return a cluster is swept.
	period = 15 * time.Second
	// again is how often a cluster is swept that stays.
	again = time.Hour
	// mostRemoved bounds what is removed from a cluster in one pass; the rest follows in the next.
	mostRemoved = 100
	// mostAsked bounds for how many namespaces the hub itself is asked in one pass over a cluster, which may tell any.
	mostAsked = 20
)

// Options configure a [Sweeper].
type Options struct {
	// Hub reads FederatedHPAs from a cache, and Live from the hub's API server itself.
	Hub, Live client.Reader
	// ID is the hub's, as autoscalers name it.
	ID    func() string
	Fleet workload.Fleet
	// Selection says which clusters FederatedHPAs select.
	Selection *selection.Reader
	// Hold is why nothing may be done now; nil: something may.
	Hold func() error
	// Timeout bounds the pass over one cluster.
	Timeout time.Duration
	Clock   clock.PassiveClock
}

// Sweeper sweeps each cluster once it is ready, and now and then.
type Sweeper struct {
	Options
	swept map[string]time.Time // when each ready cluster was
}

// New returns a sweeper, of which one works at a time.
func New(o Options) *Sweeper { return &Sweeper{Options: o, swept: map[string]time.Time{}} }

// Run sweeps until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		s.pass(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// visit is the sweeping of one cluster.
type visit struct {
	workload.Cluster
	name string
	err  error
}

// pass sweeps the clusters that are due. One that fails is due again.
func (s *Sweeper) pass(ctx context.Context) {
	if s.Hold() != nil {
		return
	}
	var due []visit
	ready := map[string]bool{}
	for _, c := range s.Fleet.Clusters() {
		name := c.Facts().Name
		if c.Silence() != nil {
			continue
		}
		ready[name] = true
		if at, swept := s.swept[name]; !swept || s.Clock.Since(at) >= again {
			due = append(due, visit{Cluster: c, name: name})
		}
	}
	maps.DeleteFunc(s.swept, func(name string, _ time.Time) bool { return !ready[name] })
	workload.Each(ctx, s.Timeout, due, func(ctx context.Context, v *visit) { v.err = s.sweep(ctx, v) })
	for _, v := range due {
		if v.err != nil {
			klog.FromContext(ctx).V(2).Info("Could not sweep the cluster", "cluster", v.name, "err", v.err)
			continue
		}
		s.swept[v.name] = s.Clock.Now()
	}
}

var errMore = errors.New("there is more than is done in one pass")

// sweep removes what nobody sees to from a cluster.
func (s *Sweeper) sweep(ctx context.Context, v *visit) error {
	made, err := v.MadeBy(ctx, s.ID())
	if err != nil {
		return err
	}
	byNamespace := map[string][]*autoscalingv2.HorizontalPodAutoscaler{}
	for _, hpa := range made {
		byNamespace[hpa.Namespace] = append(byNamespace[hpa.Namespace], hpa)
	}
	removed, asked := 0, 0
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		lost, err := s.lost(ctx, v, s.Hub, namespace, byNamespace[namespace])
		if err == nil && len(lost) > 0 { // the cache may lag
			if asked++; asked > mostAsked {
				return errMore
			}
			lost, err = s.lost(ctx, v, s.Live, namespace, lost)
		}
		if err != nil {
			return err
		}
		for _, hpa := range lost {
			if removed++; removed > mostRemoved {
				return errMore
			}
			if err := v.Delete(ctx, hpa); err != nil {
				return err
			}
			klog.FromContext(ctx).Info("Removed an autoscaler that nobody sees to", "cluster", v.name, "hpa", klog.KObj(hpa),
				"owner", hpa.Labels[v1alpha1.ManagedByLabel])
		}
	}
	return nil
}

// ownersIn are the FederatedHPAs of a namespace, by uid.
func ownersIn(ctx context.Context, hub client.Reader, namespace string) (map[string]*v1alpha1.FederatedHPA, error) {
	list := &v1alpha1.FederatedHPAList{}
	if err := hub.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing FederatedHPAs of namespace %s: %w", namespace, err)
	}
	if list.Continue != "" { // one that lacks there may be among the rest
		return nil, fmt.Errorf("listing FederatedHPAs of namespace %s: the hub told a part of them", namespace)
	}
	owners := map[string]*v1alpha1.FederatedHPA{}
	for i := range list.Items {
		owners[string(list.Items[i].UID)] = &list.Items[i]
	}
	return owners, nil
}
