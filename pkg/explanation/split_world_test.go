// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

var policies = []assignment.Policy{assignment.Duplicated, assignment.StaticWeighted, assignment.DynamicWeighted, assignment.Aggregated,
	assignment.Prioritized}

// splits is a fleet whose bounds are split, and move.
type splits struct {
	r      *rand.Rand
	s      assignment.Snapshot
	object *v1alpha1.FederatedHPA
}

// newSplits is a random fleet of so many clusters. What selects them is their names.
func newSplits(r *rand.Rand, clusters int) *splits {
	w := &splits{r: r, object: &v1alpha1.FederatedHPA{}}
	w.object.Namespace, w.object.Name, w.object.UID = "shop", "cart", "uid"
	w.object.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	for i := range clusters {
		w.s.Sites = append(w.s.Sites, assignment.Site{Name: fmt.Sprintf("m%02d", i), Current: r.Int32N(6)})
	}
	w.s.UID, w.s.Now, w.s.Grace, w.s.Delay, w.s.Window = "uid", start, 5*time.Minute, time.Minute, 5*time.Minute
	w.edit(&w.object.Spec)
	w.s.Changed = true
	w.read(&w.s, w.object)
	return w
}

// edit gives a spec other bounds, and another split.
func (w *splits) edit(spec *v1alpha1.FederatedHPASpec) {
	r, a := w.r, spec.FederatedHPAAssignment
	spec.MaxReplicas = r.Int32N(60) + 1
	spec.MinReplicas = new(r.Int32N(spec.MaxReplicas + 1))
	a.FederatedHPAAssignmentType = v1alpha1.FederatedHPAAssignmentType(policies[r.IntN(len(policies))])
	a.DistributionOrder = []v1alpha1.DistributionOrder{"", v1alpha1.DistributionMaxFirst, v1alpha1.DistributionMinFirst}[r.IntN(3)]
	a.ClusterAutoscalingPreference = nil
	if r.IntN(3) > 0 {
		for i := range w.s.Sites {
			p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{w.s.Sites[i].Name}},
				StaticWeight: new(r.Int32N(5)), Priority: new(r.Int32N(3))}
			if r.IntN(3) == 0 {
				p.AutoscalingMinThreshold = new(r.Int32N(5))
				p.AutoscalingMaxThreshold = new(*p.AutoscalingMinThreshold + r.Int32N(8))
			}
			a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, p)
		}
	}
	spec.ScalingToZero = new(r.IntN(4) == 0)
}

// read makes a snapshot that of the object's spec.
func (w *splits) read(s *assignment.Snapshot, object *v1alpha1.FederatedHPA) {
	a := object.Spec.FederatedHPAAssignment
	s.Policy, s.Min, s.Max = assignment.Policy(a.FederatedHPAAssignmentType), *object.Spec.MinReplicas, object.Spec.MaxReplicas
	s.Order, s.Rebalance, s.ScalingToZero = a.DistributionOrder, a.RebalanceOrDefault(), *object.Spec.ScalingToZero
	var facts []assignment.ClusterFacts
	for i := range s.Sites {
		facts = append(facts, assignment.ClusterFacts{Name: s.Sites[i].Name})
	}
	preferences, err := assignment.Preferences(s.Policy, a.ClusterAutoscalingPreference, facts)
	if err != nil {
		panic(err)
	}
	for i := range s.Sites {
		s.Sites[i].Preference = preferences[s.Sites[i].Name]
	}
}

// happen changes what clusters are like.
func (w *splits) happen() {
	r := w.r
	w.s.Now = w.s.Now.Add(time.Duration(r.IntN(400)) * time.Second)
	for i := range w.s.Sites {
		s := &w.s.Sites[i]
		s.Presence = assignment.Present
		if r.IntN(10) == 0 {
			s.Presence = []assignment.Presence{assignment.Silent, assignment.Refusing}[r.IntN(2)]
		}
		s.Standing = taints.Free
		if r.IntN(12) == 0 {
			s.Standing = []taints.Standing{taints.Cordoned, taints.Drained}[r.IntN(2)]
		}
		s.Current = max(0, min(s.Current+r.Int32N(5)-2, max(1, s.Max)))
		s.Unschedulable, s.UnschedulableSince = 0, nil
		if r.IntN(6) == 0 && s.Current > 0 {
			since := w.s.Now.Add(-time.Duration(r.IntN(120)) * time.Second)
			s.Unschedulable, s.UnschedulableSince = r.Int32N(s.Current)+1, &since
		}
		s.Ready = s.Current - s.Unschedulable
		s.Stands, s.Balks = s.Max, r.IntN(20) == 0
		if s.Max > 1 && r.IntN(10) == 0 {
			s.Stands = r.Int32N(s.Max) + 1 // it has not got all of it yet
		}
		s.Additional = new(r.Int32N(20))
		if r.IntN(5) == 0 {
			s.Additional = nil
		}
		s.Autoscaler = assignment.Autoscaler{Desired: s.Current, ScalingActive: s.Current > 0, Steady: true}
		if s.Presence == assignment.Silent { // all that is known is what the status says
			s.Additional, s.Unschedulable, s.UnschedulableSince = nil, 0, nil
			continue
		}
		if r.IntN(4) > 0 {
			s.Ratios = []int64{r.Int64N(2000)}
			s.TooManyReplicas = s.Ratios[0] > 1000 && s.Current >= s.Max
		}
	}
}

// decide takes the next step, and stores it.
func (w *splits) decide() (*Split, *v1alpha1.DecisionExplanation) {
	w.happen()
	step := assignment.Next(w.s)
	d := &Split{Snapshot: w.s, Step: step, Before: w.object.Status.Explanation, Entries: func(cluster string) []int32 {
		return assignment.Selecting(w.object.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference, assignment.ClusterFacts{Name: cluster})
	}}
	d.Snapshot.Sites = append([]assignment.Site(nil), w.s.Sites...)
	e := OfSplit(d)
	w.object.Status.Explanation, w.object.Status.Assignment = e, &step.Memory
	w.s.Memory, w.s.Changed = step.Memory, step.Incomplete
	for i := range w.s.Sites {
		s := &w.s.Sites[i]
		next := step.Sites[s.Name]
		s.Min, s.Max, s.State, s.Since = next.Min, next.Max, next.State, next.Since
		s.SchedulableSince, s.SaturatedFirst = next.SchedulableSince, next.SaturatedFirst
	}
	return d, e
}
