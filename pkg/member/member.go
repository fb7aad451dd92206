// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Member is one registered cluster under one name, for as long as both are
// what they were. Everything but the name may change behind it at any time, so
// ask for a client before each request instead of keeping one.
type Member struct {
	name    string
	meter   *meter
	reading *Reading
	mapper  mapper
	view    atomic.Pointer[view]
}

func newMember(name string, counted *meter) *Member {
	m := &Member{name: name, meter: counted, reading: NewReading()}
	m.mapper.ask(current{m})
	return m
}

// view is everything that changes about a member, replaced as one.
type view struct {
	labels   map[string]string
	topology Topology
	hub      bool
	client   rest.Interface
	watch    rest.Interface
	metrics  rest.Interface
	state    State
}

// Topology is where a cluster runs. Any part may be unknown, thus empty.
type Topology struct {
	Provider string
	Region   string
	Zones    []string
}

// State is what is known of a member's health.
type State struct {
	Ready bool
	// Reason is one word, ReasonReady included.
	Reason fleet.Reason
	// Message is for people: what is wrong and how to mend it; empty when ready.
	Message string
	// Since is when Ready became what it is.
	Since time.Time
	// LastSuccess is when the member last answered any request; zero if never.
	LastSuccess time.Time
	// Contacted is true once there is something to say: the first probe
	// succeeded or failed, or the registration was refused.
	Contacted bool
}

// Name is unique in the fleet: a label value without dots. A registration that
// could not get the name it asks for is listed as <source>.<object>, which no
// asked member can be called.
func (m *Member) Name() string { return m.name }

// Labels are the registration's. The map is shared: do not write to it.
func (m *Member) Labels() map[string]string { return m.view.Load().labels }

// Topology is what the registration says of the cluster's place.
func (m *Member) Topology() Topology { return m.view.Load().topology }

// IsHub is true when the cluster is the hub itself.
func (m *Member) IsHub() bool { return m.view.Load().hub }

// Client asks the member's API server. It is never nil: for a member that has
// no connection each request fails with what Silence says.
func (m *Member) Client() rest.Interface { return m.view.Load().client }

// WatchClient is Client for answers that last: a watch, or a long download. The
// member must begin to answer within [Options].Timeout; then the answer goes on
// until the caller's context ends, the member is found dead, or the connection
// is replaced. Errors on the way to the member are a [*fleet.Silence].
func (m *Member) WatchClient() rest.Interface { return m.view.Load().watch }

// Reading decodes what was asked for as bytes; the clients use it for what they decode themselves.
func (m *Member) Reading() *Reading { return m.reading }

// MetricsClient asks the member's metrics.k8s.io: it is Client, except for the
// hub, whose own API server would ask us.
func (m *Member) MetricsClient() rest.Interface { return m.view.Load().metrics }

// State is the present state.
func (m *Member) State() State {
	s := m.view.Load().state
	s.LastSuccess = m.meter.lastSuccess()
	return s
}

// ClockOffset is the member's time minus ours, to half a second or better and
// within a minute. It is not known before the first contact.
func (m *Member) ClockOffset() (offset time.Duration, known bool) {
	offset, known = m.meter.clock.offset()
	return min(max(offset, -mostClockOffset), mostClockOffset), known
}

// checkClock says once that the member's clock is too far off to be believed.
func (m *Member) checkClock(ctx context.Context) {
	if m.meter.clock.alarm() {
		offset, _ := m.meter.clock.offset()
		klog.FromContext(ctx).Info("Clock of cluster is too far from ours to be believed", "cluster", m.name, "offset", offset, "believed", mostClockOffset)
	}
}

// Mapper knows the member's resources. They are read when first needed, and
// again, at most once a minute, when one is not found.
func (m *Member) Mapper() meta.RESTMapper { return &m.mapper }

// KnownMappings are what the Mapper answered to the same question before; nil if it may have to ask the member. The
// answer is shared: do not write to it.
func (m *Member) KnownMappings(kind schema.GroupKind, versions ...string) []*meta.RESTMapping {
	known, _ := m.mapper.known(keyOf(kind, versions))
	return known
}

// Silence is why asking the member is not worth while: a [*fleet.Silence], or
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
