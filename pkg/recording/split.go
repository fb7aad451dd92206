// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"maps"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Split is a decision on the bounds of clusters, in distributed mode.
type Split struct {
	// Snapshot is what it is made of.
	Snapshot assignment.Snapshot
	// Usual is what held where the spec does not say.
	Usual assignment.Usual
	// Entries are the preferences of the spec that select each of the sites, in their order.
	Entries [][]int32
	// Said is what was decided: its action, and of each site what it is to be told.
	Said assignment.Step
	// Stays: the decision before had not come true, and so bounds stay what that one said.
	Stays bool
}

// NewSplit returns the record of a decision on bounds. It shares nothing with what was decided on but the spec.
func NewSplit(object Object, spec *v1alpha1.FederatedHPASpec, generation int64, s *Split) *Record {
	object.Kind = Splits
	own := *s
	own.Snapshot.Memory = *s.Snapshot.Memory.DeepCopy()
	own.Snapshot.Sites = slices.Clone(s.Snapshot.Sites)
	for i := range own.Snapshot.Sites {
		site := &own.Snapshot.Sites[i]
		for _, at := range timesOf(site) {
			*at = cloned(*at)
		}
		site.Ordered, site.Additional, site.Ratios = cloned(site.Ordered), cloned(site.Additional), slices.Clone(site.Ratios)
	}
	own.Said.Sites = maps.Clone(s.Said.Sites)
	r := &Record{Object: object, Spec: spec, Split: &own}
	r.Question.Namespace, r.Question.Generation, r.Question.Now = object.Namespace, generation, s.Snapshot.Now
	r.Question.Spec = spec.HorizontalPodAutoscalerSpec
	return r
}

// Carried is a step as it is carried out: where bounds stay, the clusters that are present keep theirs.
func (s *Split) Carried(step assignment.Step) assignment.Step {
	if !s.Stays {
		return step
	}
	step.Sites = maps.Clone(step.Sites)
	for i := range s.Snapshot.Sites {
		if site := &s.Snapshot.Sites[i]; site.Presence == assignment.Present {
			next := step.Sites[site.Name]
			next.Min, next.Max = site.Min, site.Max
			step.Sites[site.Name] = next
		}
	}
	return step
}

func cloned[T any](of *T) *T {
	if of == nil {
		return nil
	}
	return new(*of)
}

func timesOf(s *assignment.Site) []**time.Time {
	return []**time.Time{&s.UnschedulableSince, &s.SchedulableSince, &s.SaturatedFirst, &s.LastScale}
}

// split goes over the record of a split but for the object and the spec, which has the number spec. What the spec says of the snapshot is
// not written.
func (l *ledger) split(r *Record, spec *int64) {
	if l.reading {
		r.Split = &Split{Said: assignment.Step{Sites: map[string]assignment.SiteStep{}}}
	}
	s := &r.Split.Snapshot
	l.time(&s.Now)
	l.int(&r.Question.Generation)
	l.int(spec)
	number(l, &r.Outcome)
	l.duration(&r.Split.Usual.Window)
	l.float(&r.Split.Usual.Tolerance)
	for _, d := range []*time.Duration{&s.Grace, &s.Rest, &s.WindowStep} {
		l.duration(d)
	}
	l.bool(&s.Changed)
	l.bool(&s.Wanted)
	l.bool(&r.Split.Stays)
	word(l, &r.Split.Said.Action)
	l.memory(&s.Memory)
	upTo(l, mostSites, &s.Sites, l.site)
	upTo(l, mostSites, &r.Split.Entries, func(all *[]int32) { list(l, all, l.int32) })
	for i := range s.Sites {
		site := s.Sites[i].Name
		told := r.Split.Said.Sites[site]
		if l.told(&told); l.reading {
			r.Split.Said.Sites[site] = told
		}
	}
}

// told goes over what a site is to be told.
func (l *ledger) told(t *assignment.SiteStep) {
	l.int32(&t.Min)
	l.int32(&t.Max)
	l.optional(&t.Scale)
	l.bool(&t.Hold)
	l.duration(&t.Window)
	word(l, &t.State)
}

func (l *ledger) memory(m *v1alpha1.AssignmentStatus) {
	l.optional(&m.UnreachableMax)
	l.bool(&m.KeepsRunning)
	for _, t := range []**metav1.Time{&m.UnderloadedSince, &m.DriftingSince, &m.LastScaleFromZeroTime, &m.LastRebalanceTime} {
		if present(l, t) {
			l.time(&(*t).Time)
		}
	}
}

func (l *ledger) site(s *assignment.Site) {
	l.string(&s.Name)
	l.int(&s.Weight)
	for _, n := range []*int32{&s.Priority, &s.Floor, &s.Ceiling} {
		l.int32(n)
	}
	number(l, &s.Presence)
	number(l, &s.Standing)
	word(l, &s.State)
	l.time(&s.Since)
	for _, n := range []*int32{&s.Min, &s.Max, &s.Stands, &s.Current, &s.Ready, &s.Unschedulable, &s.Promised, &s.Desired} {
		l.int32(n)
	}
	l.optional(&s.Ordered)
	l.optional(&s.Additional)
	for _, b := range []*bool{&s.Asleep, &s.Balks, &s.GivenUp, &s.Recovered, &s.ScalingActive, &s.TooManyReplicas, &s.Steady} {
		l.bool(b)
	}
	for _, t := range timesOf(s) {
		if present(l, t) {
			l.time(*t)
		}
	}
	list(l, &s.Ratios, l.int)
}

// word is a text of a type of its own.
func word[T ~string](l *ledger, of *T) {
	text := string(*of)
	l.string(&text)
	*of = T(text)
}

// completeSplit fills in what the spec says. It reports whether a decision can be made of the record: who decided may have read a status
// that somebody else had written.
func (r *Record) completeSplit() bool {
	s := &r.Split.Snapshot
	if a := r.Spec.FederatedHPAAssignment; a == nil || len(r.Split.Entries) != len(s.Sites) {
		return false
	}
	s.UID = r.Object.UID
	s.Follow(r.Spec, r.Split.Usual)
	r.Question.Now = s.Now
	seen := map[string]bool{}
	for i := range s.Sites {
		site := &s.Sites[i]
		if seen[site.Name] || !sound(site) {
			return false
		}
		seen[site.Name] = true
	}
	return s.Min >= 0 && s.Max >= 0 && s.Policy != assignment.LoadWeighted
}

// sound: the numbers are such as clusters have.
func sound(s *assignment.Site) bool {
	least := min(s.Floor, s.Ceiling, s.Min, s.Max, s.Stands, s.Current, s.Ready, s.Unschedulable, s.Promised, s.Desired)
	for _, optional := range []*int32{s.Ordered, s.Additional} {
		least = min(least, ptr.Deref(optional, 0))
	}
	return least >= 0 && s.Weight >= 0 && s.Weight <= math.MaxInt32 && s.Floor <= s.Ceiling && s.Min <= s.Max &&
		s.Presence >= assignment.Present && s.Presence <= assignment.Leaving && s.Standing >= taints.Free && s.Standing <= taints.Drained &&
		!slices.ContainsFunc(s.Ratios, func(ratio int64) bool { return ratio < 0 })
}
