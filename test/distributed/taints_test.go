// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// upkeep is the key of the taint that a member may have.
const upkeep = "upkeep"

// Effects of that taint. Empty: the member has none.
const (
	cordoned = corev1.TaintEffectNoSchedule
	drained  = corev1.TaintEffectNoExecute
)

func (m *member) taints() []corev1.Taint {
	if m.taint == "" {
		return nil
	}
	return []corev1.Taint{{Key: upkeep, Effect: m.taint}}
}

// taintAny gives the member a taint, or takes it away.
func (f *fleet) taintAny(m *member) {
	f.taint(m, of(f.dice, "", cordoned, cordoned, drained, drained))
}

func (f *fleet) taint(m *member, effect corev1.TaintEffect) {
	m.taint = effect
	f.judge.disturbed()
	f.judge.edited()
	if m.taint != "" {
		f.judge.happened("tainted " + string(m.taint))
	}
	f.judge.did("%s has the taint %q", m.name, m.taint)
}

// lull lets clusters go to zero, if they may.
func (f *fleet) lull() {
	if f.judge.toZero() && !f.judge.duplicated() {
		f.lowLoad()
		f.run(f.between(30, 80))
	}
}

// drainAwake drains all that run, where others sleep that could take over.
func (f *fleet) drainAwake() {
	f.lull()
	asleep := slices.ContainsFunc(f.members, f.judge.sleeps)
	for _, m := range f.members {
		switch {
		case asleep && m.replicas() > 0:
			f.taint(m, drained)
			f.judge.happened("drained while others sleep")
		case asleep && m.taint != "":
			f.taint(m, "")
		}
	}
}

// cordonAsleep cordons all that sleep.
func (f *fleet) cordonAsleep() {
	f.lull()
	for _, m := range f.members {
		if f.judge.sleeps(m) {
			f.taint(m, cordoned)
			f.judge.happened("cordoned at zero")
		}
	}
}

// sleeps: the cluster takes part, and is at zero because it is not needed.
func (j *judge) sleeps(m *member) bool {
	return j.toZero() && !j.duplicated() && j.takesPart(m) && m.ours() != nil && m.replicas() == 0 && !j.of(m).paused
}

// tolerate has the object tolerate taints, or not any more.
func (f *fleet) tolerate() {
	f.hub.edit(func(s *v1alpha1.FederatedHPASpec) {
		if s.ClusterTolerations != nil {
			s.ClusterTolerations = nil
			return
		}
		s.ClusterTolerations = []corev1.Toleration{{Key: upkeep, Operator: corev1.TolerationOpExists}}
		f.judge.happened("tolerates")
	})
	f.judge.edited()
	f.judge.did("taints are tolerated: %t", f.hub.object.Spec.ClusterTolerations != nil)
}

// restricted: the member is cordoned or drained, as far as the object does not tolerate it.
func (j *judge) restricted(m *member) bool {
	return m.taint != "" && j.spec().ClusterTolerations == nil
}

func (j *judge) drained(m *member) bool { return m.taint == drained && j.restricted(m) }

// stays: the member is drained, and cannot be told so. The others need not wait for it, and have its part at once.
func (j *judge) stays(m *member) bool {
	return j.drained(m) && m.ours() != nil && (!m.inSight() || m.refuses || m.balks || j.f.ambush || j.of(m).suspected())
}

// checkGrowth: what is cordoned or drained gets no more than it has, nor bounds if it has none, but for what it runs already.
func (j *judge) checkGrowth(m *member, lower, upper, least, most int32) {
	if !j.restricted(m) {
		return
	}
	if upper == 0 {
		lower, upper = j.of(m).ran, j.of(m).ran
	}
	if most > upper || least > max(1, lower) {
		j.fail("%s has the taint %q, and gets %d to %d", m.name, m.taint, least, most)
	}
}

// checkEmptied: what is drained goes to zero once the others run the minimum; or before they are Ready, as any other may.
func (j *judge) checkEmptied(m *member, from int32) {
	j.happened("emptied")
	if j.toZero() && !j.duplicated() && j.f.hub.statusOf(m).State == v1alpha1.ClusterScaledToZero {
		j.checkSleep(m, from)
		return
	}
	if ready := j.readyBeside(m); ready < max(1, int(*j.spec().MinReplicas)) {
		j.fail("%s is drained, and %d of %d are Ready in the others", m.name, ready, *j.spec().MinReplicas)
	}
}

// readyBeside are the Ready Pods of clusters that are not drained.
func (j *judge) readyBeside(m *member) (n int) {
	for _, other := range j.f.members {
		if other != m && j.takesPart(other) && other.ours() != nil && !j.drained(other) {
			n += other.readyPods()
		}
	}
	return n
}

// checkTainted: at rest nothing runs where it was to end, if the others run the minimum, or could begin to; and what may not begin
// holds no part that others could have.
func (j *judge) checkTainted(m *member) {
	_, upper := m.bounds()
	switch {
	case j.drained(m) && m.replicas() > 0 && m.ours() != nil:
		if ready := j.readyBeside(m); ready >= max(1, int(*j.spec().MinReplicas)) {
			j.fail("%s is drained and runs %d at rest, and %d are Ready in the others", m.name, m.replicas(), ready)
		}
		for _, other := range j.f.members {
			if other != m && !j.restricted(other) && j.sleeps(other) {
				j.fail("%s is drained and runs %d at rest, and %s sleeps", m.name, m.replicas(), other.name)
			}
		}
	case j.restricted(m) && m.replicas() == 0 && upper > 0 && !j.duplicated():
		j.fail("%s has the taint %q, runs nothing at rest, and keeps a maximum of %d", m.name, m.taint, upper)
	}
}
