// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// task is what an entry's goroutine has to do now.
func (r *Registry) task(e *entry) task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return task{
		generation: e.generation, reg: e.reg, waitingSince: e.waitingSince,
		conn: e.conn, hubConn: e.hubConn,
	}
}

// file records what an entry's goroutine found, and says when it has to look again.
func (r *Registry) file(ctx context.Context, e *entry, f finding) patience {
	r.mu.Lock()
	before := e.standing()
	fx := r.take(ctx, e, f)
	if e.standing() != before {
		fx.add(r.publish())
	}
	again := patience{wait: e.health.wait(r.options.ProbePeriod), wary: e.health.failures == 0}
	r.mu.Unlock()
	r.carryOut(ctx, fx)
	return again
}

// standing is what a finding may change. Most change nothing, and the others
// need not be looked at.
type standing struct {
	health        health
	uid           types.UID
	moved         bool
	conn, hubConn *connection
}

func (e *entry) standing() standing {
	return standing{e.health, e.uid, e.moved, e.conn, e.hubConn}
}

// take turns a finding into what is known of the entry.
func (r *Registry) take(ctx context.Context, e *entry, f finding) (fx effects) {
	switch {
	case ctx.Err() != nil || f.generation != e.generation:
		fx.retire(f.opened()...) // overtaken; whoever changed the entry has left a sign
		return fx
	case f.silence == nil && e.uid != "" && f.uid != e.uid:
		fx.retire(f.opened()...)
		fx.notices = append(fx.notices, e.happened(clusterReplaced))
		e.moved, e.health = true, health{}
		r.queue.Add(e.reg.key) // to be replaced
		return fx
	case f.silence == nil:
		e.uid = f.uid
	}
	e.health = e.health.after(outcome{silence: f.silence, fresh: f.fresh, answered: f.answered})
	if f.fresh && f.conn != nil {
		fx.retire(e.conn)
		e.conn = f.conn
	}
	if f.newHubConn != nil {
		e.hubConn = f.newHubConn
	}
	return fx
}
