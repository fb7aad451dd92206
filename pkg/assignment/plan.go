// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"math"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/taints"
	"k8s.io/utils/ptr"
)

// Next decides the next step. What a step moves keeps its sum: maxima over the clusters that are in sight, with those of
// the clusters that have been silent for less than the grace, add up to Max before and after.
func Next(s Snapshot) Step {
	return newPlan(s).next()
}

func (p *plan) next() Step {
	p.observe()
	tries := []func() Action{p.initialize, p.failOver, p.spill, p.drain, p.wake, p.sleep, p.lift, p.rebalance}
	if p.step.Still = p.still(); p.step.Still {
		tries = []func() Action{p.initialize, p.failOver, p.wake}
	}
	for _, try := range tries {
		if p.step.Action = try(); p.step.Action != "" {
			break
		}
	}
	return p.finish()
}

// plan is a snapshot made ready, and the step as far as it is decided. Its slices are of the sites that are present, in
// the order of the roster.
type plan struct {
	Snapshot
	roster
	policy      Policy
	sites       []Site
	mins, maxes []int64
	ceilings    []int64
	scale       []*int32
	silent      struct{ min, max int64 } // the bounds of sites that keep theirs: silent ones that still count, and refusing ones
	relieved    bool                     // the fleet can do without its drained clusters
	waiting     bool                     // there is a silent site that still counts
	ripe        bool                     // what kept the clusters from their static shares is over
	step        Step
	// why is what the bounds of sites come from that the step divides, and lastSplit that of the last split, which may have been but
	// a trial; nil: nobody asks, or none are divided.
	why, lastSplit map[string]Terms
}

func newPlan(s Snapshot) *plan {
	p := &plan{Snapshot: s, policy: s.Policy, step: Step{Sites: map[string]SiteStep{}, Memory: *s.Memory.DeepCopy()}}
	byName, clusters := map[string]Site{}, []Cluster{}
	for _, site := range s.Sites {
		if site.Presence != Present {
			p.outOfSight(site)
		}
	}
	p.relieved = p.relieves()
	for _, site := range s.Sites {
		if site.Presence == Present {
			site.Ratios = bounded(site.Ratios)
			byName[site.Name] = site
			clusters = append(clusters, p.cluster(site))
		}
	}
	p.roster = newRoster(s.Policy, s.UID, clusters)
	for _, m := range p.members {
		p.sites = append(p.sites, byName[m.Name])
	}
	p.mins = p.of(func(s Site) int64 { return int64(s.Min) })
	p.maxes = p.of(func(s Site) int64 { return int64(s.Max) })
	p.ceilings = p.each(func(m Cluster) int64 { return m.most() })
	p.scale = make([]*int32, len(p.sites))
	return p
}

// still: nothing moves for the sake of a cluster that may be back at once, nor while the maxima are more than the fleet's, as
// whoever is given more then may run it beside what the others still have.
func (p *plan) still() bool {
	return p.waiting || p.policy != Duplicated && p.silent.max+sum(p.maxes) > int64(p.Max)
}

// outOfSight keeps a silent or refusing site as it is, and takes the bounds from one that leaves.
func (p *plan) outOfSight(site Site) {
	if site.Presence == Leaving {
		p.step.Sites[site.Name] = p.become(site, v1alpha1.ClusterExcluded)
		return
	}
	step := p.become(site, v1alpha1.ClusterUnreachable)
	if site.Presence == Refusing {
		step = p.become(site, p.stateOf(site, int64(site.Max), site.Current))
		step.SchedulableSince = site.SchedulableSince
	}
	step.Min, step.Max, step.SaturatedFirst = site.Min, site.Max, site.SaturatedFirst
	p.step.Sites[site.Name] = step
	if p.counts(site) {
		p.waiting = p.waiting || site.Presence == Silent
		p.silent.max += int64(site.Max)
		if site.Current > 0 || site.Presence == Refusing && !p.toZero() { // one at zero does not run its minimum, as long as nobody wakes it
			p.silent.min += int64(site.Min)
		}
	}
}

// counts: the site keeps its part, which is nobody else's: it is silent and may be back at once, or it refuses to change. The part
// of one that is drained is the others'.
func (p *plan) counts(site Site) bool {
	silentFor := p.Now.Sub(p.become(site, v1alpha1.ClusterUnreachable).Since)
	return site.Standing != taints.Drained && (site.Presence == Refusing || site.Presence == Silent && silentFor < p.Grace)
}

// become is a site's step without bounds, in the state.
func (p *plan) become(site Site, state v1alpha1.ClusterState) SiteStep {
	step := SiteStep{State: state, Since: site.Since}
	if state != site.State {
		step.Since = p.Now
	}
	return step
}

func (p *plan) of(number func(Site) int64) []int64 {
	numbers := make([]int64, len(p.sites))
	for i, site := range p.sites {
		numbers[i] = number(site)
	}
	return numbers
}

// hosted are the replicas that a node has taken, or will.
func (s Site) hosted() int32 { return max(0, s.Current-s.Unschedulable) }

// full: Pods have been unschedulable for so long that other clusters get them.
func (p *plan) full(s Site) bool {
	return s.Unschedulable > 0 && s.UnschedulableSince != nil && p.Now.Sub(*s.UnschedulableSince) >= p.Delay
}

// additional returns how many more replicas the site can host, by all that is known.
func (p *plan) additional(s Site) int32 {
	if p.full(s) {
		return 0
	}
	return max(0, ptr.Deref(s.Additional, 0))
}

func (p *plan) cluster(s Site) Cluster {
	return Cluster{Name: s.Name, Preference: s.Preference, Current: s.Current, Capacity: p.capacity(s), Cap: p.capOf(s)}
}

// capacity returns how many replicas the site can host in all; nil: not known.
func (p *plan) capacity(s Site) *int32 {
	if s.Additional == nil && !p.full(s) {
		return nil
	}
	return new(int32(min(int64(s.hosted())+int64(p.additional(s)), math.MaxInt32)))
}

// observe notes how the sites have changed by themselves.
func (p *plan) observe() {
	for i := range p.sites {
		s := &p.sites[i]
		if s.State == v1alpha1.ClusterSaturated && p.recovered(s) {
			p.enter(i, v1alpha1.ClusterActive)
		}
	}
	p.observeLoad()
}

// recovered: a saturated site is that no more.
func (p *plan) recovered(s *Site) (ended bool) {
	s.SchedulableSince, ended = Saturation{
		Waiting: s.Unschedulable, Room: s.Additional, Promised: s.Promised, Since: s.SchedulableSince,
		First: ptr.Deref(s.SaturatedFirst, s.Since), Entered: s.Since, Delay: p.Delay, Now: p.Now,
	}.Ends()
	return ended
}

// enter changes the state of a site.
func (p *plan) enter(i int, state v1alpha1.ClusterState) {
	if s := &p.sites[i]; s.State != state {
		s.State, s.Since = state, p.Now
	}
}

// finish says of each site what it is to be.
func (p *plan) finish() Step {
	p.curb()
	bumped := p.bumped()
	for i := range p.sites {
		p.rouse(i)
		p.empty(i)
		p.enter(i, p.state(i))
		site := p.sites[i]
		step := SiteStep{Min: int32(p.mins[i]), Max: int32(p.maxes[i]), Bumped: bumped[i], Scale: p.scale[i], State: site.State,
			Since: site.Since}
		step.SaturatedFirst = SaturatedFirst(site.SaturatedFirst, site.State == v1alpha1.ClusterSaturated, site.Since, p.Now)
		if site.State == v1alpha1.ClusterSaturated {
			step.SchedulableSince = site.SchedulableSince
		}
		p.step.Sites[site.Name] = step
	}
	p.restrain()
	p.step.Unassigned = p.unassigned()
	p.step.Unweighted = p.policy != Duplicated && p.unweighted && !p.policy.fills()
	p.step.Memory.UnreachableMax = p.beyond()
	return p.step
}

// curb takes back what a site was given and has not got yet, while the maxima are more than the fleet's: others came back, or
// keep what they should not.
func (p *plan) curb() {
	if p.policy == Duplicated || p.Changed || p.step.Incomplete {
		return
	}
	excess := p.silent.max + sum(p.maxes) - int64(p.Max)
	for i, s := range p.sites {
		if given := p.maxes[i] - int64(s.Stands); s.Stands > 0 && given > 0 && excess > 0 {
			taken := min(given, excess)
			p.maxes[i] -= taken
			p.mins[i] = min(p.mins[i], p.maxes[i])
			excess -= taken
		}
	}
}

// rouse has a cluster run its minimum that was at zero when it went out of sight, and may no longer be there.
func (p *plan) rouse(i int) {
	if s := p.sites[i]; s.Asleep && s.Current == 0 && p.maxes[i] > 0 && p.scale[i] == nil && !p.toZero() {
		p.scale[i] = new(int32(p.mins[i]))
	}
}

// restrain says of the sites that can be told who may not shrink for now, or only later.
func (p *plan) restrain() {
	least, tiers := p.shrinking(), p.tiers()
	for _, site := range p.Sites {
		step := p.step.Sites[site.Name]
		if site.Presence == Refusing {
			step.Share = p.offered(site.Name)
			p.step.Sites[site.Name] = step
		}
		if site.Presence != Present && site.Presence != Refusing || step.Max == 0 {
			continue
		}
		step.Hold, step.Window = site.Current > 0 && site.Priority > least, p.window(site, tiers)
		p.step.Sites[site.Name] = step
	}
}

// state is the state of a site after the step.
func (p *plan) state(i int) v1alpha1.ClusterState {
	return p.stateOf(p.sites[i], p.maxes[i], ptr.Deref(p.scale[i], p.sites[i].Current))
}

// stateOf is the state of a site in sight with that maximum, which is told to run so many replicas.
func (p *plan) stateOf(s Site, upper int64, replicas int32) v1alpha1.ClusterState {
	switch {
	case upper == 0:
		return v1alpha1.ClusterExcluded
	case p.toZero() && replicas == 0:
		return v1alpha1.ClusterScaledToZero
	case s.State == v1alpha1.ClusterSaturated:
		return v1alpha1.ClusterSaturated
	default:
		return v1alpha1.ClusterActive
	}
}

// bumped says whose minimum the fleet's does not need: as many ones, from those that are to go, and then from those filled last, as
// the minima are too many.
func (p *plan) bumped() []bool {
	surplus, bumped := sum(p.mins)+p.silent.min-p.leastRun(), make([]bool, len(p.mins))
	for _, going := range []bool{true, false} {
		for i := len(p.mins) - 1; i >= 0; i-- {
			partless := p.members[i].least(1) == 0
			if p.policy != Duplicated && p.mins[i] == 1 && surplus > 0 && partless == going {
				bumped[i] = true
				surplus--
			}
		}
	}
	return bumped
}

// unassigned returns what the ceilings leave to nobody.
func (p *plan) unassigned() int32 {
	if p.policy == Duplicated {
		return 0
	}
	return int32(max(0, int64(p.Max)-p.silent.max-sum(p.maxes)))
}

// beyond is by how much the maxima of all clusters may exceed Max, since silent and refusing ones keep what they have, and
// those that leave as long as they cannot be told; nil: by nothing.
func (p *plan) beyond() *int32 {
	n := sum(p.maxes) - int64(p.Max)
	for _, site := range p.Sites {
		switch site.Presence {
		case Silent, Refusing:
			n += int64(max(site.Max, site.Stands))
		case Leaving:
			n += int64(site.Stands)
		}
	}
	if n <= 0 || p.policy == Duplicated {
		return nil
	}
	return new(int32(min(n, math.MaxInt32)))
}

// toZero: clusters are taken to zero and back.
func (p *plan) toZero() bool { return p.ScalingToZero && p.policy != Duplicated }
