// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"fmt"
	"slices"
	"time"
)

// expect notes that a property does not hold.
func (w *world) expect(ok bool, property, format string, args ...any) {
	if !ok && w.faults[property] == "" {
		w.faults[property] = fmt.Sprintf("%v: ", w.now.Sub(noon)) + fmt.Sprintf(format, args...)
	}
}

// restarting reports whether its kubelet is to restart it, now or later.
func (p *resident) restarting() bool { return p.restarts && p.Resize != ResizeInfeasible }

// restless reports whether replicas moved in the last minute.
func (s *site) restless() bool { return s.now.Sub(s.scaled) < time.Minute }

// down is how many of the replicas are not there for their users, or will not be by our doing.
func (s *site) down() int {
	n := max(0, s.replicas-len(s.pods))
	for _, p := range s.pods {
		if !p.Ready || p.restarting() {
			n++
		}
	}
	return n
}

// judgePlan judges what is planned, before any of it is done.
func (w *world) judgePlan(clusters []ClusterPods, moves []Move) {
	dark := slices.ContainsFunc(w.sites, func(s *site) bool { return s.silent })
	evicting := map[string]bool{}
	for _, s := range w.sites {
		if len(s.out)+len(s.waiting) > 0 && !s.silent && w.policy.OneByOne {
			evicting[s.name] = true
		}
	}
	begun := len(evicting)
	for n, s := range w.sites {
		sent, seen, down, ready := map[Way]int{}, map[string]bool{}, s.down(), 0
		for _, p := range s.pods {
			if p.Ready && !p.restarting() {
				ready++
			}
		}
		for _, m := range moves {
			if m.Cluster != s.name {
				continue
			}
			p := s.of(m.Pod.UID)
			w.expect(p != nil && !seen[m.Pod.UID], untouchable, "moved twice, or not there")
			if p == nil {
				continue
			}
			seen[m.Pod.UID] = true
			sent[m.Way]++
			w.expect(!p.Outdated, untouchable, "a Pod of an old template is changed")
			w.expect(!s.silent, knowledge, "a Pod of a silent cluster is changed")
			less, restarts := s.judgeMove(p, m)
			w.expect(!s.restless() || !less && !restarts && m.Way != WayEvict, patience, "%s, while replicas move: less %t, restarts %t",
				m.Way, less, restarts)
			w.expect(!dark || !less || m.Way == WayWithdraw, knowledge, "%s to less, while a cluster is silent", m.Way)
			if m.Way == WayEvict {
				evicting[s.name] = true
			}
			if (m.Way == WayEvict || restarts) && p.Ready && !p.restarting() {
				w.expect(ready >= s.budget.MinReplicas, budgets, "one of %d that are Ready is disrupted, %d at least", ready, s.budget.MinReplicas)
				down, ready = down+1, ready-1
				w.expect(down <= s.budget.MaxUnavailable, budgets, "%d are not available, of %d at most", down, s.budget.MaxUnavailable)
			}
		}
		w.expect(sent[WayEvict] <= s.budget.Evictions && sent[WayResize]+sent[WayWithdraw] <= s.budget.Resizes, budgets, "sent: %v", sent)
		s.judgeUrgency(clusters[n], moves, sent)
	}
	w.expect(!w.policy.OneByOne || len(evicting) <= max(1, begun), oneByOne, "%v evict", evicting)
}

// judgeMove judges one move, and tells whether it makes something less, and restarts something.
func (s *site) judgeMove(p *resident, m Move) (less, restarts bool) {
	if m.Way == WayEvict {
		s.expect(p.Scheduled && !p.Static, untouchable, "a Pod without node, or a static one, is evicted")
		s.expect(s.means.Admits && s.failures < 2 && s.now.Sub(s.written) >= 10*time.Second, effective,
			"evicted, and %d new ones did not get their size", s.failures)
		s.expect(!s.now.Before(s.backOff[p.UID]), once, "evicted, though it was refused a moment ago")
		for n, c := range p.Containers {
			new := m.Pod.Containers[n].New.Requests
			for r := range resources {
				less = less || new[r] >= 0 && new[r] < c.Requests[r]
			}
		}
		return less, false
	}
	s.expect(!p.Static && (p.Resizable || !p.Scheduled), legal, "a Pod is resized that cannot be")
	guaranteed := true
	for n, to := range m.Resize.Containers {
		c := &p.Containers[n]
		for r := range resources {
			request, limit := to.Requests[r], to.Limits[r]
			s.expect(limit < 0 || request <= limit, legal, "%s: a request of %d, and a limit of %d", m.Way, request, limit)
			s.expect(limit >= 0 || c.Limits[r] < 0, legal, "%s: a limit is taken away", m.Way)
			guaranteed = guaranteed && limit > 0 && limit == request
			fewer := request < c.Requests[r] || limit >= 0 && (c.Limits[r] < 0 || limit < c.Limits[r])
			less = less || fewer
			restarts = restarts || c.Restarts[r] && m.Way == WayResize && (request != c.Requests[r] || limit != c.Limits[r])
			if m.Way == WayResize && limit >= 0 {
				goal := s.template.Containers[n].GoalLimit[r]
				s.expect(limit >= min(goal, max(c.Limits[r], 0)) && (c.Limits[r] >= 0 || limit >= goal), goalLimits,
					"a limit of %d hides what a goal of %d measures, before it was %d", limit, goal, c.Limits[r])
				lower := r == Memory && (c.Limits[r] < 0 || limit < c.Limits[r])
				s.expect(!lower || limit*100 >= c.Peak*120, legal, "a limit of %d of memory, and a peak of %d", limit, c.Peak)
			}
		}
	}
	s.expect(guaranteed == (p.Class == Guaranteed), legal, "%s: the class changes", m.Way)
	if was, ok := s.refused[p.UID]; ok && m.Way == WayResize {
		sum := p.together(m.Resize)
		s.expect(!sum.covers(was) || p.requested().covers(was) && !p.requested().covers(sum), once,
			"%v once more, after %v was refused", sum, was)
	}
	return less, restarts
}

// judgeUrgency judges that what is urgent is done, if it can be, whatever else waits.
func (s *site) judgeUrgency(c ClusterPods, moves []Move, sent map[Way]int) {
	if s.silent || !slices.Contains([]Mode{ModeInPlace, ModeInPlaceOrRecreate}, s.policy.Mode) ||
		sent[WayResize]+sent[WayWithdraw] >= s.budget.Resizes {
		return
	}
	for n := range c.Pods {
		p, is := c.Pods[n], s.of(c.Pods[n].UID)
		if is == nil || is.Outdated || is.Resize != ResizeNone || slices.ContainsFunc(moves, func(m Move) bool { return m.Pod.UID == is.UID }) {
			continue
		}
		p.Outdated, p.Containers = false, slices.Clone(p.Containers)
		for k := range p.Containers {
			own := &is.Containers[k]
			p.Containers[k].OOM, p.Containers[k].QuickOOM, p.Containers[k].Pressed = own.OOM, own.QuickOOM, own.Pressed
		}
		r, refused := p.inPlace(part{urgent: true, noLess: true, noRestart: true})
		s.expect(refused != "" || !r.Grows, urgency, "Pod %s was killed, or is pressed, and does not grow", p.Name)
	}
}

// judgeEntry judges what is written for new Pods.
func (s *site) judgeEntry() {
	if s.silent {
		return
	}
	for _, fault := range illegal(s.template, s.room, s.template.as(s.entry)) {
		s.expect(false, created, "%s: %+v", fault, s.entry)
	}
}

// noteNew counts Pods that were created without the size that is written, though that was settled before the last reconcile.
func (s *site) noteNew() {
	if s.silent {
		return
	}
	for _, p := range s.pods {
		if p.processed {
			continue
		}
		switch p.processed = true; {
		case s.looks < 2 || p.Outdated:
		case p.Sized:
			if s.failures < 2 {
				s.failures = 0
			}
		default:
			s.failures++
		}
	}
}

// judgeState judges what is there once all has been done that was planned.
func (s *site) judgeState(moves []Move) {
	for _, m := range moves {
		p := s.of(m.Pod.UID)
		if m.Cluster != s.name || p == nil || m.Way == WayEvict {
			continue
		}
		var planned, is Amounts
		for n := range p.Containers {
			for r := range resources {
				is[r] += p.Containers[n].Requests[r] - p.before[n].Requests[r]
				planned[r] += m.Resize.Containers[n].Requests[r] - m.Pod.Containers[n].Requests[r]
			}
		}
		s.expect(p.unsent || is == planned, conserved, "requests change by %v, and %v was planned", is, planned)
	}
}

// judgeOrder judges that the order of what is given does not show.
func (w *world) judgeOrder(clusters []ClusterPods, moves []Move) {
	want := told(moves)
	other := slices.Clone(clusters)
	w.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	for n := range other {
		pods := slices.Clone(other[n].Pods)
		w.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		other[n].Pods = pods
	}
	got := told(w.plan(other))
	w.expect(slices.Equal(got, want), anyOrder, "%v, in another order %v", want, got)
}

// judgeRestarted judges what would be done by one that was restarted: nothing is evicted and nothing shrinks at once, and after a
// while all is the same, but for what is lost on purpose.
func (w *world) judgeRestarted(moves, restarted []Move) {
	same := true
	for _, s := range w.sites {
		for _, m := range restarted {
			if m.Cluster == s.name && s.age == 0 {
				w.expect(m.Way != WayEvict && (m.Way == WayWithdraw || !m.Resize.Shrinks), restart, "%s at once", m.Way)
			}
		}
		same = same && s.age > 12 && len(s.refused)+len(s.backOff) == 0 && !s.bare && len(s.past.infeasible()) == 0
	}
	if same && len(moves) > 0 {
		w.compared++
	}
	w.expect(!same || slices.Equal(told(moves), told(restarted)), restart, "%v, and without a restart %v", told(restarted), told(moves))
}

// infeasible are the Pods of which it is remembered.
func (m *Past) infeasible() (uids []string) {
	for uid, p := range m.pods {
		if p.infeasible != none() {
			uids = append(uids, uid)
		}
	}
	return uids
}
