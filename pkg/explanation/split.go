// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// BasisSplit is the basis of what is decided in distributed mode.
const BasisSplit = "Split"

// What keeps bounds from moving.
const (
	LimitAway         = "ClustersAway"
	LimitAllSaturated = "AllSaturated"
	LimitThresholds   = "Thresholds"
	LimitNothing      = "Settled"
)

// How a cluster takes part.
const (
	PartSilent   = "Silent"
	PartRefusing = "Refusing"
	PartLeaving  = "Leaving"
)

// sourceWithdrawn is of bounds that a cluster was given and had not got yet, and that are too much; sourceExcluded of those of one that
// takes no part any more.
const (
	sourceWithdrawn = "Withdrawn"
	sourceExcluded  = "Excluded"
)

// Split is a decision on the bounds of clusters, and what it was made of.
type Split struct {
	// Snapshot is what was decided on, and Step what was decided, as it is carried out. Stays: the step before has not come true yet, so
	// bounds are what it says.
	Snapshot assignment.Snapshot
	Step     assignment.Step
	Stays    bool
	// Current are the replicas that run, and Desired those that the autoscalers want.
	Current, Desired int32
	// Why says in a word why a cluster does not take part fully; Entries which of the preferences select it.
	Why     func(cluster string) string
	Entries func(cluster string) []int32
	// Before is what was stored last, whose terms go on.
	Before *v1alpha1.DecisionExplanation
}

// SplitLimitedBy is what keeps bounds from moving.
func SplitLimitedBy(step *assignment.Step) string {
	switch {
	case step.Still:
		return LimitAway
	case step.AllSaturated:
		return LimitAllSaturated
	case step.Unassigned > 0:
		return LimitThresholds
	}
	return LimitNothing
}

// OfSplit returns what is stored of a split.
func OfSplit(d *Split) *v1alpha1.DecisionExplanation {
	from := assignment.Explain(d.Snapshot)
	s := &v1alpha1.SplitExplanation{
		Policy: string(d.Snapshot.Policy), Min: d.Snapshot.Min, Max: d.Snapshot.Max,
		KeptMin: from.KeptMin, KeptMax: from.KeptMax, Floor: from.Floor, Budget: from.Budget, Unassigned: d.Step.Unassigned,
	}
	if d.Before != nil && d.Before.Split != nil {
		s.Action, s.Moved = d.Before.Split.Action, d.Before.Split.Moved
	}
	if d.Step.Action != "" && d.moves() {
		s.Action, s.Moved = string(d.Step.Action), &metav1.MicroTime{Time: d.Snapshot.Now.Truncate(time.Microsecond)}
	}
	e := &v1alpha1.DecisionExplanation{
		Time:            metav1.NewMicroTime(d.Snapshot.Now.Truncate(time.Microsecond)),
		Basis:           BasisSplit,
		LimitedBy:       SplitLimitedBy(&d.Step),
		CurrentReplicas: d.Current,
		DesiredReplicas: d.Desired,
		Split:           s,
	}
	all := d.clusters(&from)
	for most := mostClusters; ; most /= 2 {
		if s.Clusters, s.Others = all[:min(len(all), most)], othersOf(all[min(len(all), most):]); most == 0 || !tooLong(e) {
			return e
		}
	}
}

// moves: a cluster gets other bounds than it had.
func (d *Split) moves() bool {
	return slices.ContainsFunc(d.Snapshot.Sites, func(s assignment.Site) bool {
		next := d.Step.Sites[s.Name]
		return next.Min != s.Min || next.Max != s.Max
	})
}

// clusters are all: those that are away first, then those with the greatest maxima, and those that take no part last.
func (d *Split) clusters(from *assignment.Explanation) []v1alpha1.ClusterSplit {
	all := make([]v1alpha1.ClusterSplit, 0, len(d.Snapshot.Sites))
	for i := range d.Snapshot.Sites {
		all = append(all, d.cluster(&d.Snapshot.Sites[i], from))
	}
	order := func(c *v1alpha1.ClusterSplit) int {
		switch c.Part {
		case "":
			return 1
		case PartLeaving:
			return 2
		}
		return 0
	}
	slices.SortFunc(all, func(a, b v1alpha1.ClusterSplit) int {
		return cmp.Or(cmp.Compare(order(&a), order(&b)), cmp.Compare(b.Max, a.Max), strings.Compare(a.Name, b.Name))
	})
	return all
}

func (d *Split) cluster(s *assignment.Site, from *assignment.Explanation) v1alpha1.ClusterSplit {
	next := d.Step.Sites[s.Name]
	c := v1alpha1.ClusterSplit{
		Name: s.Name, Part: partOf(s.Presence), Standing: s.Standing.String(), Keeps: from.Keeps[s.Name], Held: next.Hold, Balks: s.Balks,
		Min: next.Min, Max: next.Max, Runs: s.Current, Ready: s.Ready, Waiting: s.Unschedulable, Floor: s.Floor,
	}
	if d.Why != nil {
		c.Why = summary.Brief(d.Why(s.Name), longestReason)
	}
	if d.Entries != nil {
		c.Entries = d.Entries(s.Name)
	}
	if hosts, known := from.Hosts[s.Name]; known && d.Snapshot.Policy.ByCapacity() {
		c.Hosts = &hosts
	}
	if len(s.Ratios) > 0 {
		c.Load = new(slices.Max(s.Ratios))
	}
	if s.Ceiling != math.MaxInt32 {
		c.Ceiling = &s.Ceiling
	}
	switch d.Snapshot.Policy {
	case assignment.StaticWeighted:
		c.Weight = s.Weight
	case assignment.Prioritized:
		c.Priority = s.Priority
	}
	var minima, maxima []v1alpha1.BoundTerm
	if before := d.before(s.Name); before != nil {
		minima, maxima = before.MinTerms, before.MaxTerms
	}
	divided := assignment.Terms{}
	if !d.Stays {
		divided = from.Terms[s.Name]
	}
	c.MinTerms = d.terms(divided.Min, minima, s, s.Min, next.Min)
	c.MaxTerms = d.terms(divided.Max, maxima, s, s.Max, next.Max)
	return c
}

// before is what was stored of a cluster.
func (d *Split) before(cluster string) *v1alpha1.ClusterSplit {
	if d.Before == nil || d.Before.Split == nil {
		return nil
	}
	clusters := d.Before.Split.Clusters
	if i := slices.IndexFunc(clusters, func(c v1alpha1.ClusterSplit) bool { return c.Name == cluster }); i >= 0 {
		return &clusters[i]
	}
	return nil
}

func partOf(p assignment.Presence) string {
	return map[assignment.Presence]string{
		assignment.Silent: PartSilent, assignment.Refusing: PartRefusing, assignment.Leaving: PartLeaving,
	}[p]
}

// mostTerms is how many terms a bound has.
const mostTerms = 8

// terms are what a bound adds up from: what was divided now, or else what it was before, which is made of terms that were stored; and
// what moved.
func (d *Split) terms(divided []assignment.Term, stored []v1alpha1.BoundTerm, s *assignment.Site, was, is int32) []v1alpha1.BoundTerm {
	if is == 0 {
		return nil
	}
	if total(stored) != int64(was) {
		stored = []v1alpha1.BoundTerm{{From: string(assignment.Before), Replicas: was}}
	}
	var terms []v1alpha1.BoundTerm
	if divided == nil {
		terms = slices.Clone(stored)
	}
	for i := range divided {
		if i == 0 && divided[i].Source == assignment.Before {
			terms = slices.Clone(stored)
			continue
		}
		terms = append(terms, termOf(&divided[i]))
	}
	terms = add(terms, d.mover(s), int64(is)-total(terms))
	terms = slices.DeleteFunc(terms, func(t v1alpha1.BoundTerm) bool { return t.Replicas == 0 })
	if over := len(terms) - mostTerms; over > 0 {
		first := v1alpha1.BoundTerm{From: string(assignment.Before), Replicas: int32(total(terms[:over+1]))}
		terms = append([]v1alpha1.BoundTerm{first}, terms[over+1:]...)
	}
	return terms
}

// mover is what moves a bound that is divided already.
func (d *Split) mover(s *assignment.Site) string {
	switch {
	case s.Presence == assignment.Leaving:
		return sourceExcluded
	case d.Stays || d.Step.Action == "":
		return sourceWithdrawn
	}
	return string(d.Step.Action)
}

// add adds n to the term that was moved by the same, or as one more.
func add(terms []v1alpha1.BoundTerm, from string, n int64) []v1alpha1.BoundTerm {
	if n == 0 {
		return terms
	}
	if i := slices.IndexFunc(terms, func(t v1alpha1.BoundTerm) bool { return t.From == from }); i >= 0 {
		terms[i].Replicas += int32(n)
		return terms
	}
	return append(terms, v1alpha1.BoundTerm{From: from, Replicas: int32(n)})
}

func total(terms []v1alpha1.BoundTerm) (n int64) {
	for i := range terms {
		n += int64(terms[i].Replicas)
	}
	return n
}

func termOf(t *assignment.Term) v1alpha1.BoundTerm {
	b := v1alpha1.BoundTerm{From: string(t.Source), Replicas: int32(t.Replicas), Of: t.Of, Weight: t.Weight, Weights: t.Weights}
	switch {
	case t.Weights > 0:
		if quota := quotaOf(&b); t.Replicas != quota && t.Replicas != quota+1 {
			b.Room = &t.Room
		}
	case t.Of > 0:
		b.Room = &t.Room
	}
	return b
}

// quotaOf is what a share comes to, rounded down.
func quotaOf(t *v1alpha1.BoundTerm) int64 {
	high, low := bits.Mul64(uint64(t.Of), uint64(t.Weight))
	if high >= uint64(t.Weights) {
		return math.MaxInt64
	}
	quota, _ := bits.Div64(high, low, uint64(t.Weights))
	return int64(min(quota, math.MaxInt64))
}

// othersOf adds up clusters.
func othersOf(all []v1alpha1.ClusterSplit) *v1alpha1.OtherSplit {
	if len(all) == 0 {
		return nil
	}
	o := &v1alpha1.OtherSplit{Clusters: int32(len(all))}
	for i := range all {
		c := &all[i]
		o.Runs += int64(c.Runs)
		switch {
		case c.Part == "":
			o.Min, o.Max = o.Min+int64(c.Min), o.Max+int64(c.Max)
		case c.Keeps:
			o.KeptMin, o.KeptMax = o.KeptMin+int64(c.Min), o.KeptMax+int64(c.Max)
		}
	}
	return o
}
