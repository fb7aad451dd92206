// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"iter"
	"slices"
	"time"
	"unique"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Record is what is kept of a Pod, in 80 bytes and its name. What it has in
// common with others stands elsewhere, once, and so does what few have.
type Record struct {
	name     string
	template unique.Handle[template]
	node     unique.Handle[string] // the zero value if it has none, or has ended
	rare     *rare                 // nil if there is nothing in it
	uid      uid

	readySince, started, created instant

	phase, ready                     uint8 // places in phases and statuses
	terminating, resizable, observed bool
}

// rare is what few Pods have at one time.
type rare struct {
	waiting            *fit.Waiting // nil once it has a node
	unschedulableSince instant
	oomKills           []oomKill
	resize             resize
	actual             actual
}

// nothing is of Pods that run as their specs say.
var nothing rare

func (r *rare) empty() bool {
	return r.waiting == nil && r.unschedulableSince == 0 && r.oomKills == nil && r.resize == resize{} && r.actual == actual{}
}

var _ mirror.Sharing = (*Record)(nil)

// Key is the Pod's namespace and name.
func (r *Record) Key() mirror.Key {
	return mirror.Key{Namespace: r.template.Value().room.Namespace.Value(), Name: r.name}
}

// Bytes is what the Pod takes by itself.
func (r *Record) Bytes() int64 {
	bytes := int64(unsafe.Sizeof(*r)) + int64(len(r.name))
	if r.rare != nil {
		bytes += compact.Bytes(*r.rare)
	}
	return bytes
}

// Shared is the Pod's template.
func (r *Record) Shared() mirror.Shared { return sharedTemplate{r.template} }

// pod returns what a decision must know of it. The requests are the template's, which many share.
func (r *Record) pod(requests *replicas.Requests) replicas.Pod {
	return replicas.Pod{
		Name:        r.name,
		Phase:       phases[r.phase],
		Terminating: r.terminating,
		Ready:       replicas.Ready{Status: statuses[r.ready], Since: r.readySince.time()},
		Started:     r.started.time(),
		Requests:    requests,
	}
}

// Rooms yields what an estimate of a cluster's room must know of its Pods, one after the other in the same place.
func Rooms(records []*Record) iter.Seq[*fit.Pod] {
	return func(yield func(*fit.Pod) bool) {
		var last unique.Handle[template]
		var p fit.Pod
		for _, r := range records {
			if r.template != last {
				last, p = r.template, r.template.Value().room
			}
			p.Labels.Name, p.Node, p.Terminating, p.Waiting = r.name, r.node, r.terminating, r.rarely().waiting
			if !yield(&p) {
				return
			}
		}
	}
}

// rarely is to be read only.
func (r *Record) rarely() *rare {
	if r.rare == nil {
		return &nothing
	}
	return r.rare
}

func recordOf(p *corev1.Pod) *Record {
	room := fit.PodOf(p)
	kept := rare{waiting: room.Waiting, oomKills: oomKillsOf(p), actual: actualOf(p)}
	r := &Record{
		name:        p.Name,
		template:    templateOf(p, room),
		node:        room.Node,
		uid:         uidOf(p.UID),
		created:     instantOf(p.CreationTimestamp),
		phase:       place(phases, p.Status.Phase),
		terminating: p.DeletionTimestamp != nil,
		resizable:   resizable(p),
	}
	if p.Status.StartTime != nil {
		r.started = instantOf(*p.Status.StartTime)
	}
	for i := range p.Status.Conditions {
		r.note(&p.Status.Conditions[i], &kept)
	}
	var generation int64
	kept.resize, generation = resizeOf(p)
	r.observed = observes(p, kept.resize, generation, kept.actual != actual{})
	if !kept.empty() {
		r.rare = new(kept)
	}
	return r
}

func (r *Record) note(c *corev1.PodCondition, kept *rare) {
	switch {
	case c.Type == corev1.PodReady && r.ready == 0: // the first, if there are several
		r.ready, r.readySince = place(statuses, c.Status), instantOf(c.LastTransitionTime)
	case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable:
		kept.unschedulableSince = max(instantOf(c.LastTransitionTime), 1) // no time is long ago
	}
}

// unschedulable reports whether the scheduler found no node for the Pod.
func (r *Record) unschedulable() bool { return r.rarely().unschedulableSince != 0 && !r.terminating }

var (
	phases   = []corev1.PodPhase{"", corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}
	statuses = []corev1.ConditionStatus{"", corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}
)

// place returns where a word stands among those that the API has. The last one is for all others.
func place[T comparable](words []T, word T) uint8 {
	if at := slices.Index(words, word); at >= 0 {
		return uint8(at)
	}
	return uint8(len(words) - 1)
}

// instant is a time as the API has it, in Unix seconds; 0 is no time.
type instant uint32

func instantOf(t metav1.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instant(t.Unix())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(int64(i), 0)
}
