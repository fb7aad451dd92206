// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/fleetscale/fleetscale/pkg/certs"
)

// certificate is where the serving certificate comes from.
type certificate struct {
	get   func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	ready func() error
	run   func(context.Context) error
}

func newCertificate(config *rest.Config, o *Options, metrics *certs.Metrics) (*certificate, error) {
	if o.Serving.CertFile != "" {
		return certificateOfFiles(o.Serving)
	}
	return selfSigned(config, o, metrics)
}

func certificateOfFiles(o ServingOptions) (*certificate, error) {
	watcher, err := certwatcher.New(o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading --tls-cert-file and --tls-private-key-file: %w", err)
	}
	return &certificate{
		get:   watcher.GetCertificate,
		ready: func() error { return nil },
		run:   watcher.Start,
	}, nil
}

func selfSigned(config *rest.Config, o *Options, metrics *certs.Metrics) (*certificate, error) {
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	keeper := certs.New(certs.Options{
		Core:    core,
		Dynamic: dyn,
		Service: types.NamespacedName{Namespace: o.Hub.ServiceNamespace, Name: o.Hub.ServiceName},
		Targets: []certs.Target{
			certs.MutatingWebhooks(o.Hub.MutatingWebhookConfiguration),
			certs.ValidatingWebhooks(o.Hub.ValidatingWebhookConfiguration),
		},
		Settings: o.SelfSigning,
		Metrics:  metrics,
	})
	return &certificate{
		get:   keeper.GetCertificate,
		ready: keeper.Ready,
		run:   func(ctx context.Context) error { keeper.Run(ctx); return nil },
	}, nil
}
