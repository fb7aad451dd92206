// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// Certificate is what a server of controller-runtime serves with, wherever it comes from.
type Certificate struct {
	// Get is for [tls.Config].
	Get func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Ready is nil while there is one.
	Ready func() error
	// Run keeps it current until its context ends.
	Run func(context.Context) error
}

// OfFiles is a certificate of files (PEM), which are read again when they change.
func OfFiles(certFile, keyFile string) (*Certificate, error) {
	watcher, err := certwatcher.New(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &Certificate{Get: watcher.GetCertificate, Ready: func() error { return nil }, Run: watcher.Start}, nil
}

// SelfSigned is a certificate of a Keeper, which reaches the hub by config. Core and Dynamic of the options are made here.
func SelfSigned(config *rest.Config, o Options) (*Certificate, error) {
	var err error
	if o.Core, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	if o.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	keeper := New(o)
	return &Certificate{
		Get:   keeper.GetCertificate,
		Ready: keeper.Ready,
		Run:   func(ctx context.Context) error { keeper.Run(ctx); return nil },
	}, nil
}
