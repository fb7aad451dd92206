// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

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
	return command.ValidateLoopback("--observations-bind-address", "127.0.0.1:8082", o.BindAddress)
}

// observe has all that controllers write to the hub kept, or logged, in its place.
func (p *parts) observe(manager ctrl.Manager, o *Options) error {
	hub := hubclient.NewObserved(p.client)
	p.client, p.live, p.events = hub, hub.Live(p.live), hubclient.Events{Log: klog.Background()}
	return addLoopback(manager, "what is observed", o.Observing.BindAddress, hub.Handler(), 10*time.Second)
}

// addLoopback has every replica serve something at a loopback address; NoAddress: nowhere. Who asks is one person.
func addLoopback(manager ctrl.Manager, what, address string, handler http.Handler, timeout time.Duration) error {
	if address == command.NoAddress {
		return nil
	}
	return manager.Add(everywhere(func(ctx context.Context) error {
		if err := command.ServeLoopback(ctx, address, handler, timeout); err != nil {
			return fmt.Errorf("serving %s: %w", what, err)
		}
		return nil
	}))
}
