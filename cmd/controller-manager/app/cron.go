// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/controllers/cronfederatedhpa"
)

// addCron adds the controller of CronFederatedHPAs.
func addCron(manager ctrl.Manager, p *parts, o *Options) error {
	reconciler := cronfederatedhpa.New(cronfederatedhpa.Options{
		Hub:              p.client,
		Live:             p.live,
		Scales:           p.scales,
		Mapper:           manager.GetRESTMapper(),
		Fleet:            p.fleet,
		TimeZone:         o.Cron.TimeZone,
		Hold:             p.hold,
		Clock:            clock.RealClock{},
		Events:           p.events,
		Observes:         o.Observing.Observe,
		PropagationGrace: o.Autoscale.PropagationGrace,
		Metrics:          p.told.cron,
		Losses:           p.told.losses,
		Shards:           p.shards,
	})
	if err := reconciler.SetUp(manager, o.Cron.Syncs, o.Hub.Timeout); err != nil {
		return err
	}
	return readyWhen(manager, "cronfederatedhpas-known", p.synced)
}

// newScales is a client of the scale subresource, in the form that costs least where a resource has it. A decision reads one each time.
func newScales(manager ctrl.Manager) (scale.ScalesGetter, error) {
	config := rest.CopyConfig(manager.GetConfig()) // the client writes to it
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	kinds, err := discovery.NewDiscoveryClientForConfigAndClient(config, manager.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	return scale.NewForConfig(config, manager.GetRESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(kinds))
}
