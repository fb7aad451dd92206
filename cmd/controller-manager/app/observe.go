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
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
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
		"served as their statuses would be, and the record of decisions, over plain HTTP, to whoever runs beside: for kubectl fleetscale "+
		"explain --observer and replay --observer. 0 disables it.")
}

func (o *ObserveOptions) validate() error {
	return command.ValidateLoopback("--observations-bind-address", "127.0.0.1:8082", o.BindAddress)
}

// observe has all that controllers write to the hub kept, or logged, in its place. The record of decisions is served beside it.
func (p *parts) observe(manager ctrl.Manager, records *recordstore.Store, o *Options) error {
	hub := hubclient.NewObserved(p.client)
	p.client, p.live, p.events = hub, hub.Live(p.live), hubclient.Events{Log: klog.Background()}
	if o.Observing.BindAddress == command.NoAddress {
		return nil
	}
	served := http.NewServeMux()
	served.Handle("/", hub.Handler())
	if records != nil {
		served.Handle("GET "+recordstore.Path, records.Handler())
	}
	return manager.Add(everywhere(func(ctx context.Context) error {
		if err := command.ServeLoopback(ctx, o.Observing.BindAddress, served, 10*time.Second); err != nil {
			return fmt.Errorf("serving what is observed: %w", err)
		}
		return nil
	}))
}
