// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// tend maintains one entry until ctx ends: it connects, probes, and records the
// results. It alone waits for the member.
func (r *Registry) tend(ctx context.Context, e *entry) {
	for e.pause(ctx, r.sync(ctx, e)) {
	}
}

// task is what an entry's goroutine has to do at a moment.
type task struct {
	generation   int
	reg          registration.Registration
	waitingSince time.Time
	conn         *connection.Connection
	hubConn      *connection.Connection
}

// finding is the result of a task.
type finding struct {
	generation int
	uid        types.UID
	proof      proof
	silence    *fleet.Silence         // nil: the member answered
	answered   bool                   // some other request succeeded meanwhile
	fresh      bool                   // conn is new: callers do not have it yet
	conn       *connection.Connection // nil: it could not even be prepared
	newHubConn *connection.Connection // to the hub's metrics-server, if that was opened
}

// opened are the connections that only the finding knows.
func (f finding) opened() []*connection.Connection {
	if f.fresh {
		return []*connection.Connection{f.conn, f.newHubConn}
	}
	return []*connection.Connection{f.newHubConn}
}

// sync does what the registration currently requires.
func (r *Registry) sync(ctx context.Context, e *entry) patience {
	if left := r.confine(ctx, e); left > 0 {
		return patience{wait: left}
	}
	t := r.task(e)
	switch {
	case t.reg.Refused():
		return patience{}
	case t.reg.Awaiting != "":
		return r.await(ctx, e, t)
	}
	next := r.conclude(ctx, e, r.probe(ctx, e, t))
	r.inspect(ctx, e)
	return next
}

// confine puts a member that misbehaves into quarantine, and returns how long it is not to be
// probed. Its connections end: with them what others are reading of it.
func (r *Registry) confine(ctx context.Context, e *entry) (left time.Duration) {
	var fx effects
	r.mu.Lock()
	offence, now := e.offence.Swap(nil), time.Now()
	if offence != nil && e.quarantine.remaining(now) == 0 && !e.reg.Refused() { // again, if it misbehaved when it was probed
		e.quarantine = e.quarantine.enter(*offence, now)
		fx.retire(e.conn, e.hubConn)
		e.conn, e.hubConn, e.health = nil, nil, health{contacted: true, silence: e.quarantine.silence}
		fx.add(r.publish())
	}
	left = e.quarantine.remaining(now)
	r.mu.Unlock()
	r.carryOut(ctx, fx)
	return left
}

// await gives what the registration waits for one deadline's time. A member
// whose credentials cannot be read must not be waited for any longer.
func (r *Registry) await(ctx context.Context, e *entry, t task) patience {
	if left := r.options.Connections.Timeout - time.Since(t.waitingSince); left > 0 {
		return patience{wait: left}
	}
	f := finding{generation: t.generation, silence: fleet.Silencef(registration.ReasonMissingCredentials, "%s", t.reg.Awaiting), conn: t.conn}
	r.conclude(ctx, e, f)
	return patience{}
}

// probe asks the cluster who it is, over a new connection if the present one
// has another endpoint.
func (r *Registry) probe(ctx context.Context, e *entry, t task) finding {
	f := finding{generation: t.generation, conn: t.conn}
	if f.conn == nil || !f.conn.Leads(t.reg.Endpoint) {
		var err error
		f.fresh = true
		if f.conn, err = e.member.peer.Connect(t.reg.Endpoint); err != nil {
			f.silence = fleet.Silencef(t.reg.Invalid, "%v", err)
			return f
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Connections.Timeout)
	defer cancel()
	started := time.Now()
	f.uid, f.silence = identify(ctx, f.conn, e.member.Reading())
	f.proof = proof{Authority: f.conn.Authority(), Way: t.reg.Endpoint.Way()}
	e.member.peer.CheckClock(ctx)
	f.answered = e.member.peer.LastSuccess().After(started)
	switch {
	case f.silence != nil:
	case r.isHub(f.uid):
		f.newHubConn, f.silence = r.connectHubMetrics(e, t)
	case f.fresh || f.conn.SawNested():
		f.silence = f.conn.CheckNested(ctx, nestedPath)
	}
	return f
}

// connectHubMetrics prepares the way to the hub's own metrics-server, once.
func (r *Registry) connectHubMetrics(e *entry, t task) (*connection.Connection, *fleet.Silence) {
	if r.options.HubMetricsServer == nil || t.hubConn != nil {
		return nil, nil
	}
	conn, err := e.member.peer.Connect(registration.Endpoint{Config: r.options.HubMetricsServer})
	if err != nil {
		return nil, fleet.Silencef(reasonHubMetricsServerUnset, "--hub-metrics-server cannot be used: %v", err)
	}
	return conn, nil
}

// task returns what an entry's goroutine has to do now.
func (r *Registry) task(e *entry) task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return task{
		generation: e.generation, reg: e.reg, waitingSince: e.waitingSince,
		conn: e.conn, hubConn: e.hubConn,
	}
}

// conclude stores what an entry's goroutine found, and returns when to sync again.
func (r *Registry) conclude(ctx context.Context, e *entry, f finding) patience {
	r.mu.Lock()
	before := e.standing()
	fx := r.take(ctx, e, f)
	if e.standing() != before {
		if fx.add(r.publish()); r.disestablished {
			r.registrations.Again(e.key) // names may change, and who begins entries does not do it for ctx
		}
	}
	again := patience{wait: e.health.wait(r.options.ProbePeriod), wary: e.health.failures == 0}
	r.mu.Unlock()
	r.carryOut(ctx, fx)
	return again
}

// standing is what a finding may change. Most change nothing, and then the other
// entries need not be checked.
type standing struct {
	health        health
	uid           types.UID
	proof         proof
	moved         bool
	conn, hubConn *connection.Connection
}

func (e *entry) standing() standing {
	return standing{e.health, e.uid, e.proof, e.moved, e.conn, e.hubConn}
}

// take turns a finding into what is known of the entry.
func (r *Registry) take(ctx context.Context, e *entry, f finding) (fx effects) {
	switch {
	case ctx.Err() != nil || f.generation != e.generation:
		fx.retire(f.opened()...) // overtaken; whoever changed the entry has left a sign
		if ctx.Err() != nil {
			fx.retire(f.conn) // it was in use when the entry ended
		}
		return fx
	case f.silence == nil && e.uid != "" && f.uid != e.uid:
		fx.retire(f.opened()...)
		fx.notices = append(fx.notices, e.happened(clusterReplaced))
		e.moved, e.health = true, health{}
		r.registrations.Again(e.key) // to be replaced
		return fx
	case f.silence == nil:
		e.uid, e.proof = f.uid, f.proof
	}
	e.health = e.health.after(outcome{silence: f.silence, fresh: f.fresh, answered: f.answered})
	if e.quarantine.active() {
		if f.silence != nil { // only a probe that succeeds ends it
			fx.retire(f.opened()...)
			return fx
		}
		e.quarantine = e.quarantine.leave(time.Now())
	}
	if f.fresh && f.conn != nil {
		fx.retire(e.conn)
		e.conn = f.conn
	}
	if f.newHubConn != nil {
		e.hubConn = f.newHubConn
	}
	return fx
}
