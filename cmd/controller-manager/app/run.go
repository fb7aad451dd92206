// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fleetscale/fleetscale/pkg/controllers/cronfederatedhpa"
)

const (
	program = "fleetscale-controller-manager"
	lease   = "controller-manager.fleetscale.io"
)

// run wires the parts and works until ctx ends, or until the lease is lost.
func run(ctx context.Context, o *Options) error {
	ctrl.SetLogger(klog.Background())
	config, err := hubConfig(o.Hub.Kubeconfig)
	if err != nil {
		return err
	}
	manager, err := newManager(config, o)
	if err != nil {
		return err
	}
	if err := addCron(ctx, manager, o); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func hubConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading --kubeconfig: %w", err)
	}
	config.UserAgent = program + "/" + version.Get().GitVersion
	config.QPS = -1 // the hub knows best how much it can take, and says so
	return config, nil
}

func newManager(config *rest.Config, o *Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := cronfederatedhpa.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("collecting the kinds: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:                       metricsserver.Options{BindAddress: o.Serving.MetricsBindAddress},
		HealthProbeBindAddress:        o.Serving.HealthProbesBindAddress,
		LeaderElection:                o.Leader.Elect,
		LeaderElectionID:              lease,
		LeaderElectionNamespace:       o.Leader.Namespace,
		LeaseDuration:                 &o.Leader.LeaseDuration,
		RenewDeadline:                 &o.Leader.RenewDeadline,
		RetryPeriod:                   &o.Leader.RetryPeriod,
		LeaderElectionReleaseOnCancel: true, // nothing is done after Start returns
	})
	if err != nil {
		return nil, fmt.Errorf("preparing to work: %w", err)
	}
	return manager, manager.AddHealthzCheck("ping", healthz.Ping)
}

// readyWhen adds a check. A replica that waits to become leader is ready too.
func readyWhen(manager ctrl.Manager, name string, synced func() bool) error {
	return manager.AddReadyzCheck(name, func(*http.Request) error {
		if !synced() {
			return errors.New("waiting for the hub to list the objects")
		}
		return nil
	})
}
