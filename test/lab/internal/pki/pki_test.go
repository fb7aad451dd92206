// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatalf("NewAuthority: %v", err)
	}
	return authority
}

func leaf(t *testing.T, pair Pair) *x509.Certificate {
	t.Helper()
	loaded, err := tls.X509KeyPair(pair.CertPEM, pair.KeyPEM)
	if err != nil {
		t.Fatalf("loading the pair: %v", err)
	}
	return loaded.Leaf
}

func pool(authority *Authority) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.CertPEM)
	return pool
}

func TestServingCertificatesHoldForTheirHostsOnly(t *testing.T) {
	authority := newAuthority(t)
	pair, err := authority.Serving("adapter.kube-system.svc", "127.0.0.1")
	if err != nil {
		t.Fatalf("Serving: %v", err)
	}
	tests := map[string]struct {
		host string
		by   *Authority
		want bool
	}{
		"its DNS name":              {"adapter.kube-system.svc", authority, true},
		"its IP address":            {"127.0.0.1", authority, true},
		"another name":              {"localhost", authority, false},
		"by the word of a stranger": {"127.0.0.1", newAuthority(t), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := leaf(t, pair).Verify(x509.VerifyOptions{DNSName: tc.host, Roots: pool(tc.by)})
			if (err == nil) != tc.want {
				t.Errorf("Verify(%s): error = %v, want accepted: %v", tc.host, err, tc.want)
			}
		})
	}
}

func TestClientCertificatesNameUserAndGroups(t *testing.T) {
	authority := newAuthority(t)
	pair, err := authority.Client("jane", "dev", "ops")
	if err != nil {
		t.Fatalf("Client: %v", err)
	}
	cert := leaf(t, pair)
	_, err = cert.Verify(x509.VerifyOptions{Roots: pool(authority), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		t.Errorf("Verify: %v", err)
	}
	got := append([]string{cert.Subject.CommonName}, cert.Subject.Organization...)
	if diff := cmp.Diff([]string{"jane", "dev", "ops"}, got); diff != "" {
		t.Errorf("user and groups (-want +got):\n%s", diff)
	}
}

func TestAnAuthorityOutlivesItsProcess(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := newAuthority(t).Write(dir, "ca"); err != nil {
		t.Fatalf("Write: %v", err)
	}
	pair, err := Read(dir, "ca")
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	again, err := ParseAuthority(pair)
	if err != nil {
		t.Fatalf("ParseAuthority: %v", err)
	}
	issued, err := again.Serving("localhost")
	if err != nil {
		t.Fatalf("Serving: %v", err)
	}
	if _, err := leaf(t, issued).Verify(x509.VerifyOptions{DNSName: "localhost", Roots: pool(again)}); err != nil {
		t.Errorf("Verify: %v", err)
	}
}

func TestServingNeedsAHost(t *testing.T) {
	_, err := newAuthority(t).Serving()
	if err == nil || err.Error() != "issuing a serving certificate: it needs a DNS name or an IP address" {
		t.Errorf("Serving(): error = %v", err)
	}
}

func TestWhatIsNotPEMIsRefused(t *testing.T) {
	if _, err := ParseAuthority(Pair{CertPEM: []byte("x")}); err == nil {
		t.Error("ParseAuthority took a certificate that is none")
	}
	if _, err := ParseKey([]byte("x")); err == nil {
		t.Error("ParseKey took a key that is none")
	}
}
