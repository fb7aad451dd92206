// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/webhook"
)

const program = "fleetscale-webhook"

// run wires the parts and serves until ctx ends.
func run(ctx context.Context, o *Options) error {
	ctrl.SetLogger(klog.Background())
	config, err := command.HubConfig(o.Hub.Kubeconfig, program)
	if err != nil {
		return err
	}
	told := NewMetrics(ctrlmetrics.Registry)
	certificate, err := newCertificate(config, o, told.certificate)
	if err != nil {
		return err
	}
	manager, err := newManager(config, o, certificate)
	if err != nil {
		return err
	}
	reviewer, err := newReviewer(manager, o)
	if err != nil {
		return err
	}
	if err := serve(ctx, manager, o, certificate, reviewer, told.admission); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(drained(ctx, o.Serving.ShutdownDelay))
	group.Go(func() error { return certificate.Run(ctx) })
	group.Go(func() error { return manager.Start(ctx) })
	return group.Wait()
}

func newManager(config *rest.Config, o *Options, certificate *certs.Certificate) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := webhook.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("collecting the kinds: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  o.Namespaces.Cache(cache.Options{DefaultTransform: webhook.Trim}),
		Metrics:                command.MetricsServer(o.Serving.MetricsBindAddress, certificate.Get),
		HealthProbeBindAddress: o.Serving.HealthProbesBindAddress,
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host:    o.Serving.BindAddress,
			Port:    o.Serving.SecurePort,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = certificate.Get }},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("preparing to serve: %w", err)
	}
	return manager, nil
}

// newReviewer asks the hub about authors; nil where nothing is created for them.
func newReviewer(manager ctrl.Manager, o *Options) (webhook.Reviewer, error) {
	if !o.Hub.CreateWorkloads {
		return nil, nil //nolint:nilnil // nobody is asked
	}
	config := rest.CopyConfig(manager.GetConfig())
	config.QPS = -1 // no author waits for another; the hub knows best how much it can take
	hub, err := authorizationv1client.NewForConfigAndClient(config, manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("preparing to ask what authors may do: %w", err)
	}
	return hub.SubjectAccessReviews(), nil
}

// serve adds the webhooks, what they read, and the checks.
func serve(ctx context.Context, manager ctrl.Manager, o *Options, certificate *certs.Certificate, reviewer webhook.Reviewer,
	metrics *webhook.Metrics) error {
	server := manager.GetWebhookServer()
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("preparing to read which kinds the hub serves: %w", err)
	}
	for path, handler := range webhook.Handlers(manager.GetCache(), o.Namespaces.Scope(), webhook.NewKinds(discoverer), reviewer, metrics) {
		server.Register(path, lastly(ctx, handler))
	}
	synced, err := index.Watch(ctx, manager.GetCache())
	if err != nil {
		return fmt.Errorf("preparing to read autoscalers of the hub, whose CRDs are in deploy/crds: %w", err)
	}
	known := func(*http.Request) error {
		if !synced() {
			return errors.New("waiting for the hub to list autoscalers")
		}
		return nil
	}
	return errors.Join(
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("certificate", command.ReadyCheck("certificate", func(*http.Request) error { return certificate.Ready() })),
		manager.AddReadyzCheck("autoscalers-known", command.ReadyCheck("autoscalers-known", known)),
		manager.AddReadyzCheck("serving", command.ReadyCheck("serving", server.StartedChecker())),
	)
}
