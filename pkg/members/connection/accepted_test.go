// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// FuzzAcceptedRegistrationsConnect holds for any kubeconfig that is accepted: a connection can be prepared.
func FuzzAcceptedRegistrationsConnect(f *testing.F) {
	const kubeconfig = `{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],` +
		`"clusters":[{"name":"c","cluster":`
	for _, cluster := range []string{
		`{"server":"https://10.0.0.1:6443"}`, `{"server":"a","proxy-url":"socks5://b"}`, `{"server":"https://[::1]/x","tls-server-name":"n"}`,
	} {
		for _, user := range []string{`{"token":"t"}`, `{"username":"u","password":"p"}`, `{"as":"x"}`, `{}`} {
			f.Add([]byte(kubeconfig + cluster + `}],"users":[{"name":"u","user":` + user + `}]}`))
		}
	}
	options := Options{}.WithDefaults()
	f.Fuzz(func(t *testing.T, kubeconfig []byte) {
		secret, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "east"}, Data: map[string][]byte{"kubeconfig": kubeconfig},
		})
		if err != nil {
			t.Fatal(err)
		}
		source := registration.Sources(registration.Options{Namespace: "fleet"})[0]
		r := source.Read(&unstructured.Unstructured{Object: secret}).Register(registration.Credentials{})
		if r.Refused() {
			return
		}
		if _, err := NewPeer("east", options, nil, func(fleet.Reason) {}, nil).Connect(r.Endpoint); err != nil {
			t.Errorf("an accepted registration cannot be connected: %v", err)
		}
	})
}
