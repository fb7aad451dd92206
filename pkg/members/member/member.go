// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// The words for a member's state, beside those of package registration for one
// that is refused, of package fleet for a probe that fails, and NestedHub. The
// same word stands in State, logs, Events and metrics.
const (
	// reasonReady: the last probe succeeded.
	reasonReady fleet.Reason = "Ready"
	// reasonNotContacted: registered a moment ago; the first probe has not ended.
	reasonNotContacted fleet.Reason = "NotContacted"
	// reasonQuarantined: the member sent too much of what no cluster sends that is well, and is not asked for a while.
	reasonQuarantined fleet.Reason = "Quarantined"
	// reasonDuplicate: another registration leads to the same cluster, and is used.
	reasonDuplicate fleet.Reason = "Duplicate"
	// reasonNameConflict: another registration holds the name for another cluster.
	reasonNameConflict fleet.Reason = "NameConflict"
	// reasonIdentityConflict: the member was another cluster before, and now tells the identity of one that is used already.
	reasonIdentityConflict fleet.Reason = "IdentityConflict"
	// reasonHubMetricsServerUnset: the hub is a member, and where its own metrics-server is was not said.
	reasonHubMetricsServerUnset fleet.Reason = "HubMetricsServerUnset"
)

// Member is one registered cluster under one name, for as long as both are
// what they were. Everything but the name may change behind it at any time, so
// ask for a client before each request instead of keeping one.
type Member struct {
	name   string
	peer   *connection.Peer
	mapper *connection.Mapper
	view   atomic.Pointer[view]
	traits atomic.Pointer[Traits]
}

func newMember(name string, peer *connection.Peer) *Member {
	m := &Member{name: name, peer: peer}
	m.mapper = connection.NewMapper(m.Client, peer.Reading())
	return m
}

// view is everything that changes about a member, replaced as one.
type view struct {
	source   Source
	labels   map[string]string
	topology registration.Topology
	prices   registration.Prices
	headroom int32
	creation registration.Creation
	taints   []corev1.Taint
	hub      bool
	client   rest.Interface
	watch    rest.Interface
	metrics  rest.Interface
	state    State
}

// State is what is known of a member's health.
type State struct {
	Ready bool
	// Reason is one word, "Ready" included.
	Reason fleet.Reason
	// Message is for people: what is wrong and how to fix it; empty when ready.
	Message string
	// Since is when Ready became what it is.
	Since time.Time
	// LastSuccess is when the member last answered any request; zero if never.
	LastSuccess time.Time
	// Joining is true until the member is Ready for the first time since it was registered. It counts for nothing
	// until then: nothing of ours can be there, and whoever may write a registration must not hold up the fleet by one that leads nowhere.
	Joining bool
	// Contacted is true once there is something to say: the first probe
	// succeeded or failed, or the registration was refused.
	Contacted bool
}

// Spare is true when another registration leads to the same cluster, and is used.
func (s State) Spare() bool { return s.Reason == reasonDuplicate }

// Accepted is true when the cluster has accepted the registration's credential and, whatever keeps it from answering now, has not
// refused it since.
func (s State) Accepted() bool {
	switch {
	case s.Ready:
		return true
	case s.Joining:
		return false
	}
	switch s.Reason {
	case fleet.ReasonTimeout, fleet.ReasonUnreachable, fleet.ReasonServerError, fleet.ReasonRateLimited, fleet.ReasonCertificate,
		reasonQuarantined:
		return true
	}
	return false
}

// Name is unique in the fleet: a label value without dots. A registration that
// could not get the name it asks for is listed as <source>.<object>, which no
// asked member can be called.
func (m *Member) Name() string { return m.name }

// Source is what registers the cluster.
func (m *Member) Source() Source { return m.view.Load().source }

// Traits are what the cluster last told of itself, where that is asked; see [Options.Inspect].
func (m *Member) Traits() Traits {
	if t := m.traits.Load(); t != nil {
		return *t
	}
	return Traits{}
}

// Labels are the registration's. The map is shared: do not write to it.
func (m *Member) Labels() map[string]string { return m.view.Load().labels }

// Topology returns what the registration says of the cluster's place.
func (m *Member) Topology() registration.Topology { return m.view.Load().topology }

// Prices returns what the registration says of the cluster's cost. What they point to is shared: do not write to it.
func (m *Member) Prices() registration.Prices { return m.view.Load().prices }

// Headroom returns how many replicas of each workload the cluster adds nodes for, by its registration.
func (m *Member) Headroom() int32 { return m.view.Load().headroom }

// Creation returns what the registration allows to be created in the cluster. What it points to is shared: do not write to it.
func (m *Member) Creation() registration.Creation { return m.view.Load().creation }

// Taints returns those that the registration gives the cluster. They are shared: do not write to them.
func (m *Member) Taints() []corev1.Taint { return m.view.Load().taints }

// Standing is how the cluster takes part for those who tolerate no taint.
func (m *Member) Standing() taints.Standing { return taints.Judge(m.Taints(), nil).Standing }

// IsHub is true when the cluster is the hub itself.
func (m *Member) IsHub() bool { return m.view.Load().hub }

// Client asks the member's API server. It is never nil: for a member that has
// no connection each request fails with what Silence says.
func (m *Member) Client() rest.Interface { return m.view.Load().client }

// WatchClient is Client for answers that last: a watch, or a long download. The
// member must begin to answer within the deadline of any request; then the answer continues
// until the caller's context ends, the member is found dead, or the connection
// is replaced. Errors on the way to the member are a [*fleet.Silence].
func (m *Member) WatchClient() rest.Interface { return m.view.Load().watch }

// Reading decodes what was asked for as bytes; the clients use it for what they decode themselves.
func (m *Member) Reading() *connection.Reading { return m.peer.Reading() }

// MetricsClient asks the member's metrics.k8s.io: it is Client, except for the
// hub, whose own API server would ask us.
func (m *Member) MetricsClient() rest.Interface { return m.view.Load().metrics }

// State is the present state.
func (m *Member) State() State {
	s := m.view.Load().state
	s.LastSuccess = m.peer.LastSuccess()
	return s
}

// Joining is true until the member is Ready for the first time since it was registered; see [State].
func (m *Member) Joining() bool { return m.view.Load().state.Joining }

// ClockOffset is the member's time minus ours, to half a second or better and
// within a minute. It is not known before the first contact.
func (m *Member) ClockOffset() (offset time.Duration, known bool) { return m.peer.ClockOffset() }

// Mapper knows the member's resources.
func (m *Member) Mapper() *connection.Mapper { return m.mapper }

// Silence returns why asking the member is not worth while: a [*fleet.Silence], or
// nil when it is ready.
func (m *Member) Silence() error {
	s := m.view.Load().state
	if s.Ready {
		return nil
	}
	return s.silence()
}

func (s State) silence() *fleet.Silence {
	return &fleet.Silence{Reason: s.Reason, Detail: s.Message}
}

// shown is what a member's view is made of, apart from labels.
type shown struct {
	ready         bool
	joining       bool
	silence       fleet.Silence // the zero Silence when ready
	hub           bool
	conn, hubConn *connection.Connection // nil: callers get none
}

// show brings the member's view up to date. It is true when callers have to know:
// other words for the same reason are shown too, but are no news.
func (e *entry) show(silence *fleet.Silence, hub, joining bool) bool {
	now := shown{ready: silence == nil, hub: hub, joining: joining}
	if silence != nil {
		now.silence = *silence
	}
	if e.usable(silence) {
		now.conn, now.hubConn = e.conn, e.hubConn
	}
	first := e.member.view.Load() == nil
	news := first || e.relabelled || now != e.shown.reworded(now)
	if !news && now == e.shown {
		return false
	}
	e.shown, e.relabelled = now, false
	e.member.view.Store(e.build(now))
	return news
}

func (s shown) reworded(now shown) shown {
	s.silence.Detail = now.silence.Detail
	return s
}

// usable is true when callers may have the connection: an accepted member that
// fails may still be asked, a refused one may not.
func (e *entry) usable(silence *fleet.Silence) bool {
	return e.conn != nil && (silence == nil || silence == e.health.silence)
}

func (e *entry) build(s shown) *view {
	v := &view{
		source: Source{Name: e.key.Source, Object: e.key.Object, Ref: e.reg.Ref, Address: e.reg.Endpoint.Address()},
		labels: e.reg.Labels, topology: e.reg.Topology, prices: e.reg.Prices, headroom: e.reg.Headroom,
		creation: e.reg.Creation, taints: e.reg.Taints, hub: s.hub,
		state: State{
			Ready: s.ready, Joining: s.joining, Reason: s.silence.Reason, Message: s.silence.Detail, Since: e.since(s.ready),
		},
	}
	if s.ready {
		v.state.Reason = reasonReady
	}
	v.state.Contacted = v.state.Reason != reasonNotContacted
	if s.conn == nil {
		v.client = refusing(v.state.silence())
		v.watch = v.client
	} else {
		v.client, v.watch = s.conn.Client(), s.conn.WatchClient()
	}
	v.metrics = v.client
	if s.hubConn != nil {
		v.metrics = s.hubConn.Client()
	}
	return v
}

// since returns when readiness became what it is.
func (e *entry) since(ready bool) time.Time {
	if v := e.member.view.Load(); v != nil && v.state.Ready == ready {
		return v.state.Since
	}
	return time.Now()
}

// refusing is a client whose every request fails with the reason.
func refusing(silence *fleet.Silence) rest.Interface {
	nowhere := &url.URL{Scheme: "https", Host: "refused.invalid"}
	content := rest.ClientContentConfig{
		Negotiator: runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), schema.GroupVersion{Version: "v1"}),
	}
	client, err := rest.NewRESTClient(nowhere, "", content, nil, &http.Client{Transport: refusal{silence}})
	if err != nil {
		panic("a client without credentials can always be made: " + err.Error())
	}
	return client
}

// refusal is a transport that goes nowhere.
type refusal struct{ silence *fleet.Silence }

func (r refusal) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.silence }
