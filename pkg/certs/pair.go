// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/util/cert"
)

// pair is a serving certificate with its key, and the authority that signed
// this certificate and no other.
type pair struct {
	certPEM, keyPEM []byte
	tls             *tls.Certificate
	authority       *x509.Certificate
}

// early is by what the library dates certificates back, for clocks that differ.
const early = time.Hour

// issue creates a pair for host with that validity. The authority's key is
// discarded.
func issue(host string, validity time.Duration) (*pair, error) {
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: host, MaxAge: validity + early})
	if err != nil {
		return nil, fmt.Errorf("signing a certificate for %s: %w", host, err)
	}
	return parsePair(certPEM, keyPEM, host)
}

// parsePair refuses what could not be served as host: what does not fit
// together, or comes without its authority.
func parsePair(certPEM, keyPEM []byte, host string) (*pair, error) {
	served, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	chain, err := cert.ParseCertsPEM(certPEM)
	if err != nil {
		return nil, err
	}
	if len(chain) != 2 {
		return nil, fmt.Errorf("%d certificates, want one and its authority", len(chain))
	}
	if err := chain[0].VerifyHostname(host); err != nil {
		return nil, err
	}
	if err := chain[0].CheckSignatureFrom(chain[1]); err != nil {
		return nil, errors.New("the second certificate is not the authority of the first")
	}
	served.Leaf = chain[0]
	return &pair{certPEM: certPEM, keyPEM: keyPEM, tls: &served, authority: chain[1]}, nil
}

func (p *pair) notAfter() time.Time { return p.tls.Leaf.NotAfter }
