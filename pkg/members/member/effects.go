// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// effects are what follows from a change of the registry and is done once its
// lock is free.
type effects struct {
	changed bool
	retired []*connection.Connection
	notices []notice
}

// notice is one change worth telling people, once.
type notice struct {
	cluster  string
	ref      corev1.ObjectReference
	describe string
	// event is what happened apart from the state, unless empty.
	event string
	// standing is how the cluster takes part from now on, for those who tolerate no taint, unless nil.
	standing *taints.Verdict
	// warning is what is ignored of a registration that is used, unless nil.
	warning *registration.Fault
	silence *fleet.Silence // nil: ready
	joining bool           // it never was
}

func (fx *effects) retire(conns ...*connection.Connection) {
	fx.retired = append(fx.retired, slices.DeleteFunc(conns, func(c *connection.Connection) bool { return c == nil })...)
}

func (fx *effects) add(more effects) {
	fx.changed = fx.changed || more.changed
	fx.retired = append(fx.retired, more.retired...)
	fx.notices = append(fx.notices, more.notices...)
}

func (r *Registry) carryOut(ctx context.Context, fx effects) {
	for _, c := range fx.retired {
		c.Retire()
	}
	for _, n := range fx.notices {
		n.log(ctx)
		r.record(n)
	}
	if fx.changed {
		poke(r.changed)
	}
}

func (n notice) log(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("cluster", n.cluster, "registration", n.describe)
	switch {
	case n.event != "":
		logger.Info(n.event)
	case n.standing != nil:
		logger.Info("Cluster is "+word(n.standing), "message", n.standing.Message())
	case n.warning != nil:
		logger.Info("Registration is used without a part of it", "reason", n.warning.Reason, "message", n.warning.Message)
	case n.silence == nil:
		logger.Info("Cluster is ready")
	case n.joining:
		logger.Info("Cluster is joining and not ready yet", "reason", n.silence.Reason, "message", n.silence.Detail)
	default:
		logger.Info("Cluster is not ready", "reason", n.silence.Reason, "message", n.silence.Detail)
	}
}

// What may happen to a registration apart from its cluster's state.
const (
	clusterLeft     = "Cluster left"
	clusterReplaced = "Another cluster answers under this name"
)

func (e *entry) happened(event string) notice {
	return notice{cluster: e.member.name, ref: e.reg.Ref, describe: e.reg.String(), event: event}
}

// warned returns the warnings that the registration did not give before.
func (e *entry) warned(before []registration.Fault) []notice {
	var notices []notice
	for _, w := range e.reg.Warnings {
		if !slices.Contains(before, w) {
			notices = append(notices, notice{cluster: e.member.name, ref: e.reg.Ref, describe: e.reg.String(), warning: &w})
		}
	}
	return notices
}

// stood returns that the cluster takes part in another way than before, if so.
func (e *entry) stood(before []corev1.Taint) []notice {
	was, is := taints.Judge(before, nil), taints.Judge(e.reg.Taints, nil)
	if was == is {
		return nil
	}
	return []notice{{cluster: e.member.name, ref: e.reg.Ref, describe: e.reg.String(), standing: &is}}
}

// word is how a cluster stands in a log.
func word(v *taints.Verdict) string {
	return map[taints.Standing]string{
		taints.Free: "no longer cordoned or drained", taints.Cordoned: "cordoned", taints.Drained: "drained",
	}[v.Standing]
}

// reasonUncordoned is that of an Event.
const reasonUncordoned = "Uncordoned"

// mostEventMessage is what the Events API allows.
const mostEventMessage = 1024

// record writes an Event where the registration's owner has something to fix, or has cordoned the cluster.
func (r *Registry) record(n notice) {
	if r.options.Recorder == nil {
		return
	}
	if n.standing != nil {
		reason := cmp.Or(n.standing.String(), reasonUncordoned)
		r.options.Recorder.Event(&n.ref, corev1.EventTypeNormal, reason, cmp.Or(n.standing.Message(), "it takes part without restrictions again"))
		return
	}
	fault, known := n.fault()
	if !known {
		return
	}
	message := fault.Message
	if len(message) > mostEventMessage {
		message = message[:mostEventMessage]
	}
	r.options.Recorder.Event(&n.ref, corev1.EventTypeWarning, string(fault.Reason), message)
}

// fault returns what the registration's owner has to fix, if that is known.
func (n notice) fault() (f registration.Fault, known bool) {
	switch {
	case n.event != "", n.standing != nil:
		return f, false
	case n.warning != nil:
		return *n.warning, true
	case n.silence == nil || !definite(n.silence.Reason):
		return f, false
	}
	return registration.Fault{Reason: n.silence.Reason, Message: n.silence.Detail}, true
}

// notice compares what was shown with what is: a change of readiness or reason
// is worth telling, and so are other faults of a registration. A probe's words
// change too often.
func (e *entry) notice(before shown) (n notice, worth bool) {
	now := e.shown
	if now.silence.Reason == reasonNotContacted {
		return n, false
	}
	n = notice{cluster: e.member.name, ref: e.reg.Ref, describe: e.reg.String()}
	if !now.ready {
		n.silence, n.joining = &now.silence, now.joining
	}
	worth = now.ready != before.ready || now.silence.Reason != before.silence.Reason ||
		e.reg.Refused() && now.silence != before.silence
	return n, worth
}
