// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Server is how a server of ours answers those alone who have the certificate of the Secret, whichever is in use.
func (k *Keeper) Server() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			if k.pair == nil {
				return nil, errors.New("there is no certificate yet")
			}
			return &tls.Config{
				MinVersion:   tls.VersionTLS13,
				Certificates: []tls.Certificate{*k.pair.tls},
				ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: k.trusted,
			}, nil
		},
	}
}

// Client is how to ask a server that answers by the same Secret: at present, since both certificates and authorities are replaced.
func Client(ctx context.Context, core kubernetes.Interface, secret types.NamespacedName, service string) (*tls.Config, error) {
	found, err := core.CoreV1().Secrets(secret.Namespace).Get(ctx, secret.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("getting Secret %s: %w", secret, err)
	}
	bundle, err := authoritiesOf(found, secret)
	if err != nil {
		return nil, err
	}
	host := hostOf(types.NamespacedName{Namespace: secret.Namespace, Name: service})
	own, err := parsePair(found.Data[keyCert], found.Data[keyKey], host)
	if err != nil {
		return nil, fmt.Errorf("reading %s and %s of Secret %s: %w", keyCert, keyKey, secret, err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(bundle)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*own.tls}, RootCAs: trusted, ServerName: host,
	}, nil
}

// issueMutual is issue for a certificate of both servers and clients, which the library does not make. Either side verifies it by its own
// authority, so that it is worth nothing elsewhere.
func issueMutual(host string, validity time.Duration) (*pair, error) {
	certPEM, keyPEM, err := signMutual(host, time.Now().Add(-early), validity+early)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate for %s: %w", host, err)
	}
	return parsePair(certPEM, keyPEM, host)
}

func signMutual(host string, from time.Time, validity time.Duration) (certPEM, keyPEM []byte, err error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := func(name string) *x509.Certificate {
		serial, _ := rand.Int(rand.Reader, big.NewInt(math.MaxInt64)) // it cannot fail
		return &x509.Certificate{
			SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: fmt.Sprintf("%s@%d", name, from.Unix())},
			NotBefore: from, NotAfter: from.Add(validity), KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		}
	}
	authority, leaf := template(host+"-ca"), template(host)
	authority.IsCA, authority.KeyUsage = true, x509.KeyUsageCertSign
	leaf.DNSNames, leaf.ExtKeyUsage = []string{host}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	for _, der := range [][]byte{leafDER, authorityDER} {
		certPEM = append(certPEM, pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})...)
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return certPEM, keyPEM, err
}
