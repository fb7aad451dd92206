// SPDX-License-Identifier: Apache-2.0

// Package pki makes the keys and certificates of a test cluster. All of them
// are ECDSA P-256 and good for a year; none is meant to leave the machine.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	lifetime  = 365 * 24 * time.Hour
	clockSkew = time.Hour
)

// Pair is a certificate and its private key, both PEM.
type Pair struct {
	CertPEM, KeyPEM []byte
}

// Write stores the pair as name.crt and name.key in dir, which it creates.
// Only this user may read the key.
func (p Pair) Write(dir, name string) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", fmt.Errorf("writing certificate %s: %w", name, err)
	}
	err = errors.Join(os.WriteFile(certFile, p.CertPEM, 0o644), os.WriteFile(keyFile, p.KeyPEM, 0o600))
	if err != nil {
		return "", "", fmt.Errorf("writing certificate %s: %w", name, err)
	}
	return certFile, keyFile, nil
}

// Read is the reverse of Write.
func Read(dir, name string) (Pair, error) {
	cert, certErr := os.ReadFile(filepath.Join(dir, name+".crt"))
	key, keyErr := os.ReadFile(filepath.Join(dir, name+".key"))
	if err := errors.Join(certErr, keyErr); err != nil {
		return Pair{}, fmt.Errorf("reading certificate %s: %w", name, err)
	}
	return Pair{CertPEM: cert, KeyPEM: key}, nil
}

// Authority signs certificates.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes a self-signed authority of that common name.
func NewAuthority(name string) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	pair, err := issue(template, nil)
	if err != nil {
		return nil, err
	}
	return ParseAuthority(pair)
}

// ParseAuthority returns the authority whose certificate and key pair holds.
func ParseAuthority(pair Pair) (*Authority, error) {
	certBlock, _ := pem.Decode(pair.CertPEM)
	if certBlock == nil {
		return nil, errors.New("reading the authority: no PEM block in its certificate")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	key, err := ParseKey(pair.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	return &Authority{Pair: pair, cert: cert, key: key}, nil
}

// Serving issues a certificate for a server that is reached by these hosts,
// DNS names or IP addresses.
func (a *Authority) Serving(hosts ...string) (Pair, error) {
	if len(hosts) == 0 {
		return Pair{}, errors.New("issuing a serving certificate: it needs a DNS name or an IP address")
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issue(template, a)
}

// Client issues a certificate that Kubernetes takes for this user in these
// groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a)
}

// issue signs the template by the authority; by itself where there is none.
func issue(template *x509.Certificate, by *Authority) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generating a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return Pair{}, fmt.Errorf("generating a serial number: %w", err)
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-clockSkew), time.Now().Add(lifetime)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, fmt.Errorf("signing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), KeyPEM: keyPEM}, nil
}
