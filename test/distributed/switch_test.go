// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
)

// A change of the mode: to central, where somebody else scales the workloads, and back.

// central lets distributed mode end for an object that is no longer of it, as the controller does.
func (f *fleet) central(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if !record.Bound(object) {
		return nil
	}
	memory := f.memories.Of(object)
	left, err := f.program.Leave(ctx, object, memory)
	if left && err == nil {
		f.program.Forget(client.ObjectKeyFromObject(object), memory)
		f.judge.left()
	}
	return err
}

// isCentral: the object is of central mode.
func (f *fleet) isCentral() bool { return f.hub.object != nil && !f.hub.object.Distributed() }

// switchModes has the object leave distributed mode, and join it again: after a while, or before it has left.
func (f *fleet) switchModes() {
	if slices.ContainsFunc(f.members, func(m *member) bool { return !m.registered }) {
		return // what is registered again has what we left there, and the controller of another mode
	}
	before := f.hub.object.Spec.FederatedHPAAssignment
	f.hub.edit(func(s *v1alpha1.FederatedHPASpec) { s.FederatedHPAAssignment = nil })
	f.judge.edited()
	f.judge.did("the mode is central")
	f.run(f.between(0, 4))
	if !f.oneIn(3) {
		f.heal()
		f.run(4)
		f.judge.checkLeft()
		f.scaleElsewhere()
		f.run(f.between(0, 20))
	}
	f.hub.edit(func(s *v1alpha1.FederatedHPASpec) {
		if s.FederatedHPAAssignment = before; f.oneIn(2) {
			s.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
			f.drawPolicy(s)
			f.drawPreferences(s)
			f.drawRebalance(s)
		}
	})
	f.judge.joins()
	f.judge.did("the mode is distributed: %s", f.spec())
}

// scaleElsewhere sets what runs, as central mode does, within the fleet's bounds.
func (f *fleet) scaleElsewhere() {
	if f.oneIn(3) {
		return
	}
	left := f.between(int(*f.hub.object.Spec.MinReplicas), int(f.hub.object.Spec.MaxReplicas))
	for _, m := range f.members {
		if m.workload == nil {
			continue
		}
		n := f.between(0, left)
		m.workload.version++
		m.workload.replicas = int32(n)
		left -= n
		f.judge.of(m).paused = false
		f.judge.did("%s is told to run %d", m.name, n)
	}
}

// left: distributed mode says that it has ended.
func (j *judge) left() {
	j.happened("left")
	for _, m := range j.f.members {
		if m.registered && m.ours() != nil {
			j.fail("distributed mode has ended, and %s has an autoscaler of ours", m.name)
		}
	}
}

// checkLeft: it has ended, as all clusters can be written.
func (j *judge) checkLeft() {
	switch {
	case len(j.faults) > 0 || j.f.awayFor > 0 || j.sinceTrouble < 2:
	case record.Bound(j.f.hub.object):
		j.fail("distributed mode has not ended, and nothing is in its way")
	case len(j.f.hub.object.Status.Clusters) > 0:
		j.fail("distributed mode has ended, and the status says %v", j.f.hub.object.Status.Clusters)
	}
}

// joins: the object is of distributed mode again. As long as that is the first reconcile of it, what runs is noted.
func (j *judge) joins() {
	j.edited()
	j.joining = true
	for _, m := range j.f.members {
		j.of(m).bounded = false
	}
}

// checkJoin: nothing that runs is cut by the first bounds, if the fleet may run all of it, and each cluster its own.
func (j *judge) checkJoin(m *member, most int32) {
	sum := int32(0)
	for _, other := range j.f.members {
		if !other.inSight() || other.ours() != nil && !j.of(other).bounded {
			return
		}
		if j.takesPart(other) {
			if sum += other.replicas(); other.replicas() > j.ceiling(other) || j.restricted(other) {
				return
			}
		}
	}
	if j.duplicated() {
		sum = m.replicas()
	}
	if sum > j.spec().MaxReplicas {
		return
	}
	if j.happened("joined"); most < m.replicas() {
		j.fail("%s gets a maximum of %d as the mode changes, and runs %d", m.name, most, m.replicas())
	}
}
