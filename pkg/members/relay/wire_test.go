// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// wiredMember is asked through a network.
type wiredMember struct {
	*fakeMember
	client rest.Interface
}

func (m *wiredMember) Client() rest.Interface { return m.client }

func newWiredMember(t *testing.T, name string) *wiredMember {
	t.Helper()
	m := &wiredMember{fakeMember: newFakeMember(name)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := m.Serve(r)
		if err != nil {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		defer func() { _ = answer.Body.Close() }()
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	content := rest.ClientContentConfig{
		Negotiator: runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), schema.GroupVersion{Version: "v1"}),
	}
	m.client, err = rest.NewRESTClient(base, "", content, nil, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOverTheWire holds what a network and a real client may change: escaping,
// types of content, errors.
func TestOverTheWire(t *testing.T) {
	east, west := newWiredMember(t, "east"), newWiredMember(t, "west")
	changed := make(chan struct{}, 10)
	f := newFleetWith(func(o *Options) { o.KeepFor = time.Millisecond }, east, west)
	f.OnCatalogueChange(func() { changed <- struct{}{} })
	f.run(t)
	for len(f.CustomMetrics()) == 0 || len(f.ExternalMetrics()) == 0 {
		<-changed
	}

	q := podsRPS
	q.Selector = selector(t, "app in (a,b)")
	fleettest.Same(t, "objects", []string{"east/web-0=5", "west/web-0=5"}, objectsIn(f.Custom(t.Context(), q)))
	q.Metric = "nonsense"
	wantCoverage(t, f.Custom(t.Context(), q), "answered=east,west;absent=east,west")
	west.Set(func() { west.values = func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF } })
	r := f.External(t.Context(), queue)
	wantCoverage(t, r, "answered=east;silent=west:Unreachable")
	fleettest.Same(t, "series", []string{"east/a=7"}, seriesIn(r.Values))
}
