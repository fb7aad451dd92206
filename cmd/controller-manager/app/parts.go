// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// parts are what the controllers share.
type parts struct {
	// client reads the hub's objects from a cache, and writes them; live reads from the hub itself. Where the program only observes,
	// both show what it keeps.
	client client.Client
	live   client.Reader
	events events.EventRecorder
	// records keeps what decisions were told; nil: nothing does.
	records central.Records

	scales  scale.ScalesGetter
	fleet   *selection.Reader
	metrics *hubmetrics.Client
	// told is what the program tells of itself.
	told *Metrics
	// hold is why nothing may be done now; nil: something may.
	hold func() error
	hub  *hubIdentity
	// shards has the objects that this replica reconciles; nil: all, while it leads.
	shards *sharding.Shards
	// synced reports whether the hub has told all autoscalers.
	synced func() bool
}

// holdFleet is hold for those who need to know all clusters.
func (p *parts) holdFleet() error { return cmp.Or(p.hold(), p.hub.known(), p.fleet.Fleet.Settled()) }

// holdSweeps is hold for who removes what no autoscaler of the hub owns.
func (p *parts) holdSweeps() error {
	if !p.synced() {
		return errors.New("the hub has not told all autoscalers yet")
	}
	return p.holdFleet()
}

func newParts(ctx context.Context, manager ctrl.Manager, candidate *candidate, told *Metrics, o *Options) (*parts, error) {
	scales, err := newScales(manager)
	if err != nil {
		return nil, fmt.Errorf("preparing to scale: %w", err)
	}
	shared := &parts{client: manager.GetClient(), live: manager.GetAPIReader(), events: manager.GetEventRecorder(program)}
	var others func() []string
	if shared.shards, others, err = addShards(manager, candidate, told.shards, o); err != nil {
		return nil, err
	}
	records, served, err := addRecords(manager, told.records, others, o)
	if err != nil {
		return nil, err
	}
	if records != nil {
		shared.records = records
	}
	if o.Observing.Observe {
		if err := shared.observe(manager, records, o); err != nil {
			return nil, err
		}
	}
	hold, err := addSchemaCheck(ctx, manager, told.schema, o)
	if err != nil {
		return nil, err
	}
	synced, err := index.Watch(ctx, manager.GetCache())
	if err != nil {
		return nil, fmt.Errorf("preparing to read autoscalers of the hub, whose CRDs are in deploy/crds: %w", err)
	}
	registry, err := addRegistry(manager, told, served, shared.shards, o)
	if err != nil {
		return nil, err
	}
	members, err := addMembers(manager, o, registry)
	if err != nil {
		return nil, err
	}
	metrics, err := hubmetrics.New(manager.GetConfig(), manager.GetRESTMapper(), told.hub)
	if err != nil {
		return nil, err
	}
	fleet := &selection.Reader{
		Fleet: members, Placements: placement.NewKarmada(shared.client, clock.RealClock{}), Timeout: o.Members.Timeout,
	}
	if o.PlacementDecisions {
		fleet.Decisions = &placement.Decisions{Hub: shared.client, ClusterOf: clusterOf(registry)}
	}
	hub, err := addHubIdentity(manager)
	if err != nil {
		return nil, err
	}
	shared.scales, shared.fleet, shared.metrics, shared.hold, shared.hub = scales, fleet, metrics, hold, hub
	shared.told, shared.synced = told, synced
	return shared, nil
}

// clusterOf tells which cluster a ClusterProfile stands for. One that registers none is called as if it were refused.
func clusterOf(registry *member.Registry) func(namespace, name string) (cluster string, registered bool) {
	return func(namespace, name string) (string, bool) {
		object := namespace + "/" + name
		if cluster := registry.ClusterOf(registration.ClusterProfileSource, object); cluster != "" {
			return cluster, true
		}
		return registration.Key{Source: registration.ClusterProfileSource, Object: object}.Listed(), false
	}
}
