// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

// Options configure a Keeper.
type Options struct {
	// Core and Dynamic reach the hub. The Keeper gets and updates the Secret and
	// the targets, and makes neither.
	Core    kubernetes.Interface
	Dynamic dynamic.Interface

	// Service leads to the program; the certificate is for NAME.NAMESPACE.svc.
	Service types.NamespacedName
	Targets []Target
	// Mutual has the certificate be one for clients, too: who may read the Secret, and nobody else, is answered by [Keeper.Server], and
	// asks by [Client].
	Mutual bool
	Settings

	// Metrics tell when the certificate expires; nil: nothing does.
	Metrics *Metrics
}

// Keeper keeps a serving certificate that the hub trusts.
type Keeper struct {
	options Options
	settled settled
	said    string // the last error that was logged

	mu        sync.Mutex
	pair      *pair
	trusted   *x509.CertPool // the authorities, as of the last round
	err       error          // of the first round, until one succeeded
	listeners []func()
}

// New returns a keeper that has no certificate until it runs.
func New(o Options) *Keeper {
	return &Keeper{options: o, err: errors.New("waiting for the hub")}
}

// OnChange calls f whenever another certificate is served from now on. f must
// not block.
func (k *Keeper) OnChange(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listeners = append(k.listeners, f)
}

// Run syncs with the hub at once and then every period until ctx ends. It must be
// called once.
func (k *Keeper) Run(ctx context.Context) {
	wait.UntilWithContext(ctx, k.sync, k.options.CheckPeriod)
}

func (k *Keeper) sync(ctx context.Context) {
	const longest = 30 * time.Second
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	// A conflict means that another replica was first.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return k.round(limited) })
	if ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	if err == nil || k.err != nil {
		k.err = err
	}
	k.mu.Unlock()
	k.tell(ctx, err)
}

func (k *Keeper) secret() types.NamespacedName {
	return types.NamespacedName{Namespace: k.options.Service.Namespace, Name: k.options.Secret}
}

// tell logs each error once, however often it comes.
func (k *Keeper) tell(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != k.said && err != nil {
		klog.FromContext(ctx).Error(err, "Could not maintain the serving certificate", "secret", k.secret())
	}
	k.said = text
}

// serve uses what is in use of s for new connections.
func (k *Keeper) serve(s state) error {
	bundle, err := s.bundle()
	if err != nil {
		return fmt.Errorf("encoding the authorities: %w", err)
	}
	p, trusted := s.serving, x509.NewCertPool()
	trusted.AppendCertsFromPEM(bundle)
	k.mu.Lock()
	changed := k.pair == nil || string(k.pair.certPEM) != string(p.certPEM)
	k.pair, k.trusted = p, trusted
	listeners := slices.Clone(k.listeners)
	k.mu.Unlock()
	if !changed {
		return nil
	}
	k.options.Metrics.serves(p.notAfter())
	for _, f := range listeners {
		f()
	}
	return nil
}

// served returns what new connections get; nil if that has expired, or there is none.
func (k *Keeper) served(now time.Time) *pair {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pair == nil || !now.Before(k.pair.notAfter()) {
		return nil
	}
	return k.pair
}

// Ready is nil while there is a certificate that has not expired, and once the
// hub has been told to trust it.
func (k *Keeper) Ready() error {
	valid := k.served(time.Now()) != nil
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil && !valid {
		return errors.New("the serving certificate has expired")
	}
	return k.err
}

// GetCertificate is for [tls.Config]. It fails before there is one.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pair == nil {
		return nil, errors.New("there is no serving certificate yet")
	}
	return k.pair.tls, nil
}

// CurrentCertKeyContent is for servers of k8s.io/apiserver: PEM, empty before
// there is a certificate.
func (k *Keeper) CurrentCertKeyContent() (certPEM, keyPEM []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pair == nil {
		return nil, nil
	}
	return k.pair.certPEM, k.pair.keyPEM
}
