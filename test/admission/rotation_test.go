// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/fixture"
)

const validity = 15 * time.Second

// hasty has certificates replaced every ten seconds.
func hasty() []string {
	return []string{"--self-signed-validity=" + validity.String(), "--self-signed-settle-time=1s", "--self-signed-check-period=250ms"}
}

// Several replicas start at once with an empty Secret, and agree. Certificates
// are replaced, while people write and connections are opened: nobody is
// refused. Then somebody deletes the Secret, and it is applied again.
func TestRotationWithRequestsInFlight(t *testing.T) {
	e := hub(t)
	const n = 3
	replicas := e.asked(t, n, hasty()...)
	hub := e.trusting(t)
	first := hub.agree(t, replicas)
	people := e.begin(t, 8)
	last := first
	for range rotations() {
		last = hub.replaced(t, replicas, last)
	}
	hub.forgotten(t, replicas, first)
	e.kubectl(t, "-n", fixture.SystemNamespace, "delete", "secret", fixture.WebhookSecret)
	if err := e.InstallWebhook(t.Context(), e.Hub(), e.front.Port()); err != nil {
		t.Fatal(err)
	}
	hub.agree(t, replicas)
	people.judge(t)
}

func rotations() int {
	if testing.Short() {
		return 1
	}
	return 4
}

// Each replica is replaced in turn, as a Deployment does, while people write.
func TestReplacedReplicas(t *testing.T) {
	e := hub(t)
	replicas := e.asked(t, 2, "--shutdown-delay-duration=2s")
	people := e.begin(t, 8)
	for range rotations() {
		for i, w := range replicas {
			e.front.LeadTo(replicas[1-i].Port)
			if err := w.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := w.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			e.front.LeadTo(ports(replicas)...)
		}
	}
	people.judge(t)
}

// trusting connects to replicas as the hub does: by the authorities that stand in
// the webhook configurations.
type trusting struct{ core kubernetes.Interface }

func (e *env) trusting(t *testing.T) trusting {
	t.Helper()
	config, err := e.Hub().RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return trusting{kubernetes.NewForConfigOrDie(config)}
}

// bundles returns those of all four webhooks.
func (h trusting) bundles(ctx context.Context) (all [][]byte, err error) {
	webhooks := h.core.AdmissionregistrationV1()
	mutating, err := webhooks.MutatingWebhookConfigurations().Get(ctx, "fleetscale", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	validating, err := webhooks.ValidatingWebhookConfigurations().Get(ctx, "fleetscale", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, w := range mutating.Webhooks {
		all = append(all, w.ClientConfig.CABundle)
	}
	for _, w := range validating.Webhooks {
		all = append(all, w.ClientConfig.CABundle)
	}
	return all, nil
}

// dial opens a connection to a replica, and returns its certificate.
func (h trusting) dial(ctx context.Context, w *fixture.Webhook, bundle []byte) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: 5 * time.Second},
		Config:    &tls.Config{RootCAs: roots, ServerName: fixture.WebhookService + "." + fixture.SystemNamespace + ".svc"},
	}
	conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", w.Port))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// served wants every replica verified by what every webhook trusts, at any time,
// and returns their certificates.
func (h trusting) served(t *testing.T, replicas []*fixture.Webhook) (all []*x509.Certificate) {
	t.Helper()
	for _, w := range replicas {
		bundles, err := h.bundles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, bundle := range bundles {
			certificate, err := h.dial(t.Context(), w, bundle)
			if err != nil {
				t.Fatalf("webhook %d does not trust: %v", i, err)
			}
			if i == 0 {
				all = append(all, certificate)
			}
		}
	}
	return all
}

// agree waits until all replicas serve the certificate of the Secret.
func (h trusting) agree(t *testing.T, replicas []*fixture.Webhook) (agreed *x509.Certificate) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		all := h.served(t, replicas)
		secret, err := h.core.CoreV1().Secrets(fixture.SystemNamespace).Get(ctx, fixture.WebhookSecret, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			return err
		}
		agreed = pair.Leaf
		for i, got := range all {
			if !got.Equal(agreed) {
				return fmt.Errorf("%s serves %v, and the Secret has %v", replicas[i].Name, got.SerialNumber, agreed.SerialNumber)
			}
		}
		return nil
	})
	return agreed
}

// replaced waits until all serve another certificate than that, and the same.
func (h trusting) replaced(t *testing.T, replicas []*fixture.Webhook, old *x509.Certificate) (agreed *x509.Certificate) {
	t.Helper()
	await(t, func(context.Context) error {
		if agreed = h.agree(t, replicas); agreed.Equal(old) {
			return errors.New("the certificate is the same")
		}
		return nil
	})
	return agreed
}

// forgotten waits until the hub does not trust the authority of a certificate.
func (h trusting) forgotten(t *testing.T, replicas []*fixture.Webhook, old *x509.Certificate) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		h.served(t, replicas)
		bundles, err := h.bundles(ctx)
		if err != nil {
			return err
		}
		for i, bundle := range bundles {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(bundle)
			if _, err := old.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: old.NotAfter}); err == nil {
				return fmt.Errorf("webhook %d trusts the authority of a certificate that expired at %v", i, old.NotAfter)
			}
		}
		return nil
	})
}
