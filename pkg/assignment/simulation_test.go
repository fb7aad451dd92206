// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// county is a fleet of member autoscalers that share one load: each Pod that is scheduled carries as much as any other.
type county struct {
	t       *testing.T
	seed    uint64
	s       Snapshot
	members []*town
	load    int64 // in thousandths of what one Pod carries at its target
	now     time.Time
	writes  int
	actions map[Action]int
	kept    int // rounds in which a cluster of a high priority would have shrunk, had it not been held
	// recall is what the hub knows of the clusters when it reconciles; nil: all that it ever did.
	recall func(Snapshot) Snapshot
	log    []string
}

// town is one member cluster.
type town struct {
	Site
	room         int32 // Pods that its nodes take
	away         bool
	pendingSince time.Time
	bounds       [2]int32 // of its autoscaler
	hold         bool
	lowSince     time.Time // since when its autoscaler would scale down
	before, seen int32     // what it ran a round ago, and when the hub reconciled
	had          int32     // its maximum then
	reached      bool      // what the hub decided last has been written there
}

func (w *town) scheduled() int32 { return min(w.Current, w.room) }

func newCounty(t *testing.T, seed uint64) *county {
	r := rand.New(rand.NewPCG(seed, 7))
	policy := append(assignments[:5:5], StaticWeighted, Prioritized)[r.IntN(len(assignments)+2)]
	c := &county{t: t, seed: seed, now: noon, actions: map[Action]int{}, s: snapshot(policy, r.Int32N(12)+1, r.Int32N(30)+12)}
	c.s.Changed, c.s.ScalingToZero, c.s.Delay = true, r.IntN(2) == 0, 30*time.Second
	if r.IntN(2) == 0 {
		c.s.Rebalance.Strategy = v1alpha1.RebalanceDemand
	}
	if r.IntN(4) == 0 {
		c.s.UID = "0b1c"
	}
	for i := range r.IntN(4) + 2 {
		w := &town{room: r.Int32N(25) + 2}
		w.Site = site(string(rune('a'+i)), 0, 0, max(0, r.Int32N(20)-10), fresh, weight(r.Int64N(4)), priority(r.Int32N(3)))
		if r.IntN(6) == 0 {
			w.Floor = 1
		}
		c.members = append(c.members, w)
	}
	c.load = c.anyLoad(r)
	if seed%4 == 0 { // enough run elsewhere for one to begin at zero
		c.s.Min, c.s.ScalingToZero, c.load = r.Int32N(4)+6, true, r.Int64N(3000)
		for i, w := range c.members {
			w.Current = int32(min(i, 1)) * 10
		}
	}
	return c
}

func (c *county) anyLoad(r *rand.Rand) int64 {
	return r.Int64N([]int64{3000, 30_000, 60_000}[r.IntN(3)]) + 200
}

func (c *county) fail(format string, args ...any) {
	c.t.Helper()
	for _, line := range c.log[max(0, len(c.log)-30):] {
		c.t.Log(line)
	}
	c.t.Fatalf("seed %d, %s, %s: %s", c.seed, c.s.Policy, c.now.Sub(noon), fmt.Sprintf(format, args...))
}

// carrying are the Pods that carry the load.
func (c *county) carrying() (n int64) {
	for _, w := range c.members {
		n += int64(w.scheduled())
	}
	return n
}

func (c *county) ratio() int64 {
	return ceilDiv(c.load, max(1, c.carrying()))
}

// autoscale is one round of the members' own autoscalers.
func (c *county) autoscale() {
	ratio := c.ratio()
	for _, w := range c.members {
		w.before = w.Current
		desired, most := w.Current, w.bounds[1]
		if w.ScalingActive = w.Current > 0 && most > 0; !w.ScalingActive {
			w.lowSince = c.now // what begins to scale waits for a window before it scales down
			continue
		}
		if ratio > 1100 || ratio < 900 {
			desired = int32(min(int64(math.MaxInt32), ceilDiv(int64(w.scheduled())*ratio, whole)))
		}
		w.TooManyReplicas = desired > most
		if desired >= w.Current {
			w.lowSince = c.now
		}
		if desired < w.Current && (w.hold || c.now.Sub(w.lowSince) < c.s.Window) {
			if w.hold && c.now.Sub(w.lowSince) >= c.s.Window {
				c.kept++
			}
			desired = w.Current
		}
		desired = max(w.bounds[0], min(most, desired))
		w.Steady = desired == w.Current && w.Desired == w.Current
		if w.Desired = desired; desired != w.Current {
			w.LastScale = new(c.now)
			w.Current = desired
		}
	}
	c.checkOrder()
}

// gone: it has been out of sight for so long that the others have its place.
func (c *county) gone(w *town) bool {
	return w.State == v1alpha1.ClusterUnreachable && (c.now.Sub(w.Since) >= c.s.Grace || w.Standing == taints.Drained)
}

// checkOrder: by the load alone, no cluster shrinks while one of a lower priority, by what the hub saw last, still can.
// One that ran before it had bounds counts from the reconcile after it got them, and nobody waits for one that is gone.
func (c *county) checkOrder() {
	if c.s.Policy != Prioritized || c.s.ScaleDownOrder == v1alpha1.ScaleDownBestEffort {
		return
	}
	for _, high := range c.members {
		if high.Current >= high.before || high.before > high.bounds[1] || !high.reached {
			continue
		}
		for _, low := range c.members {
			if low.Priority < high.Priority && low.Presence == Present && !c.gone(low) && low.Max > 0 && low.had > 0 && low.before > low.Min {
				c.fail("%s shrinks from %d to %d while %s below it runs %d and may run %d", high.Name, high.before, high.Current, low.Name, low.before,
					low.Min)
			}
		}
	}
}

// snapshot returns what the hub sees.
func (c *county) snapshot() Snapshot {
	s := c.s
	s.Now = c.now
	ratio := c.ratio()
	for _, w := range c.members {
		seen := w.Site
		w.seen, w.had = w.Current, w.Max
		if w.away && w.Presence == Present {
			seen.Presence = Silent
		}
		seen.Ratios = []int64{ratio}
		if seen.Unschedulable = w.Current - w.scheduled(); seen.Unschedulable == 0 {
			w.pendingSince = time.Time{}
		} else if w.pendingSince.IsZero() {
			w.pendingSince = c.now
		}
		if seen.Unschedulable > 0 {
			seen.UnschedulableSince = new(w.pendingSince)
		}
		seen.Additional = new(w.room - w.scheduled())
		seen.Ready = w.scheduled()
		s.Sites = append(s.Sites, seen)
	}
	s.Wanted = c.load > 0
	if c.recall != nil {
		s = c.recall(s)
	}
	return s
}

// act carries a step out: decreases first.
func (c *county) act(step Step) {
	c.actions[step.Action]++
	if step.Action != "" {
		c.log = append(c.log, fmt.Sprint(c.now.Sub(noon), " load ", c.load, " ", told(step)))
	}
	written := map[*town]bool{}
	for _, increase := range []bool{false, true} {
		for _, w := range c.members {
			to := step.Sites[w.Name]
			if !w.away && to.Max != w.bounds[1] && (to.Max > w.bounds[1]) == increase {
				w.bounds[1], written[w] = to.Max, true
				c.writes++
				if increase {
					c.checkMax("between two writes")
				}
			}
		}
	}
	for _, w := range c.members {
		to := step.Sites[w.Name]
		w.State, w.Since, w.SchedulableSince = to.State, to.Since, to.SchedulableSince
		w.reached = !w.away && w.Presence == Present
		if w.Min, w.Max = to.Min, to.Max; w.away {
			continue
		}
		if (w.bounds[0] != to.Min || w.hold != to.Hold) && !written[w] { // what changes with a maximum is of the same write
			c.writes++
		}
		w.bounds[0], w.hold = to.Min, to.Hold
		if to.Scale != nil {
			if (w.Current == 0) == (*to.Scale == 0) {
				c.fail("%s is told to run %d, and runs %d", w.Name, *to.Scale, w.Current)
			}
			w.Current = *to.Scale
			c.writes++
		}
	}
	c.s.Memory, c.s.Changed = step.Memory, step.Incomplete
}

// checkMax: the maxima in sight never exceed the fleet's.
func (c *county) checkMax(when string) {
	sum, returning := int64(0), false
	for _, w := range c.members {
		returning = returning || w.State == v1alpha1.ClusterUnreachable
		if !w.away && w.Presence == Present {
			sum += int64(w.bounds[1])
		}
	}
	if c.s.Policy != Duplicated && sum > int64(c.s.Max) && !returning {
		c.fail("%s the maxima are %d, more than %d", when, sum, c.s.Max)
	}
}

// round is 15 seconds.
func (c *county) round() Step {
	c.now = c.now.Add(15 * time.Second)
	c.autoscale()
	s := c.snapshot()
	step := Next(s)
	if step.Action != "" { // the order of the sites does not show
		slices.Reverse(s.Sites)
		if diff := fleettest.Diff(step, Next(s)); diff != "" {
			c.fail("in another order (-first +second):\n%s", diff)
		}
	}
	c.act(step)
	c.check(step)
	return step
}

func (c *county) check(step Step) {
	maxes := int64(0)
	for _, w := range c.members {
		if w.Max < 0 || w.Min > w.Max || (w.Min < 1) != (w.Max == 0) {
			c.fail("%s has %d to %d", w.Name, w.Min, w.Max)
		}
		if w.Presence == Present && !c.gone(w) {
			maxes += int64(w.bounds[1])
		}
		if pods := min(w.seen, w.room, w.had); w.Max < pods && !w.away && w.Presence == Present && step.Action != "" && !mayEvict[step.Action] {
			c.fail("%s loses Pods: %s", w.Name, told(step))
		}
	}
	if c.s.Policy == Duplicated {
		return
	}
	if c.checkMax("in the end"); maxes+int64(step.Unassigned) != int64(c.s.Max) && step.Unassigned == 0 {
		c.fail("the maxima are %d of %d: %s", maxes, c.s.Max, told(step))
	}
}

// mayEvict are the actions after which running Pods may have no room: a new split, the end of a drain, and where more
// runs than may, because a cluster has come back.
var mayEvict = map[Action]bool{Initialized: true, Drained: true, FailedOver: true}

// leave takes a member out, or in again.
func (c *county) leave(w *town) {
	if w.Presence = Leaving - w.Presence; w.Presence == Present {
		w.State, w.Since, w.away = "", time.Time{}, false
	}
}

// maxWrites is what a fleet takes less than, for each cluster, to come to rest: property P3. Those of a new spec do not count, nor those
// of a fleet that has just been split for the first time: from there it may have to spill, to be drained, to go to zero and to follow
// capacity, once each.
const maxWrites = 4

// settles: with all that is around it constant, the fleet comes to rest, and few writes bring it there.
func (c *county) settles(rounds int) {
	quiet, slept, first := 0, false, c.writes == 0
	before := c.writes
	for i := range rounds {
		step := c.round()
		if i == 0 {
			before = c.writes
		}
		if slept = slept || step.Action == Slept; slept && step.Action == Woken {
			c.fail("to zero and back under the same load")
		}
		if step.Action == "" && !slices.ContainsFunc(c.members, func(w *town) bool { return w.before != w.Current }) {
			quiet++
		} else {
			quiet = 0
		}
	}
	if quiet < rounds/3 {
		c.fail("no rest for %d rounds", rounds-quiet)
	}
	if n := c.writes - before; n >= maxWrites*len(c.members) && !first {
		c.fail("P3: %d writes to %d clusters in %d rounds under a constant load", n, len(c.members), rounds)
	}
	run, whole := int64(0), true
	for _, w := range c.members {
		run += int64(w.Current)
		whole = whole && !w.away && w.Presence == Present && w.Standing == taints.Free
	}
	if whole && run < int64(c.s.Min) {
		c.fail("%d run, the minimum is %d", run, c.s.Min)
	}
}

// story returns what happens to one fleet: loads, rooms, outages and edits at random. After each the fleet comes to rest, and
// at all times the bounds are sound.
func story(t *testing.T, seed uint64, changes ...func(*county)) *county {
	t.Helper()
	c, r := newCounty(t, seed), rand.New(rand.NewPCG(seed, 8))
	for _, change := range changes {
		change(c)
	}
	c.settles(200)
	for range 6 {
		w := c.members[r.IntN(len(c.members))]
		switch r.IntN(8) {
		case 0, 1:
			c.load = c.anyLoad(r)
		case 2:
			w.room = r.Int32N(25)
		case 3:
			w.away = !w.away
		case 4:
			c.s.Min, c.s.Max, c.s.Changed = r.Int32N(12)+1, r.Int32N(30)+12, true
		case 5:
			c.load = 100
		case 6: // the hub is away
			for range 60 {
				c.now = c.now.Add(15 * time.Second)
				c.autoscale()
			}
		case 7:
			c.leave(w)
		}
		c.log = append(c.log, fmt.Sprintf("-- load %d, min %d, max %d, %s runs %d, room %d, away %t, presence %d",
			c.load, c.s.Min, c.s.Max, w.Name, w.Current, w.room, w.away, w.Presence))
		c.settles(250)
	}
	return c
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	total := map[Action]int{}
	for seed := range fleettest.Rounds(300, 10) {
		for action, n := range story(t, seed).actions {
			total[action] += n
		}
	}
	for _, action := range []Action{Initialized, FailedOver, Spilled, Drained, Woken, Slept, MinimumMoved, CapacityFollowed, DemandFollowed} {
		if uint64(total[action]) < fleettest.Rounds(15, 10) {
			t.Errorf("%s happened %d times only", action, total[action])
		}
	}
}

func FuzzNext(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed + 1000)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { story(t, seed) })
}
