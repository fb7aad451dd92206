// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Explanation is what the step of [Next] on a snapshot comes from, for people.
type Explanation struct {
	// Terms are where the bounds come from of the sites among whom they were divided. Those of other sites move by the step's action,
	// or not at all.
	Terms map[string]Terms
	// Keeps are the sites whose bounds nobody else gets: they are silent and may be back at once, or refuse. KeptMin and KeptMax are what
	// these come to.
	Keeps            map[string]bool
	KeptMin, KeptMax int64
	// Floor is what the sites in sight keep all the same, together, and Budget what their maxima add up to at most.
	Floor, Budget int64
	// Hosts is how many replicas a site can host in all, where that is known.
	Hosts map[string]int32
}

// Terms are what the bounds of one cluster add up from. Nil: that is not said. The first of Max may be of the source [Before].
type Terms struct{ Min, Max []Term }

// Term is a part of a bound, and where it comes from.
type Term struct {
	Source   Source
	Replicas int64
	// Of is what was left to give when the cluster got its part, and Room the most that it could take.
	Of, Room int64
	// Weight is that of the cluster, and Weights those of all among whom Of was divided; 0: it was not divided by weight. The part is
	// Of*Weight/Weights, rounded down, and one more for some as long as rounding left some; or Room, if that is less.
	Weight, Weights int64
}

// Source is where a part of a bound comes from.
type Source string

// The sources. Where a step moves bounds that are divided already, its [Action] is the source.
const (
	// Whole: every cluster gets the bound whole.
	Whole Source = "Whole"
	// Before: it had that.
	Before Source = "Before"
	// Running: what runs, or the part of the minimum, is not taken away.
	Running Source = "Running"
	// Threshold: a floor comes before what is divided.
	Threshold Source = "Threshold"
	// ByWeight: a share.
	ByWeight Source = "Weight"
	// Equally: a share of what the limits keep from those with a weight.
	Equally Source = "Equal"
	// Hosted: what it is known to be able to host.
	Hosted Source = "Hosted"
	// ToFirst: what nobody is known to be able to host.
	ToFirst Source = "First"
	// AtLeastOne: an autoscaler needs 1.
	AtLeastOne Source = "AtLeastOne"
	// Kept: clusters that are away do not cost it its autoscaler, or its share makes up for what those keep.
	Kept Source = "Kept"
)

// Explain returns what the step that [Next] returns for the same snapshot comes from.
func Explain(s Snapshot) Explanation {
	p := newPlan(s)
	p.asked = true
	floors := p.floors()
	e := Explanation{
		Keeps: map[string]bool{}, KeptMin: p.silent.min, KeptMax: p.silent.max,
		Floor: sum(floors), Budget: p.budget(floors), Hosts: map[string]int32{},
	}
	for _, site := range s.Sites {
		e.Keeps[site.Name] = site.Presence != Present && site.Presence != Leaving && p.counts(site)
		if capacity := p.capacity(site); capacity != nil {
			e.Hosts[site.Name] = *capacity
		}
	}
	p.next()
	if e.Terms = p.why; e.Terms == nil && p.static() {
		e.Terms = p.standing()
	}
	return e
}

// standing are the terms of the split by the spec alone of those sites that have what it gives.
func (p *plan) standing() map[string]Terms {
	all := map[string]Terms{}
	for i, m := range p.members {
		if t, split := p.lastSplit[m.Name]; split && termsSum(t.Min) == p.mins[i] && termsSum(t.Max) == p.maxes[i] {
			all[m.Name] = t
		}
	}
	return all
}

func termsSum(terms []Term) (n int64) {
	for _, t := range terms {
		n += t.Replicas
	}
	return n
}

// from begins to note where numbers come from, if somebody asks; what they begin with is of this source.
func (r *roster) from(source Source, x []int64) {
	if !r.asked {
		return
	}
	r.terms = make([][]Term, len(r.members))
	for i, n := range x {
		r.note(i, Term{Source: source, Replicas: n})
	}
}

// note notes a part of the number at this place.
func (r *roster) note(i int, t Term) {
	if r.terms != nil && t.Replicas != 0 {
		r.terms[i] = append(r.terms[i], t)
	}
}

// noted returns what was noted, and ends it.
func (r *roster) noted() [][]Term {
	terms := r.terms
	r.terms = nil
	return terms
}

// fill is the function of that name, and notes what each gets.
func (r *roster) fill(source Source, total int64, x, limits []int64) (left int64) {
	if r.terms == nil {
		return fill(total, x, limits)
	}
	before := slices.Clone(x)
	left = fill(total, x, limits)
	for i := range x {
		given := x[i] - before[i]
		r.note(i, Term{Source: source, Replicas: given, Of: total, Room: max(0, limits[i]-before[i])})
		total -= given
	}
	return left
}

// round is what was divided, and by which sum of weights, when a claim was settled.
type round struct{ of, weights int64 }

// term is the part that a claim has got in a round.
func (c *claim) term(source Source, got int64, in round) Term {
	return Term{Source: source, Replicas: got, Of: in.of, Room: c.room, Weight: c.weight, Weights: in.weights}
}

// allWhole are the terms of bounds that each cluster gets whole.
func (a *assigner) allWhole(x []int64) [][]Term {
	a.from(Whole, x)
	return a.noted()
}

// termsOf are what the bounds of each cluster add up from; nil: nobody asks.
func (a *assigner) termsOf() map[string]Terms {
	if !a.asked {
		return nil
	}
	all := make(map[string]Terms, len(a.members))
	for i, m := range a.members {
		all[m.Name] = Terms{Min: completed(a.why.min[i], AtLeastOne, a.mins[i]), Max: a.why.max[i]}
	}
	return all
}

// completed are terms that come to n; what they lack is of this source.
func completed(terms []Term, source Source, n int64) []Term {
	if n -= termsSum(terms); n == 0 {
		return terms
	}
	return append(slices.Clip(terms), Term{Source: source, Replicas: n})
}

// explainSplit notes what bounds come from that were split, and then raised for the sake of clusters that others must not harm.
func (p *plan) explainSplit(terms map[string]Terms, bounds map[string]Bounds) {
	for name, t := range terms {
		b := bounds[name]
		terms[name] = Terms{Min: completed(t.Min, Kept, int64(b.Min)), Max: completed(t.Max, Kept, int64(b.Max))}
	}
	p.lastSplit = terms
}

// explainMaxima notes what maxima come from that were divided on top of what clusters had.
func (p *plan) explainMaxima(terms [][]Term) {
	if terms == nil {
		return
	}
	p.why = make(map[string]Terms, len(terms))
	for i, m := range p.members {
		p.why[m.Name] = Terms{Max: terms[i]}
	}
}

// Selecting returns the indices of the entries that select the cluster; none that cannot be read does.
func Selecting(entries []v1alpha1.TargetClusterAutoscalingPreference, cluster ClusterFacts) (indices []int32) {
	for i := range entries {
		if selects, err := Matches(entries[i].TargetCluster, cluster); err == nil && selects {
			indices = append(indices, int32(i))
		}
	}
	return indices
}
