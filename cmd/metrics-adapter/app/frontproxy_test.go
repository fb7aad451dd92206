// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// signed is a certificate with its key; who signs it holds the key of the authority.
type signed struct {
	*x509.Certificate

	key *ecdsa.PrivateKey
}

// sign makes a certificate for a name, which is its own authority where by is nil.
func sign(t testing.TB, by *signed, name string, usage x509.ExtKeyUsage, validity time.Duration) *signed {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now(), NotAfter: time.Now().Add(validity),
		IsCA: usage == x509.ExtKeyUsageAny, ExtKeyUsage: []x509.ExtKeyUsage{usage}, BasicConstraintsValid: true,
	}
	if by == nil {
		by = &signed{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Certificate, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signed{parsed, key}
}

// trusting is the authority of front proxies as it is now; with nil, none is known.
type trusting struct {
	dynamiccertificates.CAContentProvider

	roots *x509.CertPool
}

func (c *trusting) trust(authorities ...*signed) {
	c.roots = x509.NewCertPool()
	for _, a := range authorities {
		c.roots.AddCert(a.Certificate)
	}
}

func (c *trusting) VerifyOptions() (x509.VerifyOptions, bool) {
	return x509.VerifyOptions{Roots: c.roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, c.roots != nil
}

// names are the common names that front proxies may have.
type names []string

func (n *names) Value() []string { return *n }

// both are ours and Kubernetes' own, by the same configuration.
func both(authorities *trusting, allowed *names) (ours *frontProxies, upstream authenticator.Request) {
	c := &authenticatorfactory.RequestHeaderConfig{
		UsernameHeaders: headerrequest.StaticStringSlice{"X-Remote-User"}, UIDHeaders: headerrequest.StaticStringSlice{"X-Remote-Uid"},
		GroupHeaders:        headerrequest.StaticStringSlice{"X-Remote-Group"},
		ExtraHeaderPrefixes: headerrequest.StaticStringSlice{"X-Remote-Extra-"},
		CAContentProvider:   authorities, AllowedClientNames: allowed,
	}
	return newFrontProxies(c), headerrequest.NewDynamicVerifyOptionsSecure(
		c.CAContentProvider.VerifyOptions, c.AllowedClientNames, c.UsernameHeaders, c.UIDHeaders, c.GroupHeaders, c.ExtraHeaderPrefixes)
}

func request(shown ...*signed) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/apis", nil)
	r.Header.Set("X-Remote-User", "jane")
	r.Header.Add("X-Remote-Group", "shop")
	r.Header.Add("X-Remote-Group", "web")
	r.Header.Set("X-Remote-Extra-Scopes", "all")
	r.TLS = &tls.ConnectionState{}
	for _, c := range shown {
		r.TLS.PeerCertificates = append(r.TLS.PeerCertificates, c.Certificate)
	}
	return r
}

// Whatever is shown, and however authorities, names and the time change in between, users are those that Kubernetes' own authenticator
// knows, and others are left to it.
func TestFrontProxiesAreThoseOfUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, renewed := sign(t, nil, "old", x509.ExtKeyUsageAny, 8*time.Hour), sign(t, nil, "new", x509.ExtKeyUsageAny, 40*time.Hour)
		between := sign(t, old, "between", x509.ExtKeyUsageAny, 3*time.Hour)
		shown := [][]*signed{
			nil,
			{sign(t, old, "front-proxy", x509.ExtKeyUsageClientAuth, 2*time.Hour)},
			{sign(t, old, "other", x509.ExtKeyUsageClientAuth, 20*time.Hour)}, // longer than its authority
			{sign(t, old, "front-proxy", x509.ExtKeyUsageServerAuth, 20*time.Hour)},
			{sign(t, renewed, "front-proxy", x509.ExtKeyUsageClientAuth, 20*time.Hour)},
			{sign(t, between, "front-proxy", x509.ExtKeyUsageClientAuth, 20*time.Hour), between},
			{sign(t, between, "front-proxy", x509.ExtKeyUsageClientAuth, 20*time.Hour)}, // without what is between
		}
		r, authorities, allowed := mathrand.New(mathrand.NewPCG(1, 2)), &trusting{}, &names{"front-proxy"}
		ours, upstream := both(authorities, allowed)
		accepted, refusals := 0, 0
		for range 3000 {
			switch r.IntN(40) {
			case 0:
				authorities.roots = nil
			case 1:
				authorities.trust(old)
			case 2:
				authorities.trust(renewed)
			case 3:
				authorities.trust(old, renewed)
			case 4:
				*allowed = [][]string{{}, {"front-proxy"}, {"other", "front-proxy"}}[r.IntN(3)]
			case 5:
				time.Sleep(time.Duration(r.IntN(15)) * time.Minute)
			}
			c := shown[r.IntN(len(shown))]
			want, known, err := upstream.AuthenticateRequest(request(c...))
			asked := request(c...)
			got, ok, fault := ours.AuthenticateRequest(asked)
			if diff := cmp.Diff(want, got); ok != known || fault != nil || diff != "" {
				t.Fatalf("ours %t, %v, upstream %t, %v (-upstream +ours)\n%s", ok, fault, known, err, diff)
			}
			if accepted++; !ok {
				accepted, refusals = accepted-1, refusals+1
				if asked.Header.Get("X-Remote-User") == "" {
					t.Fatal("nothing is left for Kubernetes' own authenticator to read")
				}
			}
		}
		if accepted < 300 || refusals < 300 {
			t.Errorf("%d accepted and %d refused show little", accepted, refusals)
		}
	})
}

// A certificate that was verified is not verified again, and what is remembered is bounded.
func TestFrontProxiesAreRemembered(t *testing.T) {
	authority, authorities := sign(t, nil, "authority", x509.ExtKeyUsageAny, time.Hour), &trusting{}
	authorities.trust(authority)
	ours, upstream := both(authorities, &names{})
	shown := sign(t, authority, "front-proxy", x509.ExtKeyUsageClientAuth, time.Hour)
	allocations := func(by authenticator.Request) float64 {
		r := request(shown)
		header := r.Header
		return testing.AllocsPerRun(20, func() {
			r.Header = header.Clone()
			if _, ok, err := by.AuthenticateRequest(r); !ok {
				t.Fatal(err)
			}
		})
	}
	if a, b := allocations(ours), allocations(upstream); a > b/2 {
		t.Errorf("%v allocations, and %v where each request verifies the certificate", a, b)
	}
	for range mostFrontProxies + 1 {
		_, _, _ = ours.AuthenticateRequest(request(sign(t, authority, "front-proxy", x509.ExtKeyUsageClientAuth, time.Hour)))
	}
	if n := ours.verified.Len(); n != mostFrontProxies {
		t.Errorf("%d certificates are remembered", n)
	}
}

// What is remembered ends with whatever of the chain ends first, and with the authority.
func TestFrontProxiesAreForgotten(t *testing.T) {
	const soon, late = time.Hour, 2 * time.Hour
	for name, tc := range map[string]struct {
		authority, between, leaf time.Duration
		replaced                 bool
	}{
		"the certificate has expired":     {late, late, soon, false},
		"an intermediate has expired":     {late, soon, late, false},
		"the authority has expired":       {soon, late, late, false},
		"the authority has been replaced": {late, late, late, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				authority, authorities := sign(t, nil, "authority", x509.ExtKeyUsageAny, tc.authority), &trusting{}
				authorities.trust(authority)
				ours, _ := both(authorities, &names{"front-proxy"})
				between := sign(t, authority, "between", x509.ExtKeyUsageAny, tc.between)
				leaf := sign(t, between, "front-proxy", x509.ExtKeyUsageClientAuth, tc.leaf)
				known := func() bool {
					_, ok, _ := ours.AuthenticateRequest(request(leaf, between))
					return ok
				}
				time.Sleep(soon - time.Second)
				if !known() {
					t.Fatal("not known, while all hold")
				}
				if tc.replaced {
					authorities.trust(sign(t, nil, "authority", x509.ExtKeyUsageAny, late))
				} else {
					time.Sleep(2 * time.Second)
				}
				if known() {
					t.Error("still known")
				}
			})
		})
	}
}

func BenchmarkFrontProxies(b *testing.B) {
	authority, authorities := sign(b, nil, "authority", x509.ExtKeyUsageAny, time.Hour), &trusting{}
	authorities.trust(authority)
	ours, upstream := both(authorities, &names{})
	shown := sign(b, authority, "front-proxy", x509.ExtKeyUsageClientAuth, time.Hour)
	for name, by := range map[string]authenticator.Request{"ours": ours, "upstream": upstream} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := by.AuthenticateRequest(request(shown)); !ok {
					b.Fatal(err)
				}
			}
		})
	}
}
