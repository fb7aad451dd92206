// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/cronfederatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/hub/hubclient"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/readonly"
)

const (
	program = "fleetscale-controller-manager"

	leaseName, leaseDomain = "controller-manager", "fleetscale.io"
	lease                  = leaseName + "." + leaseDomain
)

// run wires the parts and works until ctx ends, or until the lease is lost.
func run(ctx context.Context, o *Options) error {
	ctrl.SetLogger(klog.Background())
	config, err := command.HubConfig(o.Hub.Kubeconfig, program)
	if err != nil {
		return err
	}
	config.QPS = -1 // the hub knows best how much it can take, and says so
	if o.Observing.Observe {
		if err := readOnly(config); err != nil {
			return err
		}
	}
	candidate, err := newCandidate(config, o)
	if err != nil {
		return err
	}
	fenced(config) // but for Leases themselves, which may be released
	told := NewMetrics(ctrlmetrics.Registry)
	certificate, err := metricsCertificate(config, o, told.certificate)
	if err != nil {
		return err
	}
	manager, err := newManager(config, o, certificate, candidate)
	if err != nil {
		return err
	}
	shared, err := newParts(ctx, manager, candidate, told, o)
	if err != nil {
		return err
	}
	for _, add := range []func(ctrl.Manager, *parts, *Options) error{addCron, addAutoscaler, addMultidim, addWebhookWatch} {
		if err := add(manager, shared, o); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return certificate.Run(ctx) }) // the manager would run it once it has read the hub's objects
	group.Go(func() error { return manager.Start(ctx) })
	return group.Wait()
}

// readOnly has clients of the configuration send nothing but reads.
func readOnly(config *rest.Config) error {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return fmt.Errorf("reading the hub's address: %w", err)
	}
	path := strings.TrimRight(base.Path, "/")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readonly.Transport(path, next) })
	return nil
}

func newManager(config *rest.Config, o *Options, certificate *certs.Certificate, candidate *candidate) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		cronfederatedhpa.AddToScheme, federatedhpa.AddToScheme, admissionregistrationv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("collecting the kinds: %w", err)
		}
	}
	options := ctrl.Options{
		Scheme:    scheme,
		NewClient: hubclient.NewClient,
		// else a hub with another schema drops our fields for good
		Client:                 client.Options{FieldValidation: metav1.FieldValidationStrict},
		Cache:                  o.Namespaces.Cache(cache.Options{DefaultTransform: slim}),
		Metrics:                command.MetricsServer(o.Serving.MetricsBindAddress, certificate.Get),
		HealthProbeBindAddress: o.Serving.HealthProbesBindAddress,
		PprofBindAddress:       o.Serving.ProfilingBindAddress,
		LeaseDuration:          &o.Leader.LeaseDuration,
		RenewDeadline:          &o.Leader.RenewDeadline,
		RetryPeriod:            &o.Leader.RetryPeriod,
	}
	candidate.stands(&options)
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("preparing to work: %w", err)
	}
	candidate.tells(manager)
	return manager, errors.Join(
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("certificate", command.ReadyCheck("certificate", func(*http.Request) error { return certificate.Ready() })),
	)
}

// slim drops from what is cached who wrote which field, but not who wrote an object's status, and when: nobody else should.
// Nor does it of what may have lost fields, or of a MultidimPodAutoscaler for which others recommend: nothing else tells.
func slim(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil // a tombstone
	}
	if m, is := object.(*v1alpha1.MultidimPodAutoscaler); is && len(m.Spec.Recommenders) > 0 || served.MayBeCut(accessor) {
		return object, nil
	}
	fields := accessor.GetManagedFields()
	var kept []metav1.ManagedFieldsEntry
	for _, f := range fields {
		if f.Subresource == "status" {
			f.FieldsV1 = nil
			kept = append(kept, f)
		}
	}
	accessor.SetManagedFields(kept)
	return object, nil
}

// readyWhen adds a check. A replica that waits to become leader is ready too.
func readyWhen(manager ctrl.Manager, name string, synced func() bool) error {
	return manager.AddReadyzCheck(name, command.ReadyCheck(name, func(*http.Request) error {
		if !synced() {
			return errors.New("waiting for the hub to list the objects")
		}
		return nil
	}))
}
