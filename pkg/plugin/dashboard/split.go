// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/plugin/explain"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// pointOfSplit is what an autoscaler in distributed mode was when its bounds were split. What the metrics of clusters were is not recorded.
func pointOfSplit(r *recording.Record) point {
	s := &r.Split.Snapshot
	step := assignment.Next(*s)
	carried := r.Split.Carried(step)
	runs := runsOf(s)
	p := point{
		At: s.Now, Ready: &runs.ready, Min: new(ptr.Deref(r.Spec.MinReplicas, 1)), Max: new(r.Spec.MaxReplicas),
		State: string(stateOfSplit(r, runs.current)), Limit: explanation.SplitLimitedBy(&step),
	}
	if !runs.undecided {
		p.Desired = &runs.desired
	}
	for i := range s.Sites {
		site := &s.Sites[i]
		if site.Presence == assignment.Leaving && site.Current == 0 {
			continue
		}
		next := carried.Sites[site.Name]
		p.Clusters = append(p.Clusters, share{Name: site.Name, Replicas: site.Current, Bounded: true, Min: next.Min, Max: next.Max})
		if site.Presence == assignment.Silent {
			p.Unseen = append(p.Unseen, site.Name)
		}
	}
	return p
}

// runs is what the clusters that take part run together.
type runs struct {
	current, ready, desired int32
	// undecided: what the autoscaler of one of them desires is not known, as its first metrics fail.
	undecided bool
}

func runsOf(s *assignment.Snapshot) runs {
	var current, ready, desired int64
	undecided := false
	for i := range s.Sites {
		site := &s.Sites[i]
		if site.Presence == assignment.Leaving {
			continue
		}
		current, ready = current+int64(site.Current), ready+int64(site.Ready)
		if site.Stands > 0 && site.Current > 0 {
			desired += int64(site.Desired)
			undecided = undecided || site.Desired == 0 && site.LastScale == nil && !site.ScalingActive
		} else {
			desired += int64(site.Current)
		}
	}
	within := func(n int64) int32 { return int32(min(n, math.MaxInt32)) }
	return runs{within(current), within(ready), within(desired), undecided}
}

// stateOfSplit is what the status said, as far as that follows from what was decided on.
func stateOfSplit(r *recording.Record, current int32) v1alpha1.FederatedHPAState {
	var some sight
	for i := range r.Split.Snapshot.Sites {
		some.add(&r.Split.Snapshot.Sites[i])
	}
	switch {
	case some.refusing:
		return v1alpha1.StateFailing
	case r.Outcome == recording.Observed:
		return v1alpha1.StateObserving
	case current == 0:
		return v1alpha1.StatePaused
	case some.unusable:
		return v1alpha1.StateFailing
	case some.silent:
		return v1alpha1.StateHeld
	case some.limited:
		return v1alpha1.StateLimited
	}
	return v1alpha1.StateActive
}

// sight is what is so of any cluster.
type sight struct{ refusing, silent, unusable, limited bool }

func (s *sight) add(of *assignment.Site) {
	s.refusing = s.refusing || of.Presence == assignment.Refusing
	s.silent = s.silent || of.Presence == assignment.Silent && of.Standing != taints.Drained
	if of.Presence == assignment.Present && of.Stands > 0 && of.Current > 0 {
		s.unusable, s.limited = s.unusable || !of.ScalingActive, s.limited || of.TooManyReplicas
	}
}

// splitExplained is why bounds were what they were. Why clusters were away is not recorded.
func splitExplained(r *recording.Record) string {
	s := &r.Split.Snapshot
	step, runs := assignment.Next(*s), runsOf(s)
	entries := map[string][]int32{}
	for i := range s.Sites {
		entries[s.Sites[i].Name] = r.Split.Entries[i][:min(len(r.Split.Entries[i]), explanation.MostEntries)]
	}
	e := explanation.OfSplit(&explanation.Split{
		Snapshot: *s, Step: r.Split.Carried(step), Stays: r.Split.Stays, Current: runs.current, Desired: runs.desired,
		Entries: func(cluster string) []int32 { return entries[cluster] },
	})
	text := fmt.Sprintf("%d..%d replicas, split by %s: %s\n", s.Min, s.Max, s.Policy, explain.Because(e.LimitedBy))
	switch {
	case r.Split.Stays:
		text += "  the bounds that were decided before had not come true, so they stay\n"
	case e.Split.Action != "":
		text += "  bounds moved by " + e.Split.Action + "\n"
	}
	return text + outcome(r) + explanation.Text(e)
}
