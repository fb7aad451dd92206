// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/controllers/leftovers"
)

// sweepTimeouts is how many member timeouts the sweeping of one cluster may take.
const sweepTimeouts = 6

// addAutoscaler adds the controller of FederatedHPAs, and what removes what their deletions left behind, unless the program only observes.
func addAutoscaler(manager ctrl.Manager, p *parts, o *Options) error {
	fleet := &sight.Reader{Reader: *p.fleet, Clock: clock.RealClock{}}
	recorder := record.New(p.client, p.events)
	reconciler := federatedhpa.New(federatedhpa.Options{
		Hub:      p.client,
		Live:     p.live,
		Recorder: recorder,
		Central: central.New(central.Options{
			Hub:              p.client,
			Live:             p.live,
			Scales:           p.scales,
			Mapper:           manager.GetRESTMapper(),
			Fleet:            fleet,
			Recorder:         recorder,
			Ask:              p.metrics,
			PropagationGrace: o.Autoscale.PropagationGrace,
			Decision:         o.Autoscale.Decision,
			Metrics:          p.told.central,
			Records:          p.records,
		}),
		Distributed: distributed.New(distributed.Options{
			Live:            p.live,
			Fleet:           fleet,
			Recorder:        recorder,
			Ask:             p.metrics,
			Grace:           o.Autoscale.FailoverGrace,
			Rest:            o.Autoscale.RestAfterScaling,
			WindowStep:      o.Autoscale.BestEffortStep,
			DeletionGrace:   o.Autoscale.DeletionGrace,
			Hub:             p.hub.get,
			CreateWorkloads: o.Autoscale.CreateWorkloads,
			Window:          o.Autoscale.Decision.StabilizationWindow,
			Tolerance:       o.Autoscale.Decision.Tolerance,
			Metrics:         p.told.distributed,
			Records:         p.records,
		}),
		Hold:       p.holdFleet,
		SyncPeriod: o.Autoscale.SyncPeriod,
		Clock:      clock.RealClock{},
		Losses:     p.told.losses,
		Metrics:    p.told.objects,
		MostShown:  o.Serving.MetricsPerObject,
		Observes:   o.Observing.Observe,
		Shards:     p.shards,
	})
	if err := reconciler.SetUp(manager, o.Autoscale.Syncs, o.Hub.Timeout); err != nil {
		return err
	}
	if o.Observing.Observe {
		return readyWhen(manager, "federatedhpas-known", p.synced)
	}
	sweeper := leftovers.New(leftovers.Options{
		Hub: p.client, Live: p.live, ID: p.hub.get, Fleet: p.fleet.Fleet, Selection: &fleet.Reader,
		Hold:    p.holdSweeps,
		Timeout: sweepTimeouts * o.Members.Timeout, Clock: clock.RealClock{},
	})
	if err := manager.Add(ctrlmanager.RunnableFunc(sweeper.Run)); err != nil {
		return err
	}
	return readyWhen(manager, "federatedhpas-known", p.synced)
}
