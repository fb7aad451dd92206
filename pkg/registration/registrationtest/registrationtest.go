// SPDX-License-Identifier: Apache-2.0

// Package registrationtest makes registrations for tests.
package registrationtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

var selfSigned = newPair()

// pair is a certificate and its key, in PEM.
type pair struct{ cert, key []byte }

// SelfSigned is the one that kubeconfigs here trust.
func SelfSigned() (cert, key []byte) { return selfSigned.cert, selfSigned.key }

func newPair() pair {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		panic(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		panic(err)
	}
	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}
}

// Kubeconfig is a good kubeconfig with one context, c, after the edits.
func Kubeconfig(t testing.TB, edits ...func(*clientcmdapi.Config)) []byte {
	t.Helper()
	ca, _ := SelfSigned()
	config := &clientcmdapi.Config{
		CurrentContext: "c",
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://10.0.0.1:6443", CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "s3cret"}},
	}
	for _, edit := range edits {
		edit(config)
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return data
}

// OnCluster edits its cluster.
func OnCluster(edit func(*clientcmdapi.Cluster)) func(*clientcmdapi.Config) {
	return func(c *clientcmdapi.Config) { edit(c.Clusters["c"]) }
}

// OnUser edits its user.
func OnUser(edit func(*clientcmdapi.AuthInfo)) func(*clientcmdapi.Config) {
	return func(c *clientcmdapi.Config) { edit(c.AuthInfos["u"]) }
}

// Secret is a registration Secret named east with a kubeconfig, after the edits.
func Secret(kubeconfig []byte, edits ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "east", Labels: map[string]string{"fleetscale.io/member": "true"}},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

// Named gives it another name.
func Named(name string) func(*corev1.Secret) { return func(s *corev1.Secret) { s.Name = name } }

// Annotated gives it an annotation.
func Annotated(key, value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) {
		s.Annotations = maps.Clone(s.Annotations)
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[key] = value
	}
}
