// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

const (
	// mostOfKind is how many autoscalers of a kind are kept.
	mostOfKind = 10_000
	// mostMembers is how many members are.
	mostMembers = 4_000
	// mostPoints is how many points are kept of one autoscaler: at one in 15 s, those of 4 hours.
	mostPoints = 1_000
	// mostWeight is how many values the points of all autoscalers may have together: some 20 MiB.
	mostWeight = 1 << 20
)

// seen is what was read of the hub, and since when.
type seen struct {
	hub    string
	reader *reader // nil: whose page it is
	since  time.Time
	now    func() time.Time

	mu      sync.Mutex
	members []member
	rows    map[string]row
	counts  map[string]int // of rows, by kind
	objects map[string]client.Object
	pasts   map[string]*past
	weight  int
	most    int // how much that may be
	loading map[string]bool
	notices map[string]string
	changed chan struct{} // closed at the next change
}

// past are the points of one autoscaler, the oldest first.
type past struct {
	points []point
	weight int
}

func newSeen(hub string, now func() time.Time) *seen {
	s := &seen{
		hub: hub, since: now(), now: now, rows: map[string]row{}, counts: map[string]int{},
		objects: map[string]client.Object{}, pasts: map[string]*past{}, most: mostWeight,
		loading: map[string]bool{aboutMembers: true}, notices: map[string]string{}, changed: make(chan struct{}),
	}
	for _, k := range kinds {
		s.loading[k.plural()] = true
	}
	return s
}

// aboutMembers is what notices call members.
const aboutMembers = "Members"

// change runs a change, of which everybody is told.
func (s *seen) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// trouble says why a kind is not shown, or only in part; empty: it is.
func (s *seen) trouble(about, text string) {
	s.change(func() {
		delete(s.loading, about)
		s.note(about, text)
	})
}

func (s *seen) note(about, text string) {
	delete(s.notices, about)
	if text != "" {
		s.notices[about] = text
	}
}

func (s *seen) setMembers(all []member) {
	s.change(func() {
		delete(s.loading, aboutMembers)
		s.note(aboutMembers, beyond(len(all), mostMembers))
		s.members = all[:min(len(all), mostMembers)]
	})
}

func beyond(n, most int) string {
	if n <= most {
		return ""
	}
	return "There are more than can be shown."
}

// put keeps an object as it is now.
func (s *seen) put(object client.Object) { s.change(func() { s.keep(object) }) }

// putUnreadable keeps that there is one that nobody should decode.
func (s *seen) putUnreadable(k kind, object metav1.Object, why error) {
	s.change(func() { s.keepUnreadable(k, object, why) })
}

// remove forgets an object, with its past.
func (s *seen) remove(id string) { s.change(func() { s.forget(id) }) }

// listed is what a list has.
type listed struct {
	objects    []client.Object
	unreadable map[metav1.Object]error
	// trouble is why it is not all there is; empty: it is.
	trouble string
}

// replace keeps what a list of a kind has, and no others.
func (s *seen) replace(k kind, list listed) {
	s.change(func() {
		delete(s.loading, k.plural())
		s.note(k.plural(), list.trouble)
		stays := map[string]bool{}
		for _, object := range list.objects {
			stays[k.id(object.GetNamespace(), object.GetName())] = true
		}
		for object := range list.unreadable {
			stays[k.id(object.GetNamespace(), object.GetName())] = true
		}
		for id := range s.rows {
			if s.rows[id].Kind == k.name && !stays[id] {
				s.forget(id)
			}
		}
		for _, object := range list.objects {
			s.keep(object)
		}
		for object, why := range list.unreadable {
			s.keepUnreadable(k, object, why)
		}
	})
}

func (s *seen) keep(object client.Object) {
	now := s.now()
	r := rowOf(object, now)
	if !s.enter(r) {
		return
	}
	s.objects[r.ID] = object
	if p, drawn := pointOf(object, now); drawn {
		s.remember(r.ID, p)
	}
}

func (s *seen) keepUnreadable(k kind, object metav1.Object, why error) {
	if r := unreadableRow(k, object, why); s.enter(r) {
		delete(s.objects, r.ID)
	}
}

// enter keeps a row, unless there are too many of its kind.
func (s *seen) enter(r row) bool {
	if _, known := s.rows[r.ID]; !known {
		if s.counts[r.Kind] >= mostOfKind {
			s.note(r.Kind+"s", beyond(mostOfKind+1, mostOfKind))
			return false
		}
		s.counts[r.Kind]++
	}
	s.rows[r.ID] = r
	return true
}

func (s *seen) forget(id string) {
	if r, known := s.rows[id]; known {
		s.counts[r.Kind]--
	}
	delete(s.rows, id)
	delete(s.objects, id)
	if p := s.pasts[id]; p != nil {
		s.weight -= p.weight
		delete(s.pasts, id)
	}
}

// remember adds a point, unless it says what the last one does. Where points are too many, the longest past loses a quarter.
func (s *seen) remember(id string, p point) {
	of := s.pasts[id]
	if of == nil {
		of = &past{}
		s.pasts[id] = of
	}
	if n := len(of.points); n > 0 && of.points[n-1].says(p) {
		return
	}
	of.points = append(of.points, p)
	of.weight += p.weight()
	s.weight += p.weight()
	if len(of.points) > mostPoints {
		s.shorten(of)
	}
	for s.weight > s.most {
		longest := of
		for _, other := range s.pasts {
			if other.weight > longest.weight {
				longest = other
			}
		}
		s.shorten(longest)
	}
}

func (s *seen) shorten(of *past) {
	lost := max(1, len(of.points)/4)
	for i := range lost {
		of.weight -= of.points[i].weight()
		s.weight -= of.points[i].weight()
	}
	of.points = slices.Clone(of.points[lost:])
}

// look returns all that there is, and what is closed once there is something else.
func (s *seen) look() (snapshot, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := snapshot{
		Now: s.now().UnixMilli(), Since: s.since.UnixMilli(), Hub: s.hub, Reader: s.reader,
		Loading: slices.Sorted(maps.Keys(s.loading)), Notices: []notice{},
		Members: slices.Clone(s.members), Autoscalers: slices.Collect(maps.Values(s.rows)),
	}
	if all.Loading == nil {
		all.Loading = []string{}
	}
	for _, about := range slices.Sorted(maps.Keys(s.notices)) {
		all.Notices = append(all.Notices, notice{about, s.notices[about]})
	}
	slices.SortFunc(all.Autoscalers, func(a, b row) int { return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.ID, b.ID)) })
	return all, s.changed
}

// about returns what is known of one autoscaler; false: there is none, or nobody should decode it.
func (s *seen) about(id string) (known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, found := s.objects[id]
	if !found {
		return known{}, false
	}
	k := known{Object: object, Now: s.now()}
	if of := s.pasts[id]; of != nil {
		k.Points = slices.Clone(of.points)
	}
	for _, other := range s.objects {
		if rules, is := other.(*v1alpha1.CronFederatedHPA); is && rules.Namespace == object.GetNamespace() {
			k.Rules = append(k.Rules, rules)
		}
	}
	k.Target = s.target(object)
	return k, true
}

// target is what the autoscaler has whose bounds a CronFederatedHPA sets. The zero value: it is none, or sets something else.
func (s *seen) target(object client.Object) cronplan.Target {
	rules, is := object.(*v1alpha1.CronFederatedHPA)
	if !is || !cronplan.TargetsAutoscaler(rules) {
		return cronplan.Target{}
	}
	for _, k := range kinds {
		if to := s.objects[k.id(rules.Namespace, rules.Spec.ScaleTargetRef.Name)]; to != nil && k.name == rules.Spec.ScaleTargetRef.Kind {
			return cronplan.BoundsOf(to)
		}
	}
	return cronplan.Target{Trouble: cronplan.Unreadable(rules.Spec.ScaleTargetRef, errNotSeen)}
}
