// SPDX-License-Identifier: Apache-2.0

package recordingtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Fleet is clusters whose bounds are split. The load of each is its own; its autoscaler runs what that takes, at once, as far as its bounds
// let it.
type Fleet struct {
	Spec v1alpha1.FederatedHPASpec
	// Loads are by the cluster, in replicas, one for each step.
	Loads map[string][]int32
	// Happen, if it is set, changes what is known of the clusters before each decision.
	Happen func(step int, s *assignment.Snapshot)
	// Start is when the first step is.
	Start time.Time

	snapshot assignment.Snapshot
}

// Random is a *rand.Rand.
type Random interface {
	IntN(n int) int
	Int32N(n int32) int32
	Int64N(n int64) int64
}

var usual = assignment.Usual{Window: 5 * time.Minute, Tolerance: 0.1}

// Policies are those by which bounds are split.
var Policies = []assignment.Policy{assignment.Duplicated, assignment.StaticWeighted, assignment.DynamicWeighted, assignment.Aggregated,
	assignment.Prioritized}

// NewFleet is of so many clusters, m0 and so on, which run a replica each, with loads that wander for so many steps.
func NewFleet(r Random, clusters, steps int) *Fleet {
	f := &Fleet{Loads: map[string][]int32{}, Start: Start}
	f.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}
	f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	for i := range clusters {
		load, all := r.Int32N(10)+1, make([]int32, steps)
		for k := range all {
			load = max(1, load+r.Int32N(5)-2)
			all[k] = load
		}
		name := fmt.Sprintf("m%d", i)
		f.Loads[name] = all
		f.snapshot.Sites = append(f.snapshot.Sites, assignment.Site{Name: name, Current: 1, Additional: new(int32(100))})
	}
	Split(r, &f.Spec, slices.Sorted(maps.Keys(f.Loads)))
	v := &v1alpha1.FederatedHPA{Spec: f.Spec}
	v1alpha1.DefaultFederatedHPA(v)
	f.Spec = v.Spec
	f.snapshot.UID, f.snapshot.Changed, f.snapshot.Grace = "1", true, 5*time.Minute
	f.snapshot.Rest, f.snapshot.WindowStep = 2*time.Minute, 2*time.Minute
	return f
}

// Split gives a spec other bounds, and another split among clusters.
func Split(r Random, spec *v1alpha1.FederatedHPASpec, clusters []string) {
	a := spec.FederatedHPAAssignment
	spec.MaxReplicas = r.Int32N(40) + int32(len(clusters))
	spec.MinReplicas = new(r.Int32N(spec.MaxReplicas/2 + 1))
	a.FederatedHPAAssignmentType = v1alpha1.FederatedHPAAssignmentType(Policies[r.IntN(len(Policies))])
	a.DistributionOrder = []v1alpha1.DistributionOrder{v1alpha1.DistributionMaxFirst, v1alpha1.DistributionMinFirst}[r.IntN(2)]
	a.ClusterAutoscalingPreference = nil
	for _, name := range clusters {
		p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{name}},
			StaticWeight: new(r.Int32N(4) + 1), Priority: new(r.Int32N(3))}
		if r.IntN(3) == 0 {
			p.AutoscalingMaxThreshold = new(r.Int32N(12) + 1)
		}
		a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, p)
	}
}

// Run is the record of so many steps, one in 15 s.
func (f *Fleet) Run(steps int) (all []*recording.Record) {
	f.snapshot.Sites = slices.Clone(f.snapshot.Sites)
	for step := range steps {
		s := &f.snapshot
		s.Now = f.Start.Add(time.Duration(step) * 15 * time.Second)
		s.Follow(&f.Spec, usual)
		f.scale(step)
		if f.Happen != nil {
			f.Happen(step, s)
		}
		all = append(all, f.decide())
	}
	return all
}

// scale is what the clusters' own autoscalers do.
func (f *Fleet) scale(step int) {
	s := &f.snapshot
	for i := range s.Sites {
		site := &s.Sites[i]
		before, load := site.Current, f.Loads[site.Name][step]
		if site.Ordered != nil {
			site.Current, site.Ordered = *site.Ordered, nil
		} else if site.Max > 0 && site.Current > 0 {
			site.Current = max(site.Min, min(site.Max, load))
		}
		site.Ready, site.Stands = site.Current, site.Max
		if site.Additional != nil {
			site.Additional = new(max(0, *site.Additional+before-site.Current))
		}
		site.Autoscaler = assignment.Autoscaler{LastScale: site.LastScale}
		if site.Current != before {
			site.LastScale = new(s.Now)
		}
		if site.Max > 0 && site.Current > 0 {
			site.Desired, site.ScalingActive, site.TooManyReplicas = site.Current, true, load > site.Max
			site.Steady = site.Current == before
			site.Ratios = []int64{(1000*int64(load) + int64(site.Current) - 1) / int64(site.Current)}
		}
	}
}

// decide takes the next step, and carries it out.
func (f *Fleet) decide() *recording.Record {
	s := &f.snapshot
	entries, facts := make([][]int32, len(s.Sites)), make([]assignment.ClusterFacts, len(s.Sites))
	preferences := f.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference
	for i := range s.Sites {
		facts[i] = assignment.ClusterFacts{Name: s.Sites[i].Name}
		entries[i] = assignment.Selecting(preferences, facts[i])
	}
	preferred, err := assignment.Preferences(s.Policy, preferences, facts)
	if err != nil {
		panic("preferences that cannot be read: " + err.Error())
	}
	for i := range s.Sites {
		s.Sites[i].Preference = preferred[s.Sites[i].Name]
	}
	said := assignment.Next(*s)
	spec := f.Spec
	r := recording.NewSplit(recording.Object{Namespace: "shop", Name: "cart", UID: s.UID}, &spec, 1, &recording.Split{
		Snapshot: *s, Usual: usual, Entries: entries, Said: said})
	s.Memory, s.Changed = said.Memory, said.Incomplete
	for i := range s.Sites {
		site := &s.Sites[i]
		next := said.Sites[site.Name]
		site.Min, site.Max, site.State, site.Since, site.Ordered = next.Min, next.Max, next.State, next.Since, next.Scale
		site.SchedulableSince, site.SaturatedFirst = next.SchedulableSince, next.SaturatedFirst
	}
	return r
}

// Anything has anything happen to clusters that can: silence, refusals, taints, Pods that find no node, and what they cannot tell.
func Anything(r Random) func(step int, s *assignment.Snapshot) {
	return func(_ int, s *assignment.Snapshot) {
		s.Wanted, s.Memory.KeepsRunning = r.IntN(4) == 0, r.IntN(8) == 0
		if r.IntN(8) == 0 {
			s.Changed = true
		}
		for i := range s.Sites {
			site := &s.Sites[i]
			site.Presence = [...]assignment.Presence{
				assignment.Silent, assignment.Refusing, assignment.Leaving, assignment.Present}[min(3, r.IntN(20))]
			site.Standing = [...]taints.Standing{taints.Cordoned, taints.Drained, taints.Free}[min(2, r.IntN(20))]
			site.Asleep, site.Balks, site.GivenUp, site.Recovered = r.IntN(9) == 0, r.IntN(9) == 0, r.IntN(9) == 0, r.IntN(9) == 0
			site.Current, site.Promised = r.Int32N(20), r.Int32N(3)
			if site.Unschedulable, site.UnschedulableSince = 0, nil; r.IntN(4) == 0 {
				site.Unschedulable = min(site.Current, r.Int32N(3)+1)
				site.UnschedulableSince = new(s.Now.Add(-time.Duration(r.IntN(200)) * time.Second))
			}
			if site.Ratios = nil; r.IntN(4) > 0 {
				site.Ratios = []int64{r.Int64N(3000), r.Int64N(3000)}
			}
			site.TooManyReplicas, site.Steady, site.ScalingActive = r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(8) > 0
		}
	}
}
