// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// patience is with what happens in the background.
const patience = 20 * time.Second

func newFleet(t *testing.T, members int) *Fleet {
	t.Helper()
	f, err := New(t.Context(), Options{Members: members, Resolution: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func newOne(t *testing.T) *Member { return newFleet(t, 1).Members()[0] }

// clients are one for each encoding.
func clients[T any](t *testing.T, m *Member, make func(*rest.Config) (T, error)) map[string]T {
	t.Helper()
	all := map[string]T{}
	for name, media := range map[string]string{"json": mediaJSON, "protobuf": mediaProtobuf} {
		config := m.RESTConfig()
		config.ContentType = media
		config.AcceptContentTypes = media
		client, err := make(config)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = client
	}
	return all
}

func client(t *testing.T, m *Member) *kubernetes.Clientset {
	t.Helper()
	return clients(t, m, kubernetes.NewForConfig)["protobuf"]
}

func run(t *testing.T, m *Member, workloads ...Workload) {
	t.Helper()
	for _, w := range workloads {
		if err := m.Run(w); err != nil {
			t.Fatal(err)
		}
	}
}

func await(t *testing.T, what string, check func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return check(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// plainly asks without a client's own ideas of when to ask again.
func plainly(t *testing.T, m *Member, path string) (*http.Response, error) {
	t.Helper()
	transport, err := rest.TransportFor(m.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return transport.RoundTrip(r)
}
