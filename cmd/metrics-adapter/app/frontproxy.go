// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/sha256"
	"crypto/x509"
	"net/http"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/utils/lru"
)

// mostFrontProxies bounds how many certificates of front proxies are remembered: each API server of the hub shows one.
const mostFrontProxies = 64

// frontProxies knows users by the headers of the hub's API servers, as Kubernetes' own authenticator does, which verifies the certificate
// for each request: that takes a third of the least time that an answer takes. Here a certificate is verified once, and again
// when the authorities have changed or when one of its chain has expired. Whatever is not known so is left to Kubernetes' own, which says
// what is wrong with it.
type frontProxies struct {
	config   *authenticatorfactory.RequestHeaderConfig
	headers  authenticator.Request
	verified *lru.Cache // of verification, by the SHA-256 of the certificate; TLS has shown that the client holds its key
}

// verification is what a certificate was verified by, and until when that holds.
type verification struct {
	roots *x509.CertPool
	until time.Time
}

func newFrontProxies(c *authenticatorfactory.RequestHeaderConfig) *frontProxies {
	return &frontProxies{
		config:   c,
		headers:  headerrequest.NewDynamic(c.UsernameHeaders, c.UIDHeaders, c.GroupHeaders, c.ExtraHeaderPrefixes),
		verified: lru.New(mostFrontProxies),
	}
}

// AuthenticateRequest implements [authenticator.Request].
func (f *frontProxies) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || !f.vouchesFor(r.TLS.PeerCertificates) {
		return nil, false, nil
	}
	return f.headers.AuthenticateRequest(r)
}

// vouchesFor reports whether a certificate, with its intermediates, is that of a front proxy, now.
func (f *frontProxies) vouchesFor(shown []*x509.Certificate) bool {
	leaf := shown[0]
	if names := f.config.AllowedClientNames.Value(); len(names) > 0 && !slices.Contains(names, leaf.Subject.CommonName) {
		return false // most who show another certificate end here, for free
	}
	options, ok := f.config.CAContentProvider.VerifyOptions()
	if !ok {
		return false
	}
	key := sha256.Sum256(leaf.Raw)
	if v, ok := f.verified.Get(key); ok && v.(verification).roots == options.Roots && time.Now().Before(v.(verification).until) {
		return true
	}
	if options.Intermediates == nil {
		options.Intermediates = x509.NewCertPool()
		for _, c := range shown[1:] {
			options.Intermediates.AddCert(c)
		}
	}
	chains, err := leaf.Verify(options)
	if err != nil {
		return false
	}
	first := slices.MinFunc(chains[0], func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	f.verified.Add(key, verification{options.Roots, first.NotAfter})
	return true
}
