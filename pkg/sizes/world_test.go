// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// world are the Pods of a workload in some clusters, and all that happens to them by chance: load, kills, rollouts, kubelets that
// defer or refuse, budgets of others, clusters that cannot be seen. A step is a minute. The workload is sized by what is tested.
type world struct {
	*rand.Rand
	blind  fault
	policy Policy
	now    time.Time
	sites  []*site
	born   int
	faults map[string]string // by property, the first
	moved  map[Way]int
	// compared is how many plans there were that are the same after a restart.
	compared int
}

// site is one cluster.
type site struct {
	*world
	name     string
	pods     []*resident
	replicas int
	minimum  int
	budget   Budget
	means    Means
	bare     bool // what is written has no effect
	template Template
	room     Room
	silent   bool
	version  int
	written  time.Time
	entry    []NewContainer
	history  time.Duration
	past     Past
	twin     Past // was restarted some time ago
	age      int  // looks since then

	scaled   time.Time            // when replicas changed
	out      map[string]bool      // UIDs of Pods that were evicted, until each is gone and replaced
	waiting  map[string]bool      // of Pods that were created since, and were not Ready yet
	refused  map[string]Amounts   // by UID: what did not come to be
	backOff  map[string]time.Time // by UID
	looks    int                  // at the cluster since what is written changed
	failures int                  // new Pods in a row, created without their size since that was settled
}

// resident is a Pod.
type resident struct {
	Running
	wakes     time.Time   // when it is Ready again
	restarts  bool        // the resize under way restarts it
	processed bool        // its creation was noted by the judge
	before    []Resources // what it had before the last move
	unsent    bool        // the last move failed
}

func newWorld(seed uint64, blind fault) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 9)), blind: blind, now: noon, faults: map[string]string{}, moved: map[Way]int{}}
	w.policy = Policy{Mode: ModeInPlace + Mode(w.IntN(4)), EvictOn: EvictOn(w.IntN(4) % 3), OneByOne: w.one(2), Deferred: 5 * time.Minute,
		InProgress: 20 * time.Minute, ActAfter: time.Duration(w.IntN(2)*w.IntN(40)) * time.Minute}
	for n := range 1 + w.IntN(3) {
		w.sites = append(w.sites, w.site(string(rune('x'+n))))
	}
	return w
}

func (w *world) one(in int) bool { return w.IntN(in) == 0 }

func (w *world) site(name string) *site {
	s := &site{world: w, name: name, replicas: 1 + w.IntN(8), minimum: 1 + w.IntN(4), bare: w.one(4), room: Unlimited(),
		budget: Budget{MinReplicas: 1 + w.IntN(3), MaxUnavailable: 1 + w.IntN(3), Resizes: 1 + w.IntN(8), Evictions: 1 + w.IntN(3)},
		means:  Means{Admits: !w.one(6), InPlace: !w.one(8)}, out: map[string]bool{}, waiting: map[string]bool{},
		refused: map[string]Amounts{}, backOff: map[string]time.Time{}, history: time.Duration(w.IntN(60)) * time.Minute, scaled: w.now}
	if w.one(3) {
		s.room.Container.Max = Amounts{600, 6000}
	}
	s.template.Guaranteed, s.template.Fixed = w.one(4), Resources{none(), none()}
	for n := range 1 + w.IntN(2) {
		c := container()
		c.Name, c.Resources = string(rune('a'+n)), Resources{Amounts{100, 1000}, none()}
		switch {
		case s.template.Guaranteed:
			c.Limits = c.Requests
		case w.one(2):
			c.Limits, c.LimitsFollow = Amounts{300, 2000}, [2]bool{w.one(2), w.one(2)}
		}
		if w.one(2) {
			c.GoalFloor[CPU], c.GoalLimit[CPU] = 120, 144
		}
		s.template.Containers = append(s.template.Containers, c)
	}
	s.advise()
	for range s.replicas {
		p := s.bear()
		p.Ready, p.processed, p.Started = p.Scheduled, true, w.now.Add(-time.Duration(w.IntN(24))*time.Hour)
	}
	return s
}

// advise has the advice be another.
func (s *site) advise() {
	for n := range s.template.Containers {
		c := &s.template.Containers[n]
		target := Amounts{20 + s.Int64N([]int64{60, 400}[s.IntN(2)]), 200 + s.Int64N(4000)}
		c.Advice = Advice{Target: target,
			Lower: Amounts{target[CPU] / 2, target[Memory] / 2}, Upper: Amounts{target[CPU] * 2, target[Memory] * 2}}
	}
}

// bear makes a Pod as the cluster's API server creates it.
func (s *site) bear() *resident {
	s.born++
	p := &resident{Running: Running{UID: fmt.Sprint(s.born), Name: fmt.Sprint(s.name, s.born), Started: s.now, Scheduled: !s.one(12),
		Resizable: !s.one(8), Fixed: none(), Infeasible: none(), Static: s.one(40), Node: Amounts{1000, 20000}}}
	if s.one(2) {
		p.Node = Amounts{2000, 40000}
	}
	p.wakes = s.now.Add(time.Duration(s.IntN(4)) * time.Minute)
	if s.template.Guaranteed {
		p.Class = Guaranteed
	}
	for _, c := range s.template.Containers {
		k := RunningContainer{Name: c.Name, Resources: c.Resources, Peak: s.Int64N(1500), Restarts: [2]bool{s.one(4), s.one(4)}}
		if at := slices.IndexFunc(s.entry, func(e NewContainer) bool { return e.Name == c.Name }); at >= 0 && !s.bare && !s.written.IsZero() {
			p.Sized = true
			for r := range resources {
				request, limit := s.entry[at].Requests[r], s.entry[at].Limits[r]
				if limit >= 0 {
					k.Limits[r] = limit
				}
				if request >= 0 {
					k.Requests[r] = bound{amount: k.Limits[r]}.apply(request)
				}
			}
		}
		k.Actual = k.Resources
		p.Containers = append(p.Containers, k)
	}
	s.pods = append(s.pods, p)
	if len(s.out)+len(s.waiting) > 0 {
		s.waiting[p.UID] = true
	}
	return p
}

// happen is a minute of what is not ours to decide.
func (s *site) happen(calm bool) {
	s.history += time.Minute
	for _, p := range s.pods {
		s.live(p, calm)
	}
	if !calm {
		s.disturb()
	}
	for len(s.pods) > s.replicas {
		s.pods = slices.Delete(s.pods, s.replicas, len(s.pods))
	}
	for len(s.pods) < s.replicas && !s.one(4) {
		s.bear()
	}
	there := map[string]bool{}
	for _, p := range s.pods {
		if there[p.UID] = true; p.Ready {
			delete(s.waiting, p.UID)
		}
	}
	for uid := range s.waiting {
		if !there[uid] {
			delete(s.waiting, uid)
		}
	}
	for uid := range s.out {
		if !there[uid] && len(s.out) > s.replicas-len(s.pods) {
			delete(s.out, uid)
		}
	}
}

func (s *site) disturb() {
	if s.one(6) {
		s.advise()
	}
	if s.one(6) {
		was := s.replicas
		if s.replicas = max(1, was+s.IntN(5)-2); s.replicas != was {
			s.scaled = s.now
		}
	}
	if s.one(20) {
		s.silent = !s.silent
	}
	if s.one(15) && len(s.entry) > 0 { // what stands for new Pods is suddenly too much
		s.room.Container.Max[CPU] = s.entry[0].Requests[CPU] - 1
	}
	s.silent = s.silent && !s.one(4)
	if s.one(30) {
		for _, p := range s.pods {
			p.Outdated = s.one(2)
		}
	}
}

// live is a minute of a Pod: its kubelet does what it was asked for, or does not.
func (s *site) live(p *resident, calm bool) {
	switch {
	case !p.Scheduled:
		p.Scheduled = s.one(3)
	case !p.Ready:
		p.Ready = !s.now.Before(p.wakes)
	case s.one(60) && !calm:
		p.Ready, p.wakes = false, s.now.Add(time.Duration(1+s.IntN(5))*time.Minute)
	}
	for n := range p.Containers {
		c := &p.Containers[n]
		if !calm && s.one(25) {
			c.OOM, c.QuickOOM = true, s.one(2)
		}
		c.Pressed[CPU] = s.one(12) && !calm
	}
	if calm {
		p.Outdated = false
	}
	was := p.Resize
	switch p.Resize {
	case ResizeInProgress, ResizeDeferred, ResizeError:
		becomes := []ResizeState{was, was, ResizeNone, ResizeNone, ResizeDeferred, ResizeInfeasible, ResizeError, ResizeInProgress}
		if p.Resize = becomes[s.IntN(len(becomes))]; calm {
			p.Resize = ResizeNone
		}
	}
	if p.Resize != was {
		p.ResizeSince = s.now
	}
	if p.Resize != ResizeNone || was == ResizeNone {
		return
	}
	for n := range p.Containers {
		p.Containers[n].Actual = p.Containers[n].Resources
		p.Containers[n].OOM, p.Containers[n].QuickOOM = false, false
	}
	if p.restarts {
		p.Ready, p.restarts, p.wakes = false, false, s.now.Add(time.Minute)
	}
}

// sizes are what running Pods should have, and what new ones get.
func (s *site) sizes() (all []Size, entry []NewContainer) {
	template := s.template
	if s.blind.noGoalLimit {
		template.Containers = slices.Clone(template.Containers)
		for n := range template.Containers {
			template.Containers[n].GoalLimit = none()
		}
	}
	entry = NewPods(template, []Room{s.room}, s.entry)
	if s.blind.keeps && near(s.entry, newOf(CapAll(template, s.room))) {
		entry = s.entry
	}
	if s.replicas <= s.minimum {
		template.Containers = slices.Clone(template.Containers)
		for n := range template.Containers {
			template.Containers[n].GoalFloor = none()
		}
	}
	return CapAll(template, s.room), entry
}

// observed is the cluster as a plan sees it, with all that the past says of it.
func (s *site) observed(past *Past, all []Size) ClusterPods {
	c := ClusterPods{Cluster: s.name, Replicas: s.replicas, Budget: s.budget, Means: s.means, Silent: s.silent, History: s.history}
	for _, p := range s.pods {
		is := p.Running
		is.Containers = slices.Clone(p.Containers)
		for n := range is.Containers {
			k := &is.Containers[n]
			if k.Size = all[n]; len(s.entry) > 0 {
				at := slices.IndexFunc(s.entry, func(e NewContainer) bool { return e.Name == k.Name })
				k.New = Resources{none(), none()}
				if at >= 0 {
					k.New = s.entry[at].Resources
				}
			}
		}
		c.Pods = append(c.Pods, is)
	}
	past.Observe(&c, Admission{Sizes: s.entry, Written: s.written, Version: fmt.Sprint(s.version)}, s.policy, s.now)
	if s.blind.view != nil {
		s.blind.view(&c)
	}
	return c
}

// step is a minute: what happens, and then what is decided on.
func (w *world) step(calm bool) {
	w.now = w.now.Add(time.Minute)
	var clusters, restarted []ClusterPods
	for _, s := range w.sites {
		if calm {
			s.silent = false
		}
		s.happen(calm)
		s.noteNew()
		all, entry := s.sizes()
		if !s.silent && (!slices.Equal(s.entry, entry) || s.written.IsZero()) {
			s.entry, s.version, s.written, s.failures = entry, s.version+1, w.now, 0
			s.looks = 0
		}
		if s.judgeEntry(); !s.silent {
			s.looks++
		}
		clusters = append(clusters, s.observed(&s.past, all))
		if s.age++; s.one(15) {
			s.twin, s.age = Past{}, 0
		}
		restarted = append(restarted, s.observed(&s.twin, all))
	}
	moves := w.plan(clusters)
	w.judgePlan(clusters, moves)
	w.judgeRestarted(moves, w.plan(restarted))
	w.judgeOrder(clusters, moves)
	for _, m := range moves {
		w.moved[m.Way]++
		w.apply(m)
	}
	for _, s := range w.sites {
		s.judgeState(moves)
	}
}

func (w *world) plan(clusters []ClusterPods) []Move {
	if w.blind.positions {
		clusters = slices.Clone(clusters)
		for n := range clusters {
			clusters[n].Pods = clusters[n].Pods[:min(3, len(clusters[n].Pods))]
		}
	}
	return PlanMoves(clusters, w.policy, w.now)
}

func (w *world) at(cluster string) *site {
	return w.sites[slices.IndexFunc(w.sites, func(s *site) bool { return s.name == cluster })]
}

func (s *site) of(uid string) *resident {
	n := slices.IndexFunc(s.pods, func(p *resident) bool { return p.UID == uid })
	if n < 0 {
		return nil
	}
	return s.pods[n]
}

// apply does what is planned, as far as others let it.
func (w *world) apply(m Move) {
	s := w.at(m.Cluster)
	p := s.of(m.Pod.UID)
	if p == nil {
		return
	}
	p.before, p.unsent = nil, false
	for n := range p.Containers {
		p.before = append(p.before, p.Containers[n].Resources)
	}
	sent := func() {
		if !w.blind.forgets {
			s.past.Sent(m)
			s.twin.Sent(m)
		}
	}
	switch {
	case w.one(20):
		p.unsent = true // the member does not answer
	case m.Way == WayEvict && w.one(5):
		s.past.Refused(m, w.now)
		s.twin.Refused(m, w.now)
		s.backOff[p.UID] = w.now.Add(retry)
	case m.Way == WayEvict:
		sent()
		s.out[p.UID] = true
		s.pods = slices.DeleteFunc(s.pods, func(o *resident) bool { return o == p })
	default:
		sent()
		if m.Way == WayWithdraw {
			s.refused[p.UID] = p.requested()
		}
		for n := range p.Containers {
			p.Containers[n].Resources = m.Resize.Containers[n]
		}
		p.restarts = slices.ContainsFunc(p.Containers, func(c RunningContainer) bool {
			for r, restarts := range c.Restarts {
				if restarts && (c.Actual.Requests[r] != c.Requests[r] || c.Actual.Limits[r] != c.Limits[r]) {
					return true
				}
			}
			return false
		})
		p.Resize, p.ResizeSince = ResizeInProgress, w.now
		if m.Way == WayWithdraw || !p.Scheduled {
			p.Resize, p.restarts = ResizeNone, false
			for n := range p.Containers {
				p.Containers[n].Actual = p.Containers[n].Resources
			}
		}
	}
}
