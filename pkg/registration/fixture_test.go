// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
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
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "east", Labels: map[string]string{MemberLabel: "true"}},
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

// example is an object of the hub, with the Secrets beside it.
type example struct {
	file    string
	object  *unstructured.Unstructured
	secrets map[string]map[string][]byte // by namespace/name
}

// examples are those in testdata of one source. In them $CA and $KEY stand for a certificate and its key, in base64.
func examples(t testing.TB, source string) []example {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", source, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the source %s has no golden objects in testdata/%s: %v", source, source, err)
	}
	all := make([]example, 0, len(files))
	for _, file := range files {
		all = append(all, readExample(t, file))
	}
	return all
}

func readExample(t testing.TB, file string) example {
	t.Helper()
	ca, key := selfSigned()
	encode := base64.StdEncoding.EncodeToString
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("$CA", encode(ca), "$KEY", encode(key)).Replace(string(data))
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	e := example{file: strings.TrimSuffix(file, ".yaml"), secrets: map[string]map[string][]byte{}}
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF):
			return e
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		}
		encodeStrings(u)
		if e.object == nil {
			e.object = u
			continue
		}
		e.secrets[u.GetNamespace()+"/"+u.GetName()] = dataOf(t, u)
	}
}

// encodeStrings does with stringData what an API server does.
func encodeStrings(u *unstructured.Unstructured) {
	plain, _, _ := unstructured.NestedStringMap(u.Object, "stringData")
	if len(plain) == 0 {
		return
	}
	encoded, _, _ := unstructured.NestedStringMap(u.Object, "data")
	all := map[string]any{}
	for k, v := range encoded {
		all[k] = v
	}
	for k, v := range plain {
		all[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	u.Object["data"] = all
	delete(u.Object, "stringData")
}

func dataOf(t testing.TB, u *unstructured.Unstructured) map[string][]byte {
	t.Helper()
	var s corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &s); err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// credentials are those that the object refers to.
func (e example) credentials(o Object) Credentials {
	ref := o.Credentials()
	return Credentials{Data: e.secrets[ref.Namespace+"/"+ref.Name]}
}

// unstructuredOf is an object as the hub tells it.
func unstructuredOf(t testing.TB, object runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// register is what a registration Secret says.
func register(t testing.TB, s *corev1.Secret, o Options) Registration {
	t.Helper()
	return secrets{o}.Read(unstructuredOf(t, s)).Register(Credentials{})
}
