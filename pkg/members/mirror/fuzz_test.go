// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// said is an answer, to a list or to a watch.
type said struct {
	contentType string
	body        []byte
}

// FuzzHostile has a member send lists and events, over a real connection: they are read in time, without more memory than there is
// reason for, and without a panic.
func FuzzHostile(f *testing.F) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		honest := podsWith(f, contentType, memberstest.Stand)
		f.Add(honest, contentType)
		for _, body := range memberstest.Hostile(contentType, honest) {
			f.Add(body, contentType)
		}
	}
	var now atomic.Pointer[said]
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := now.Load()
		w.Header()["Content-Type"] = []string{answer.contentType}
		_, _ = w.Write(answer.body)
	}))
	f.Cleanup(server.Close)
	peer := connection.NewPeer("east", connection.Options{QPS: 1e6, Burst: 1e6}.WithDefaults(), nil, func(fleet.Reason) {},
		func(*fleet.Silence) {})
	conn, err := peer.Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{
		CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		now.Store(&said{contentType, body})
		const path = "/api/v1/pods"
		memberstest.Within(t, 2*len(body), func() {
			// Whether it is an answer at all is not the question here.
			if list, err := conn.Client().Get().AbsPath(path).MaxRetries(0).Do(t.Context()).Get(); err == nil {
				_ = meta.EachListItem(list, func(runtime.Object) error { return nil })
			}
			w, err := conn.WatchClient().Get().AbsPath(path).Param("watch", "true").MaxRetries(0).Watch(t.Context())
			if err != nil {
				return
			}
			defer w.Stop()
			for range w.ResultChan() {
				continue
			}
		})
	})
}
