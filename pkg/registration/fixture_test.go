// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// example is an object of the hub, with the Secrets beside it.
type example struct {
	file    string
	object  *unstructured.Unstructured
	secrets map[string]map[string][]byte // by namespace/name
}

// examples returns those in testdata of one source. In them $CA and $KEY stand for a certificate and its key, in base64.
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
	ca, key := registrationtest.SelfSigned()
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

// credentials returns those that the object refers to.
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

// register returns what a registration Secret says.
func register(t testing.TB, s *corev1.Secret, o Options) Registration {
	t.Helper()
	return secrets{options: o}.Read(unstructuredOf(t, s)).Register(Credentials{})
}

// annotated are registrations of two kinds with these annotations, neither of which is refused.
func annotated(t testing.TB, annotations map[string]string) []Registration {
	t.Helper()
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	all := []Registration{
		register(t, registrationtest.Secret(registrationtest.Kubeconfig(t), func(s *corev1.Secret) { s.Annotations = annotations }), Options{}),
		karmadaWith(func(c *karmadaCluster) { c.Annotations = annotations }).Register(creds),
	}
	for _, r := range all {
		if r.Refused() {
			t.Fatalf("%s is refused: %v", r, r.Faults)
		}
	}
	return all
}
