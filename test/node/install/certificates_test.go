// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// called are the programs that the hub calls, and verifies, with their ports.
func called() map[string]string {
	return map[string]string{"metrics-adapter": "10250", "webhook": "9443"}
}

func serverName(program string) string { return program + "." + system + ".svc" }

func keySecret(program string) string { return program + "-tls" }

// testTrust awaits that the hub verifies each program by this authority, PEM, wherever it calls one.
func (s *stage) testTrust(t *testing.T, authority []byte) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(context.Context) error {
		bundles := s.bundles(t)
		if want := 7 + 2*3; len(bundles) != want { // APIServices, and a webhook of each kind in two configurations
			return fmt.Errorf("the hub calls us for %d reasons, want %d: %q", len(bundles), want, slices.Sorted(maps.Keys(bundles)))
		}
		for what, bundle := range bundles {
			if !bytes.Equal(bytes.TrimSpace(bundle), bytes.TrimSpace(authority)) {
				return fmt.Errorf("the hub verifies %s by:\n%s\nwant:\n%s", what, bundle, authority)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// bundles are the authorities by which the hub verifies our programs, by what it calls them for.
func (s *stage) bundles(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	var apis apiregistrationv1.APIServiceList
	s.read(t, &apis, "get", "apiservices", "-l", ours)
	for _, api := range apis.Items {
		all[api.Name] = api.Spec.CABundle
	}
	var validating admissionregistrationv1.ValidatingWebhookConfiguration
	s.read(t, &validating, "get", "validatingwebhookconfiguration", "fleetscale")
	for _, w := range validating.Webhooks {
		all["validating: "+w.Name] = w.ClientConfig.CABundle
	}
	var mutating admissionregistrationv1.MutatingWebhookConfiguration
	s.read(t, &mutating, "get", "mutatingwebhookconfiguration", "fleetscale")
	for _, w := range mutating.Webhooks {
		all["mutating: "+w.Name] = w.ClientConfig.CABundle
	}
	return all
}

// testRenewal has another certificate put into the Secret of each program that the hub calls. Its Pods serve that before long, are not
// restarted, and no answer is lost.
func (s *stage) testRenewal(t *testing.T, authority []byte, renew func(t *testing.T, program string)) {
	q := s.ask(t)
	for program := range called() {
		before, err := s.served(t.Context(), program, authority)
		if err != nil {
			t.Fatal(err)
		}
		renew(t, program)
		err = fixture.Await(t.Context(), patience, func(ctx context.Context) error {
			after, err := s.served(ctx, program, authority)
			if err != nil {
				return err
			}
			if was, is := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)); !slices.Equal(was, is) {
				return fmt.Errorf("the Pods of %s were %q, and are %q", program, was, is)
			}
			kept := s.keptCertificate(t, program)
			for pod, certificate := range after {
				if certificate.Equal(before[pod]) || !certificate.Equal(kept) {
					return fmt.Errorf("%s still serves the certificate %v, and not %v", pod, certificate.SerialNumber, kept.SerialNumber)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	q.answered(t)
	s.testReady(t)
}

// served are the certificates that the Pods of a program serve, verified as the hub does.
func (s *stage) served(ctx context.Context, program string, authority []byte) (map[string]*x509.Certificate, error) {
	var pods corev1.PodList
	said, err := s.try(ctx, "", "-n", system, "get", "pods", "-l", "app.kubernetes.io/name="+program, "-o", "json")
	if err == nil {
		err = json.Unmarshal([]byte(said), &pods)
	}
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	all := map[string]*x509.Certificate{}
	for _, p := range pods.Items {
		conn, err := s.Hub().DialInside(ctx, net.JoinHostPort(p.Status.PodIP, called()[program]))
		if err != nil {
			return nil, err
		}
		client := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: serverName(program)})
		err = client.HandshakeContext(ctx)
		if err := errors.Join(err, conn.Close()); err != nil {
			return nil, fmt.Errorf("Pod %s: %w", p.Name, err)
		}
		all[p.Name] = client.ConnectionState().PeerCertificates[0]
	}
	return all, nil
}

// keptCertificate is what the Secret of a program has now.
func (s *stage) keptCertificate(t *testing.T, program string) *x509.Certificate {
	t.Helper()
	var secret corev1.Secret
	s.read(t, &secret, "-n", system, "get", "secret", keySecret(program))
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		t.Fatalf("Secret %s has no certificate", secret.Name)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
