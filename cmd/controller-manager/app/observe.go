// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/hub/hubclient"
)

// ObserveOptions are for a program that decides, and writes nothing.
type ObserveOptions struct {
	Observe bool
	// BindAddress is where what it would write is served.
	BindAddress string
}

func (o *ObserveOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("observing")
	fs.BoolVar(&o.Observe, "observe", o.Observe, "Decide, and write nothing: neither to the hub, its objects' statuses and Events included, "+
		"nor to members. All autoscalers are taken to have spec.mode Observe, and no leader is elected. What would be written is in metrics, "+
		"in the log, and at --observations-bind-address.")
	fs.StringVar(&o.BindAddress, "observations-bind-address", o.BindAddress, "Loopback address on which, with --observe, autoscalers are "+
		"served as their statuses would be, over plain HTTP, to whoever runs beside: for kubectl fleetscale explain --observer. 0 disables it.")
}

func (o *ObserveOptions) validate() error {
	if o.BindAddress == noAddress || command.OnLoopback(o.BindAddress) {
		return nil
	}
	return errors.New("--observations-bind-address: must be a port of a loopback address, such as 127.0.0.1:8082, or 0; got " + o.BindAddress)
}

// noAddress disables what would be served.
const noAddress = "0"

// observe has all that controllers write to the hub kept, or logged, in its place.
func (p *parts) observe(manager ctrl.Manager, o *Options) error {
	hub := hubclient.NewObserved(p.client)
	p.client, p.live, p.events = hub, hub.Live(p.live), hubclient.Events{Log: klog.Background()}
	if o.Observing.BindAddress == noAddress {
		return nil
	}
	return manager.Add(everywhere(func(ctx context.Context) error { return hub.Serve(ctx, o.Observing.BindAddress) }))
}
