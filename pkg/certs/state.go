// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"

	"k8s.io/client-go/util/cert"
)

// The keys of the Secret. Further ones are preserved.
const (
	keyBundle   = "ca.crt"
	keyCert     = "tls.crt"
	keyKey      = "tls.key"
	keyNextCert = "next-tls.crt"
	keyNextKey  = "next-tls.key"
)

// state is the content of the Secret.
type state struct {
	serving *pair // nil: none that could be served
	next    *pair // nil: none
	trusted []*x509.Certificate
}

// read leaves out what is expired or broken: it is useless.
func read(data map[string][]byte, host string, now time.Time) state {
	usable := func(certKey, keyKey string) *pair {
		p, err := parsePair(data[certKey], data[keyKey], host)
		if err != nil || !now.Before(p.notAfter()) {
			return nil
		}
		return p
	}
	authorities, _ := cert.ParseCertsPEM(data[keyBundle]) // none is an error there, and none here
	s := state{serving: usable(keyCert, keyKey), next: usable(keyNextCert, keyNextKey)}
	for _, authority := range authorities {
		if now.Before(authority.NotAfter) {
			s.trusted = append(s.trusted, authority)
		}
	}
	return s
}

// step is what the next write of the Secret is for.
type step string

const (
	stay       step = "tidy"
	issueFirst step = "issue"      // nothing can be served
	issueNext  step = "issue next" // what is served expires in a while
	promote    step = "promote"    // everybody trusts the next pair, or there is no other
)

// decide returns what to do at that time. settled reports whether every API
// server trusts the next pair.
func (s state) decide(now time.Time, renewBefore time.Duration, settled bool) step {
	switch {
	case s.serving == nil && s.next == nil:
		return issueFirst
	case s.serving == nil, s.next != nil && settled:
		return promote
	case s.next == nil && s.serving.notAfter().Sub(now) <= renewBefore:
		return issueNext
	}
	return stay
}

// take applies the step.
func (s state) take(next step, issue func() (*pair, error)) (_ state, err error) {
	switch next {
	case issueFirst:
		s.serving, err = issue()
	case issueNext:
		s.next, err = issue()
	case promote:
		s.serving, s.next = s.next, nil
	}
	return s, err
}

// bundle is every authority that may be met: of the pair in use, of the one
// before it, of the one after it.
func (s state) bundle() ([]byte, error) {
	all := s.trusted
	for _, p := range []*pair{s.serving, s.next} {
		if p != nil && !slices.ContainsFunc(all, p.authority.Equal) {
			all = append(slices.Clone(all), p.authority)
		}
	}
	return cert.EncodeCertificates(all...)
}

// write puts the state, which must have a pair to serve, into the Secret's data,
// and reports whether that changed.
func (s state) write(data map[string][]byte) (changed bool, err error) {
	bundle, err := s.bundle()
	if err != nil {
		return false, err
	}
	set := func(key string, value []byte) {
		if !bytes.Equal(data[key], value) {
			data[key], changed = value, true
		}
		if len(value) == 0 {
			delete(data, key)
		}
	}
	set(keyBundle, bundle)
	set(keyCert, s.serving.certPEM)
	set(keyKey, s.serving.keyPEM)
	next := s.next
	if next == nil {
		next = &pair{}
	}
	set(keyNextCert, next.certPEM)
	set(keyNextKey, next.keyPEM)
	return changed, nil
}
