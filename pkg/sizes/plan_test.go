// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// policy allows everything.
func policy() Policy {
	return Policy{Mode: ModeInPlaceOrRecreate, Deferred: 5 * time.Minute, InProgress: time.Hour}
}

// clusterOf has these Pods, and nothing that is in their way.
func clusterOf(name string, pods ...Running) ClusterPods {
	return ClusterPods{Cluster: name, Pods: pods, Replicas: len(pods), Means: Means{Admits: true, InPlace: true}, Settled: true,
		Budget: Budget{MinReplicas: 0, MaxUnavailable: 10, Resizes: 10, Evictions: 10}}
}

// told are the moves in words.
func told(moves []Move) (words []string) {
	for _, m := range moves {
		words = append(words, string(m.Way)+" "+m.Cluster+"/"+m.Pod.Name)
	}
	return words
}

func TestPlanMoves(t *testing.T) {
	grow := func(name string) Running { return wanting(name, 200, 1000) }
	shrink := func(name string) Running { return wanting(name, 50, 1000) }
	fixed := func(name string) Running { p := grow(name); p.Resizable = false; return p } // can only be evicted
	restart := func(name string) Running { p := grow(name); p.Containers[0].Restarts[CPU] = true; return p }
	unready := func(p Running) Running { p.Ready = false; return p }
	state := func(p Running, s ResizeState, since time.Duration) Running {
		p.Resize, p.ResizeSince, p.Containers[0].Requests = s, noon.Add(-since), Amounts{200, 1000}
		return p
	}
	with := func(p Running, changes ...func(*RunningContainer)) Running {
		for _, change := range changes {
			change(&p.Containers[0])
		}
		return p
	}
	wide := func(p Running) Running {
		p.Containers[0].Size.Lower, p.Containers[0].Size.Upper = Amounts{}, Amounts{most, most}
		return p
	}
	unresizable := func(p Running) Running { p.Resizable = false; return p }
	oom := func(c *RunningContainer) { c.OOM = true }
	press := func(c *RunningContainer) { c.Pressed[CPU], c.New.Requests = true, Amounts{300, None} }
	restarts := func(c *RunningContainer) { c.Restarts[Memory] = true }
	type plan struct {
		Policy
		clusters []ClusterPods
	}
	one := func(change func(*Policy, *ClusterPods), pods ...Running) plan {
		p := plan{policy(), []ClusterPods{clusterOf("east", pods...)}}
		change(&p.Policy, &p.clusters[0])
		return p
	}
	as := func(*Policy, *ClusterPods) {}
	mode := func(m Mode) func(*Policy, *ClusterPods) { return func(p *Policy, _ *ClusterPods) { p.Mode = m } }
	for name, c := range map[string]struct {
		plan
		want []string
	}{
		"all is well":            {one(as, running("a")), nil},
		"in place":               {one(as, grow("a")), []string{"Resize east/a"}},
		"the most urgent first":  {one(as, shrink("a"), grow("b")), []string{"Resize east/b", "Resize east/a"}},
		"off":                    {one(mode(ModeOff), grow("a")), nil},
		"only new ones":          {one(mode(ModeInitial), grow("a")), nil},
		"only evictions":         {one(mode(ModeRecreate), grow("a")), []string{"Evict east/a"}},
		"what cannot be resized": {one(as, fixed("a")), []string{"Evict east/a"}},
		"and may not be evicted": {one(mode(ModeInPlace), fixed("a")), nil},
		"no evictions": {
			one(func(p *Policy, _ *ClusterPods) { p.EvictOn = EvictOnNever }, fixed("a"), grow("b")), []string{"Resize east/b"},
		},
		"evictions for OOMs only": {
			one(func(p *Policy, _ *ClusterPods) { p.EvictOn = EvictOnOOM },
				fixed("a"), func() Running { p := fixed("b"); p.Containers[0].OOM, p.Containers[0].QuickOOM = true, true; return p }()),
			[]string{"Evict east/b"},
		},
		"new Pods would not get it": {
			one(func(_ *Policy, c *ClusterPods) { c.Admits = false }, fixed("a"), grow("b")), []string{"Resize east/b"},
		},
		"a static Pod": {one(as, func() Running { p := grow("a"); p.Static = true; return p }()), nil},
		"without a node, in place": {
			one(as, func() Running { p := fixed("a"); p.Scheduled = false; return p }()), []string{"Resize east/a"},
		},
		"without a node, never evicted": {one(mode(ModeRecreate), func() Running { p := fixed("a"); p.Scheduled = false; return p }()), nil},
		"while it scales: nothing shrinks": {
			one(func(_ *Policy, c *ClusterPods) { c.Scaling = true }, shrink("a"), grow("b"), fixed("c")), []string{"Resize east/b"},
		},
		"too little history": {one(func(p *Policy, c *ClusterPods) { p.ActAfter, c.History = time.Hour, time.Hour-1 }, grow("a"),
			func() Running {
				p := wanting("b", 100, 2000)
				p.Containers[0].OOM, p.Containers[0].QuickOOM = true, true
				return p
			}()), []string{"Resize east/b"}},
		"enough history": {
			one(func(p *Policy, c *ClusterPods) { p.ActAfter, c.History = time.Hour, time.Hour }, grow("a")), []string{"Resize east/a"},
		},

		"too little history for what one was killed of, in part": {
			one(func(p *Policy, c *ClusterPods) { p.ActAfter = time.Hour }, with(wanting("a", 50, 2000), oom)), []string{"Resize east/a"}},
		"killed, young and within the bounds": {one(as, with(wide(wanting("a", 100, 1040)), oom)), []string{"Resize east/a"}},
		"pressed, young and within the bounds": {
			one(func(p *Policy, c *ClusterPods) { p.ActAfter = time.Hour }, with(running("a"), press)), []string{"Resize east/a"}},
		"pressed, and has it": {one(as, with(running("a"), press, func(c *RunningContainer) { c.Requests[CPU] = 300 })), nil},
		"pressed: in place only": {
			one(mode(ModeRecreate), with(running("a"), press), with(unresizable(running("b")), press)), nil},
		"pressed, and wanted less": {one(as, with(shrink("a"), press)), []string{"Resize east/a"}},
		"killed: what cannot be resized is evicted": {
			one(func(p *Policy, _ *ClusterPods) { p.ActAfter = time.Hour }, with(unresizable(wanting("a", 100, 2000)), oom)),
			[]string{"Evict east/a"}},
		"evictions for kills only, and it was": {
			one(func(p *Policy, _ *ClusterPods) { p.EvictOn = EvictOnOOM }, with(unresizable(wanting("a", 100, 2000)), oom)),
			[]string{"Evict east/a"}},
		"urgent ones first": {
			one(as, grow("a"), with(wanting("b", 100, 1040), oom)), []string{"Resize east/b", "Resize east/a"}},
		"urgent, though a resize is under way": {
			one(as, with(state(grow("a"), ResizeInProgress, 0), press), with(state(grow("b"), ResizeDeferred, 0), press)),
			[]string{"Resize east/a"}},
		"while it scales: what grows of two": {
			one(func(_ *Policy, c *ClusterPods) { c.Scaling = true }, wanting("a", 200, 500)), []string{"Resize east/a"}},
		"while it scales: nothing restarts": {one(func(_ *Policy, c *ClusterPods) { c.Scaling = true }, restart("a")), nil},
		"while it scales: but the rest grows": {
			one(func(_ *Policy, c *ClusterPods) { c.Scaling = true }, with(wanting("a", 200, 2000), restarts)), []string{"Resize east/a"}},
		"of an old template": {one(as, func() Running { p := grow("a"); p.Outdated = true; return p }(),
			func() Running { p := state(grow("b"), ResizeInfeasible, 0); p.Outdated = true; return p }()), nil},
		"evicted already": {one(as, func() Running { p := grow("a"); p.Evicted = true; return p }(),
			func() Running { p := state(grow("b"), ResizeInfeasible, 0); p.Evicted = true; return p }()), nil},
		"evicted already counts": {one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 },
			func() Running { p := running("a"); p.Evicted = true; return p }(), fixed("b")), nil},
		"one is missing": {one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable, c.Replicas = 1, 2 }, fixed("a")), nil},
		"more than wanted are there": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable, c.Replicas = 1, 1 }, fixed("a"), unready(running("b"))), nil},
		"one may restart at any time": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), state(restart("b"), ResizeDeferred, 0)), nil},
		"one restarts, and is not known to": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), with(running("b"), restarts,
				func(c *RunningContainer) { c.Restarts[CPU], c.Actual.Requests[CPU] = true, 50 })), nil},
		"what one has is not told": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), with(running("b"), restarts,
				func(c *RunningContainer) { c.Restarts[CPU], c.Actual = true, Resources{none(), none()} })), []string{"Evict east/a"}},
		"not settled": {one(func(_ *Policy, c *ClusterPods) { c.Settled = false }, fixed("a"), grow("b")), []string{"Resize east/b"}},
		"refused a while ago": {
			one(as, func() Running { p := fixed("a"); p.NotBefore = noon.Add(1); return p }(), fixed("b")), []string{"Evict east/b"}},
		"refused long ago":            {one(as, func() Running { p := fixed("a"); p.NotBefore = noon; return p }()), []string{"Evict east/a"}},
		"new ones would be no larger": {one(mode(ModeRecreate), with(grow("a"), func(c *RunningContainer) { c.New.Requests = c.Requests })), nil},
		"new ones would be no smaller": {
			one(mode(ModeRecreate), with(shrink("a"), func(c *RunningContainer) { c.New.Requests = Amounts{100, None} })), nil},
		"new ones would hardly be nearer": {
			one(mode(ModeRecreate), with(shrink("a"), func(c *RunningContainer) { c.New.Requests = Amounts{84, None} })), nil},
		"new ones would be nearer": {
			one(mode(ModeRecreate), with(shrink("a"), func(c *RunningContainer) { c.New.Requests = Amounts{83, None} })), []string{"Evict east/a"}},
		"the best that is possible": {
			one(mode(ModeAuto), fixed("a"), grow("b")), []string{"Evict east/a", "Resize east/b"}},
		"the best that is possible without admission": {
			one(func(p *Policy, c *ClusterPods) { p.Mode, c.Admits = ModeAuto, false }, fixed("a"), grow("b")), []string{"Resize east/b"}},
		"nothing is possible": {one(func(p *Policy, c *ClusterPods) { p.Mode, c.InPlace = ModeAuto, false }, fixed("a"), grow("b")), nil},
		"an error that stays": {one(mode(ModeInPlace), state(grow("a"), ResizeError, time.Hour+1)), []string{"Withdraw east/a"}},

		"so many resizes": {one(func(_ *Policy, c *ClusterPods) { c.Resizes = 1 }, grow("a"), grow("b")), []string{"Resize east/a"}},
		"so many evictions": {
			one(func(_ *Policy, c *ClusterPods) { c.Evictions = 1 }, fixed("a"), fixed("b"), grow("c")), []string{"Evict east/a", "Resize east/c"},
		},
		"so many not available": {one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 2 }, fixed("a"), restart("b"), fixed("c"), grow("d")),
			[]string{"Evict east/a", "Resize east/b", "Resize east/d"}},
		"one is not Ready as it is": {one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), unready(running("b"))), nil},
		"one that is not Ready costs nothing": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable, c.MinReplicas = 1, 1 }, fixed("a"), unready(fixed("b"))),
			[]string{"Evict east/b"}},
		"one is not replaced yet": {one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable, c.Gone = 1, 1 }, fixed("a")), nil},
		"one restarts": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), state(restart("b"), ResizeInProgress, 0)), nil,
		},
		"one is resized without": {
			one(func(_ *Policy, c *ClusterPods) { c.MaxUnavailable = 1 }, fixed("a"), state(grow("b"), ResizeInProgress, 0)),
			[]string{"Evict east/a"}},
		"at least so many Ready": {
			one(func(_ *Policy, c *ClusterPods) { c.MinReplicas = 2 }, fixed("a"), fixed("b")), []string{"Evict east/a"},
		},
		"fewer Ready than that": {one(func(_ *Policy, c *ClusterPods) { c.MinReplicas = 3 }, fixed("a"), fixed("b")), nil},
		"restarts are disruptions": {
			one(func(_ *Policy, c *ClusterPods) { c.MinReplicas = 3 }, restart("a"), grow("b")), []string{"Resize east/b"},
		},

		"under way":              {one(as, state(wanting("a", 300, 1000), ResizeInProgress, time.Hour)), nil},
		"under way for too long": {one(as, state(grow("a"), ResizeInProgress, time.Hour+1)), []string{"Evict east/a"}},
		"deferred":               {one(as, state(wanting("a", 300, 1000), ResizeDeferred, 5*time.Minute)), nil},
		"deferred for too long":  {one(as, state(grow("a"), ResizeDeferred, 5*time.Minute+1)), []string{"Evict east/a"}},
		"infeasible":             {one(as, state(grow("a"), ResizeInfeasible, 0)), []string{"Evict east/a"}},
		"infeasible, and stays":  {one(mode(ModeInPlace), state(grow("a"), ResizeInfeasible, 0)), []string{"Withdraw east/a"}},
		"infeasible before": {
			one(as, func() Running { p := grow("a"); p.Infeasible = Amounts{200, 1000}; return p }()), []string{"Evict east/a"},
		},
		"nothing to withdraw": {
			one(mode(ModeInPlace), func() Running { p := running("a"); p.Resize = ResizeInfeasible; return p }()), nil,
		},
		"withdrawn when it no longer scales": {
			one(func(p *Policy, c *ClusterPods) { p.Mode, c.Scaling = ModeInPlace, true }, state(grow("a"), ResizeInfeasible, 0)), nil,
		},
		"failed, so retried": {one(as, state(wanting("a", 300, 1000), ResizeError, 0)), []string{"Resize east/a"}},

		"clusters in their order": {plan{policy(), []ClusterPods{clusterOf("west", grow("a")), clusterOf("east", grow("b"))}},
			[]string{"Resize east/b", "Resize west/a"}},
		"all evict": {
			plan{policy(), []ClusterPods{clusterOf("east", fixed("a")), clusterOf("west", fixed("b"))}}, []string{"Evict east/a", "Evict west/b"},
		},
		"a silent one is not changed": {
			plan{policy(), []ClusterPods{
				func() ClusterPods { c := clusterOf("east", grow("a")); c.Silent = true; return c }(),
				clusterOf("west", grow("b")),
			}},
			[]string{"Resize west/b"}},
		"while one is silent nothing shrinks": {
			plan{policy(), []ClusterPods{
				func() ClusterPods { c := clusterOf("east"); c.Silent = true; return c }(),
				clusterOf("west", shrink("a"), unresizable(shrink("b")), fixed("c"), restart("d"), with(fixed("e"), func(c *RunningContainer) {
					c.Limits[Memory], c.New = 2000, Resources{Amounts{200, 1000}, Amounts{None, 1999}}
				})),
			}},
			[]string{"Evict west/c", "Resize west/d"}},
	} {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "moves", c.want, told(PlanMoves(c.clusters, c.Policy, noon)))
		})
	}
}

func TestOneClusterAtATime(t *testing.T) {
	fixed := func(name string) Running { p := wanting(name, 200, 1000); p.Resizable = false; return p }
	east, west := clusterOf("east", fixed("a")), clusterOf("west", fixed("b"), wanting("c", 200, 1000))
	gone := func(c ClusterPods) ClusterPods { c.Gone = 1; return c }
	evicting := func(c ClusterPods) ClusterPods { c.Evicting = true; return c }
	silent := func(c ClusterPods) ClusterPods { c.Silent = true; return c }
	refused := func(c ClusterPods, ago time.Duration) ClusterPods { c.Refused = noon.Add(-ago); return c }
	for name, c := range map[string]struct {
		clusters []ClusterPods
		want     []string
	}{
		"the first begins":               {[]ClusterPods{east, west}, []string{"Evict east/a", "Resize west/c"}},
		"the first has nothing to do":    {[]ClusterPods{clusterOf("east", running("a")), west}, []string{"Evict west/b", "Resize west/c"}},
		"who has begun continues":        {[]ClusterPods{east, gone(west)}, []string{"Evict west/b", "Resize west/c"}},
		"until new ones are Ready":       {[]ClusterPods{east, evicting(west)}, []string{"Evict west/b", "Resize west/c"}},
		"who refuses comes after others": {[]ClusterPods{refused(east, time.Hour), west}, []string{"Evict west/b", "Resize west/c"}},
		"of two, who refused longest ago": {[]ClusterPods{refused(east, time.Minute), refused(west, time.Hour)},
			[]string{"Evict west/b", "Resize west/c"}},
		"who has begun continues, and is refused": {[]ClusterPods{refused(evicting(east), 0), west}, []string{"Resize west/c", "Evict east/a"}},
		"who has begun and is silent is not":      {[]ClusterPods{silent(gone(east)), west}, []string{"Evict west/b", "Resize west/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			p.OneByOne = true
			fleettest.Same(t, "moves", c.want, told(PlanMoves(c.clusters, p, noon)))
		})
	}
}

// What is withdrawn is what the containers have; but a limit is never taken away.
func TestWithdrawn(t *testing.T) {
	p := running("a")
	c := &p.Containers[0]
	c.Actual.Requests[CPU] = 0
	c.Requests, c.Limits, c.Restarts = Amounts{300, 900}, Amounts{400, None}, [2]bool{true, true}
	r := p.withdrawn()
	if want := (Resources{Amounts{0, 1000}, Amounts{400, None}}); r.Containers[0] != want || !r.Grows || !r.Shrinks || r.Restarts {
		t.Errorf("withdrawn to %+v, want %v, without a restart", r, want)
	}
}

// What is withdrawn is as legal as what was asked for; else it stays.
func TestWithdrawnIsLegal(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Running, *RunningContainer)
		want   []Resources
	}{
		"a limit below the request": {func(_ *Running, c *RunningContainer) {
			c.Requests, c.Limits, c.Actual = Amounts{100, 1000}, Amounts{150, None}, Resources{Amounts{300, 1000}, none()}
		}, []Resources{{Amounts{300, 1000}, Amounts{300, None}}}},
		"of another class": {func(_ *Running, c *RunningContainer) {
			c.Requests, c.Limits, c.Actual = Amounts{100, 1000}, Amounts{200, 1000}, Resources{Amounts{200, 1000}, Amounts{200, 1000}}
		}, nil},
		"of no class": {func(_ *Running, c *RunningContainer) {
			c.Requests, c.Actual = Amounts{100, 1000}, Resources{Amounts{}, none()}
		}, nil},
		"static":             {func(p *Running, c *RunningContainer) { p.Static, c.Requests[CPU] = true, 300 }, nil},
		"a node that cannot": {func(p *Running, c *RunningContainer) { p.Resizable, c.Requests[CPU] = false, 300 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := running("a")
			c.change(&p, &p.Containers[0])
			fleettest.Same(t, "withdrawn", c.want, p.withdrawn().Containers)
		})
	}
}

// Whatever the Pods are like, a plan keeps its budget, shrinks and evicts nothing where replicas change, touches no silent
// cluster, moves each Pod once at most, and is the same in whatever order it is asked for.
func TestPlanProperties(t *testing.T) {
	ways := map[Way]int{}
	for seed := range fleettest.Rounds(3000, 10) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := policy()
		p.Mode, p.EvictOn, p.OneByOne = ModeInPlace+Mode(r.IntN(3)), EvictOn(r.IntN(3)), r.IntN(2) == 0
		var clusters []ClusterPods
		for n := range 1 + r.IntN(3) {
			c := clusterOf(string(rune('x'+n)), randomPods(r, noon)...)
			c.Silent, c.Scaling, c.Admits, c.Gone = r.IntN(5) == 0, r.IntN(4) == 0, r.IntN(5) > 0, max(0, r.IntN(6)-4)
			c.Budget = Budget{r.IntN(4), 1 + r.IntN(4), r.IntN(8), r.IntN(4)}
			clusters = append(clusters, c)
		}
		moves := PlanMoves(clusters, p, noon)
		for _, m := range moves {
			ways[m.Way]++
		}
		evicting := 0
		for _, c := range clusters {
			own := slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.Cluster != c.Cluster })
			for _, fault := range faultsOf(c, own) {
				t.Errorf("seed %d: cluster %s: %s: %v", seed, c.Cluster, fault, told(own))
			}
			if slices.ContainsFunc(own, func(m Move) bool { return m.Way == WayEvict }) {
				evicting++
			}
		}
		if p.OneByOne && evicting > 1 {
			t.Errorf("seed %d: %d clusters evict: %v", seed, evicting, told(moves))
		}
		want := told(moves)
		r.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		for _, c := range clusters {
			r.Shuffle(len(c.Pods), func(i, j int) { c.Pods[i], c.Pods[j] = c.Pods[j], c.Pods[i] })
		}
		if got := told(PlanMoves(clusters, p, noon)); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, in another order %v", seed, want, got)
		}
	}
	t.Logf("moves: %v", ways)
	if len(ways) != 3 {
		t.Error("a way was not tried")
	}
}

// faultsOf judges the moves of one cluster.
func faultsOf(c ClusterPods, moves []Move) (faults []string) {
	expect := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	ready, down := 0, c.Gone
	for n := range c.Pods {
		if c.Pods[n].Ready && !c.Pods[n].restarting() {
			ready++
		} else {
			down++
		}
	}
	sent, seen, disrupted := map[Way]int{}, map[string]bool{}, 0
	for _, m := range moves {
		expect(!seen[m.Pod.Name], "moved twice")
		seen[m.Pod.Name] = true
		sent[m.Way]++
		expect(!c.Scaling || m.Way != WayEvict && !m.Resize.Shrinks, "less, while replicas change")
		if (m.Way == WayEvict || m.Resize.Restarts) && m.Pod.Ready && !m.Pod.restarting() {
			disrupted++
		}
	}
	expect(len(moves) == 0 || !c.Silent, "it is silent")
	expect(disrupted == 0 || down+disrupted <= c.MaxUnavailable, "too many not available")
	expect(disrupted == 0 || ready-disrupted+1 >= c.MinReplicas, "too few Ready")
	expect(sent[WayEvict] <= c.Evictions && sent[WayResize]+sent[WayWithdraw] <= c.Resizes, "more than may be sent")
	return faults
}

// What is requested afterwards is what was, and the moves. So savings come true.
func TestSavingsComeTrue(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		pods := randomPods(r, noon)
		for n := range pods {
			pods[n].Resize, pods[n].Resizable = ResizeNone, true
		}
		c := clusterOf("east", pods...)
		c.Resizes, c.MaxUnavailable = 100, 100
		savings := SavingsOf(pods, Price{})
		want := savings.Requested
		for _, m := range PlanMoves([]ClusterPods{c}, policy(), noon) {
			for k := range want {
				want[k] += m.Resize.Containers[0].Requests[k] - m.Pod.Containers[0].Requests[k]
			}
			m.Pod.Containers[0].Resources = m.Resize.Containers[0]
		}
		if got := SavingsOf(pods, Price{}); got.Requested != want || got.Advised != savings.Advised {
			t.Errorf("seed %d: %v is requested, and %v advised; want %v, %v", seed, got.Requested, got.Advised, want, savings.Advised)
		}
	}
}
