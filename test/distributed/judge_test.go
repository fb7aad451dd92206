// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// judge reads what is written to members, and the members as they are.
type judge struct {
	f      *fleet
	seed   uint64
	faults []string
	trace  []string
	fired  map[string]bool // reasons of Events

	rested []string // how the fleet was each time that it had come to rest

	reconciling bool
	joining     bool      // the object has become one of distributed mode, and was not reconciled since
	beganAt     time.Time // the reconcile
	statuses    int       // that were stored before it
	complete    bool      // nothing has gone wrong in this reconcile so far
	short       int       // for how many rounds less than the minimum has run
	hubWrites   int
	calmWrites  int // of hubWrites, those under a constant load
	scaleWrites int // by members' autoscalers

	// How many reconciles have been complete since the hub had a reason to give other bounds (an edit, a cluster that comes, goes
	// or is back), and since it had trouble on its way.
	sinceChange, sinceTrouble, sinceRestart int
	constantSince                           time.Time
	about                                   map[*member]*verdict
}

// verdict is what the judge knows of a member.
type verdict struct {
	unseenSince  time.Time // since the reconcile which the hub first could not read or write it; zero: it can
	refusedSince time.Time
	refusals     struct{ first, last time.Time } // in a row; zero: it took the last write
	tries        bool                            // the last write was the first after one that was refused
	gone         bool                            // unseen for longer than the grace
	sleptAt      time.Time
	paused       bool  // set to zero by hand
	had          bool  // it had an autoscaler of ours when the reconcile began
	shouldHold   bool  // by how the clusters were at the end of the last reconcile
	ran          int32 // replicas when the reconcile began
	bounded      bool  // it got its first bounds since the object joined
}

func (j *judge) of(m *member) *verdict {
	if j.about == nil {
		j.about = map[*member]*verdict{}
	}
	if j.about[m] == nil {
		j.about[m] = &verdict{}
	}
	return j.about[m]
}

func (j *judge) did(what string, args ...any) {
	j.trace = append(j.trace, fmt.Sprintf("%5d  ", j.f.rounds)+fmt.Sprintf(what, args...))
	if n := len(j.trace) - *traced; n > 0 {
		j.trace = slices.Delete(j.trace, 0, n)
	}
}

// fail notes what must not be.
func (j *judge) fail(what string, args ...any) {
	fault := fmt.Sprintf(what, args...)
	j.did("FAULT: %s", fault)
	if len(j.faults) == 0 {
		j.faults = append(j.faults, fmt.Sprintf("seed %d: %s\n%s\n%s", j.seed, fault, strings.Join(j.trace, "\n"), j.f))
	}
}

// happened notes that something was drawn, to be counted.
func (j *judge) happened(what string) { j.fired[what] = true }

func (j *judge) heard(reason, note string, args ...any) {
	j.f.lock.Lock()
	defer j.f.lock.Unlock()
	j.fired[reason] = true
	j.did("event %s: %s", reason, fmt.Sprintf(note, args...))
}

// What may come before.

// disturbed is called before anything happens to the fleet.
func (j *judge) disturbed() { j.constantSince = time.Now() }

// edited: somebody has changed what the hub is to do, or who takes part.
func (j *judge) edited() { j.sinceChange = 0 }

func (j *judge) restarted() { j.sinceRestart = 0 }

func (j *judge) byHand(m *member) {
	j.of(m).paused = true
	j.sinceChange = 0
}

// trouble: what the hub wanted may not be done yet.
func (j *judge) troubled() { j.complete, j.sinceTrouble = false, 0 }

// begins notes which clusters the hub sees in the reconcile that begins.
func (j *judge) begins() {
	j.reconciling, j.complete = true, true
	now := time.Now()
	j.beganAt, j.statuses = now, j.f.hub.statuses
	for _, m := range j.f.members {
		v := j.of(m)
		v.ran, v.had = m.replicas(), m.ours() != nil
		since := v.refusedSince
		if !m.inSight() {
			if v.unseenSince.IsZero() {
				v.unseenSince = now
			}
			if since.IsZero() {
				since = v.unseenSince
			}
		} else {
			v.unseenSince = time.Time{}
		}
		if gone := !since.IsZero() && now.Sub(since) >= grace || !m.registered; gone != v.gone {
			v.gone = gone
			j.sinceChange = 0
		}
		if m.lags || m.old != nil {
			j.sinceTrouble = 0
		}
	}
	if j.f.crash != nil || j.f.hub.fails {
		j.troubled()
	}
	if j.f.slope != 0 {
		j.constantSince = now
	}
}

// ends judges what the reconcile has come to.
func (j *judge) ends(err error) {
	j.reconciling = false
	if err != nil {
		j.troubled()
		j.did("the reconcile ends: %v", err)
	}
	if err != nil && j.f.hub.statuses == j.statuses {
		j.nothingStored()
	}
	if j.f.hub.object == nil {
		return
	}
	if err == nil && j.f.hub.object.Distributed() {
		j.joining = false
	}
	if j.sinceRestart++; j.complete {
		j.sinceChange++
		j.sinceTrouble++
	}
	for _, m := range j.f.members {
		if !m.refuses && j.settled(4) {
			v := j.of(m) // there was nothing to write, so that nobody can know
			v.refusedSince, v.gone = time.Time{}, v.gone && !m.inSight()
		}
	}
	if j.f.isCentral() {
		return
	}
	j.checkSum()
	j.checkHolds()
}

// nothingStored: the next reconcile knows nothing of who went out of sight before this one.
func (j *judge) nothingStored() {
	for _, v := range j.about {
		if v.unseenSince.Equal(j.beganAt) {
			v.unseenSince = time.Time{}
		}
	}
}

// settled: nothing has happened to the hub for that many reconciles but what it sees of the clusters.
func (j *judge) settled(reconciles int) bool {
	return j.sinceChange >= reconciles && j.sinceTrouble >= reconciles && j.f.hub.object.DeletionTimestamp == nil
}

// blind: a cluster that counts is out of sight, or refuses for all the hub knows, and so keeps what it has.
func (j *judge) blind() bool {
	return slices.ContainsFunc(j.f.members, func(m *member) bool { return j.counts(m) && (!m.inSight() || m.refuses || j.of(m).suspected()) })
}

// suspected: the cluster refused what was written to it, has not been asked again, and is not yet to be.
func (v *verdict) suspected() bool {
	first, last := v.refusals.first, v.refusals.last
	return !last.IsZero() && time.Since(last) < max(grace, last.Sub(first))+2*period
}

// What is known of the object.

func (j *judge) spec() *v1alpha1.FederatedHPASpec { return &j.f.hub.object.Spec }

func (j *judge) policy() v1alpha1.FederatedHPAAssignmentType {
	if j.f.isCentral() {
		return ""
	}
	return j.spec().FederatedHPAAssignment.FederatedHPAAssignmentType
}

func (j *judge) toZero() bool { return ptr.Deref(j.spec().ScalingToZero, false) }

func (j *judge) duplicated() bool { return j.policy() == v1alpha1.AssignmentDuplicated }

func (j *judge) strict() bool {
	return j.policy() == v1alpha1.AssignmentPrioritized && j.spec().FederatedHPAAssignment.ScaleDownOrder != v1alpha1.ScaleDownBestEffort
}

// preference is the entry of a member; false if there are entries, and none for it.
func (j *judge) preference(m *member) (p v1alpha1.TargetClusterAutoscalingPreference, preferred bool) {
	entries := j.spec().FederatedHPAAssignment.ClusterAutoscalingPreference
	for _, e := range entries {
		if m.isOf(e.TargetCluster) {
			return e, true
		}
	}
	byEntries := j.policy() == v1alpha1.AssignmentPrioritized || j.policy() == v1alpha1.AssignmentStaticWeighted
	return p, len(entries) == 0 || !byEntries
}

func (j *judge) priority(m *member) int32 {
	p, _ := j.preference(m)
	if p.Priority == nil {
		return 0
	}
	return *p.Priority
}

// takesPart: by all that can be known from outside the cluster should have a part.
func (j *judge) takesPart(m *member) bool {
	if j.f.isCentral() {
		return false
	}
	_, preferred := j.preference(m)
	return m.registered && m.selected && preferred && m.rival() == nil && (m.workload != nil || j.f.hub.template)
}

// counts: the cluster's maximum is a part of the fleet's.
func (j *judge) counts(m *member) bool {
	return m.ours() != nil && !j.of(m).gone && !j.stays(m)
}

// sum of the maxima that count; with Duplicated each is the whole, so the greatest.
func (j *judge) sum() int64 {
	sum := int64(0)
	for _, m := range j.f.members {
		if _, upper := m.bounds(); !j.counts(m) {
			continue
		} else if j.duplicated() {
			sum = max(sum, int64(upper))
		} else {
			sum += int64(upper)
		}
	}
	return sum
}
