// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// entry is one registration under one name with all that serves it. One
// goroutine tends it; what that goroutine finds is recorded under the
// registry's lock.
type entry struct {
	key    registration.Key
	member *Member
	stop   context.CancelFunc
	// wake: something has changed, sync at once. doubt: a request has failed, sync soon.
	wake, doubt chan struct{}
	// inspected is when the member was last asked for its traits, and over which connection. Only its goroutine uses it.
	inspected inspection
	// reviews are what the member has answered over that connection about rights. Only its goroutine uses them.
	reviews reviews
	// offence is the last one of a member that was found to misbehave, until that has been dealt with.
	offence atomic.Pointer[fleet.Silence]

	// The rest is guarded by Registry.mu.

	reg registration.Registration
	// generation counts the changes of what reg asks the goroutine to do.
	generation int
	// waitingSince is when reg began to await something.
	waitingSince time.Time
	relabelled   bool

	health     health
	quarantine quarantine
	// uid is the cluster's identity once it was contacted. It does not change:
	// an entry that finds another one is moved, and replaced.
	uid   types.UID
	proof proof // as of the last success
	moved bool
	// conn is what callers use; hubConn leads to the hub's metrics-server if this is the hub.
	conn, hubConn *connection.Connection
	shown         shown
}

func newEntry(k registration.Key, name string, reg registration.Registration, o Options) *entry {
	e := &entry{
		key:          k,
		wake:         make(chan struct{}, 1),
		doubt:        make(chan struct{}, 1),
		reg:          reg,
		waitingSince: time.Now(),
	}
	var metrics *connection.Metrics
	if o.Metrics != nil {
		metrics = o.Metrics.requests
	}
	e.member = newMember(name, connection.NewPeer(name, o.Connections, metrics, e.failed, e.misbehaved))
	return e
}

// adopt takes a changed registration of the same name. A refused one loses its
// connections at once.
func (e *entry) adopt(reg registration.Registration) (fx effects) {
	old := e.reg
	e.reg = reg
	e.relabelled = !reflect.DeepEqual([]any{old.Labels, old.Topology, old.Prices, old.Headroom, old.Creation, old.Taints},
		[]any{reg.Labels, reg.Topology, reg.Prices, reg.Headroom, reg.Creation, reg.Taints})
	if old.AsksSame(reg) {
		return fx
	}
	e.generation++
	e.quarantine = quarantine{} // whoever changed it may have repaired it
	if old.Awaiting == "" {
		e.waitingSince = time.Now()
	}
	if reg.Refused() {
		fx.retire(e.conn, e.hubConn)
		e.conn, e.hubConn, e.health = nil, nil, health{}
	}
	poke(e.wake)
	return fx
}

// failed is called for each request that failed. If the member was ready, it is
// probed soon.
func (e *entry) failed(reason fleet.Reason) {
	switch reason {
	case connection.ReasonNestedHub, connection.ReasonAddressNotAllowed, fleet.ReasonTimeout,
		fleet.ReasonUnreachable, fleet.ReasonForbidden, fleet.ReasonCertificate:
		poke(e.doubt)
	}
}

// misbehaved is called when a member's answers are not to be taken any longer.
func (e *entry) misbehaved(offence *fleet.Silence) {
	e.offence.Store(offence)
	poke(e.wake)
}

// poke signals without blocking; a pending signal suffices.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// patience is when an entry needs its next sync.
type patience struct {
	// wait is the time until then; zero waits until something changes.
	wait time.Duration
	// wary is true when a failed request should shorten the wait.
	wary bool
}

// pause waits until the next sync is due. It is false when the entry has ended.
func (e *entry) pause(ctx context.Context, p patience) bool {
	drain(e.doubt) // what was doubted before the sync was checked by it
	doubt := e.doubt
	if !p.wary {
		doubt = nil
	}
	synced := time.Now()
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	if p.wait == 0 {
		timer.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-e.wake:
			return true
		case <-timer.C:
			return true
		case <-doubt:
			doubt = nil
			timer.Reset(time.Until(synced.Add(min(p.wait, firstRetry))))
		}
	}
}

func drain(ch chan struct{}) {
	select {
	case <-ch:
	default:
	}
}

// claim returns what the entry's registration says in front of the others.
func (e *entry) claim() claim {
	c := claim{
		key: e.key, wants: e.reg.Name, name: e.member.name, sameAs: e.reg.SameAs, withdrawn: e.reg.Withdrawn(), ready: e.health.ready,
		describe: e.reg.String(),
	}
	if !e.reg.Refused() && !e.moved {
		c.uid, c.proof = e.uid, e.proof
	}
	return c
}

// silence is the reason why the member is not queried, nil when it is ready.
// A duplicate is one whatever else is wrong with it.
func (e *entry) silence(refusal *fleet.Silence, hubUnset bool) *fleet.Silence {
	switch {
	case refusal != nil:
		return refusal
	case e.reg.Refused():
		return e.reg.Refusal()
	case hubUnset:
		return fleet.Silencef(reasonHubMetricsServerUnset,
			"the cluster is the hub, whose API server would forward requests back to us; set --hub-metrics-server to the URL of its own "+
				"metrics-server")
	case e.quarantine.active():
		return e.quarantine.silence
	case !e.health.contacted:
		return fleet.Silencef(reasonNotContacted, "registered a moment ago; the first probe is under way")
	default:
		return e.health.silence
	}
}
