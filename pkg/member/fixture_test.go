// SPDX-License-Identifier: Apache-2.0

package member

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// selfSigned is a certificate and its key, in PEM, made once.
var selfSigned = sync.OnceValues(func() (cert, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		panic(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
})

// kubeconfigWith is a good kubeconfig with one context, c, after the edits.
func kubeconfigWith(t testing.TB, edits ...func(*clientcmdapi.Config)) []byte {
	t.Helper()
	ca, _ := selfSigned()
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

func onCluster(edit func(*clientcmdapi.Cluster)) func(*clientcmdapi.Config) {
	return func(c *clientcmdapi.Config) { edit(c.Clusters["c"]) }
}

func onUser(edit func(*clientcmdapi.AuthInfo)) func(*clientcmdapi.Config) {
	return func(c *clientcmdapi.Config) { edit(c.AuthInfos["u"]) }
}

// secretWith is a registration Secret named east with a kubeconfig, after the edits.
func secretWith(kubeconfig []byte, edits ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "east", Labels: map[string]string{registration.MemberLabel: "true"}},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
}

func named(name string) func(*corev1.Secret) { return func(s *corev1.Secret) { s.Name = name } }

func annotated(key, value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) {
		s.Annotations = maps.Clone(s.Annotations)
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[key] = value
	}
}
