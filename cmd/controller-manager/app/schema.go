// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// schemaPeriod is the interval at which the hub's schema is checked: an upgrade of Karmada may take our fields away at
// any time.
const schemaPeriod = 15 * time.Second

// addSchemaCheck adds what knows whether the hub serves our schema, and returns why nothing may be done now. Who only observes may do so
// on a hub of another schema: what that lacks nobody could set, and nothing is lost.
func addSchemaCheck(ctx context.Context, manager ctrl.Manager, metrics *served.Metrics, o *Options) (hold func() error, err error) {
	if o.Observing.Observe {
		return func() error { return nil }, nil
	}
	hub, err := discovery.NewDiscoveryClientForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to read the hub's schema: %w", err)
	}
	checker := served.New(served.Options{
		Hub:     hub.OpenAPIV3WithContext(ctx),
		Period:  schemaPeriod,
		Timeout: o.Hub.Timeout,
		Metrics: metrics,
	})
	if err := manager.Add(everywhere(func(ctx context.Context) error { checker.Run(ctx); return nil })); err != nil {
		return nil, err
	}
	return checker.Err, manager.AddReadyzCheck("schema", command.ReadyCheck("schema", func(*http.Request) error { return checker.Err() }))
}
