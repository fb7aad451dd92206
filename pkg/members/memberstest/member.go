// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Handler answers a request.
type Handler func(*http.Request) (*http.Response, error)

// Member is a cluster without a network: all of it happens in the test's bubble of time.
type Member struct {
	name   string
	answer Handler

	sync.Mutex         // of what follows, and of what a test adds
	Silent     error   // why it is not asked
	Handle     Handler // answers in place of all else, unless it returns nil, nil
	asked      []*url.URL
	taken      int
	reading    *connection.Reading
}

// New returns a member that answers so.
func New(name string, answer Handler) *Member {
	return &Member{name: name, answer: answer, reading: connection.NewReading()}
}

// Name is the cluster's.
func (m *Member) Name() string { return m.name }

// Silence returns why it is not asked.
func (m *Member) Silence() error {
	m.Lock()
	defer m.Unlock()
	return m.Silent
}

// Set changes what the lock guards.
func (m *Member) Set(change func()) {
	m.Lock()
	defer m.Unlock()
	change()
}

// Client leads to it.
func (m *Member) Client() rest.Interface {
	return &restfake.RESTClient{
		GroupVersion:         schema.GroupVersion{Version: "v1"},
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		Client:               restfake.CreateHTTPClient(m.Serve),
	}
}

// WatchClient leads to it too.
func (m *Member) WatchClient() rest.Interface { return m.Client() }

// MetricsClient leads to it too.
func (m *Member) MetricsClient() rest.Interface { return m.Client() }

// Reading decodes its answers.
func (m *Member) Reading() *connection.Reading { return m.reading }

// Counted has what is wrong with its answers counted there.
func (m *Member) Counted(reg prometheus.Registerer) {
	peer := connection.NewPeer(m.name, connection.Options{}.WithDefaults(), connection.NewMetrics(reg), func(fleet.Reason) {}, nil)
	m.reading = peer.Reading()
}

// Of has it share the bounds of those options, of connection.Options.WithDefaults, with others.
func (m *Member) Of(o connection.Options) {
	m.reading = connection.NewPeer(m.name, o, nil, func(fleet.Reason) {}, nil).Reading()
}

// Dropped is how many items of a kind were not asked of it, as Counted had them counted.
func Dropped(t testing.TB, reg prometheus.Gatherer, kind string) (n float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "fleetscale_cluster_dropped_items_total" && m.GetLabel()[1].GetValue() == kind {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// Serve answers as a client is answered.
func (m *Member) Serve(r *http.Request) (*http.Response, error) {
	m.Lock()
	m.asked = append(m.asked, r.URL)
	handle := m.Handle
	m.Unlock()
	if handle != nil {
		if resp, err := handle(r); resp != nil || err != nil {
			return resp, err
		}
	}
	return m.answer(r)
}

// Asked are the requests since they were last taken, each in words.
func (m *Member) Asked(describe func(*url.URL) string) (all []string) {
	m.Lock()
	defer m.Unlock()
	for _, u := range m.asked[m.taken:] {
		all = append(all, describe(u))
	}
	return all
}

// Take is Asked, and forgets them.
func (m *Member) Take(describe func(*url.URL) string) []string {
	all := m.Asked(describe)
	m.Set(func() { m.taken += len(all) })
	return all
}
