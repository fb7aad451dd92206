// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// tend keeps one entry until ctx ends: it connects, probes, and files what it
// finds. It alone waits for the member.
func (r *Registry) tend(ctx context.Context, e *entry) {
	for e.pause(ctx, r.look(ctx, e)) {
	}
}

// task is what an entry's goroutine has to do at a moment.
type task struct {
	generation   int
	reg          registration
	waitingSince time.Time
	conn         *connection
	hubConn      *connection
}

// finding is what doing a task brought to light.
type finding struct {
	generation int
	uid        types.UID
	silence    *fleet.Silence // nil: the member answered
	answered   bool           // some other request succeeded meanwhile
	fresh      bool           // conn is new: callers do not have it yet
	conn       *connection    // nil: it could not even be prepared
	newHubConn *connection    // to the hub's metrics-server, if that was opened
}

// opened are the connections that only the finding knows.
func (f finding) opened() []*connection {
	if f.fresh {
		return []*connection{f.conn, f.newHubConn}
	}
	return []*connection{f.newHubConn}
}

// look does what the registration asks for at present.
func (r *Registry) look(ctx context.Context, e *entry) patience {
	t := r.task(e)
	switch {
	case t.reg.refused():
		return patience{}
	case t.reg.awaiting != "":
		return r.await(ctx, e, t)
	}
	return r.file(ctx, e, r.probe(ctx, e, t))
}

// await gives what the registration waits for one deadline's time. A member
// whose credentials cannot be read must not be waited for any longer.
func (r *Registry) await(ctx context.Context, e *entry, t task) patience {
	if left := r.options.Timeout - time.Since(t.waitingSince); left > 0 {
		return patience{wait: left}
	}
	f := finding{generation: t.generation, silence: silencef(ReasonMissingCredentials, "%s", t.reg.awaiting), conn: t.conn}
	r.file(ctx, e, f)
	return patience{}
}

// probe asks the cluster who it is, over a new connection if the present one
// has another endpoint.
func (r *Registry) probe(ctx context.Context, e *entry, t task) finding {
	f := finding{generation: t.generation, conn: t.conn}
	if f.conn == nil || f.conn.digest != t.reg.endpoint.digest() {
		var err error
		f.fresh = true
		if f.conn, err = e.dial.connect(t.reg.endpoint); err != nil {
			f.silence = silencef(t.reg.key.source.invalid(), "%v", err)
			return f
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	started := time.Now()
	f.uid, f.silence = f.conn.identify(ctx)
	e.member.checkClock(ctx)
	f.answered = e.member.meter.lastSuccess().After(started)
	switch {
	case f.silence != nil:
	case r.isHub(f.uid):
		f.newHubConn, f.silence = r.connectHubMetrics(e, t)
	case f.fresh || f.conn.wire.nestedAt.Load() != nil:
		f.silence = f.conn.checkNested(ctx)
	}
	return f
}

// connectHubMetrics prepares the way to the hub's own metrics-server, once.
func (r *Registry) connectHubMetrics(e *entry, t task) (*connection, *fleet.Silence) {
	if r.options.HubMetricsServer == nil || t.hubConn != nil {
		return nil, nil
	}
	conn, err := e.dial.connect(endpoint{config: r.options.HubMetricsServer})
	if err != nil {
		return nil, silencef(ReasonHubMetricsServerUnset, "--hub-metrics-server cannot be used: %v", err)
	}
	return conn, nil
}
