// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

func cordoned(s *Site)         { s.Standing = taints.Cordoned }
func drained(s *Site)          { s.Standing = taints.Drained }
func ready(n int32) siteChange { return func(s *Site) { s.Ready = n } }

// How a cluster takes part in a division of replicas.
func TestUnder(t *testing.T) {
	free := Cluster{Preference: Preference{Floor: 3, Ceiling: 9}, Current: 2, Moved: 1}
	for standing, want := range map[taints.Standing]Cluster{
		taints.Free:     free,
		taints.Cordoned: {Preference: Preference{Floor: 2, Ceiling: 2}, Current: 2, Moved: 1, Cap: &Bounds{Max: 2}},
		taints.Drained:  {Preference: Preference{Ceiling: 2}, Current: 2, Limit: new(int32), Cap: &Bounds{}},
	} {
		fleettest.Same(t, fmt.Sprint(standing), want, free.Under(standing))
	}
}

func TestCordonAndDrain(t *testing.T) {
	none := v1alpha1.Rebalance{Strategy: v1alpha1.RebalanceNone}
	rest := func(s *Snapshot) { s.Rebalance = none }
	tests := map[string]struct {
		snapshot Snapshot
		want     string
	}{
		"a cordoned cluster keeps its bounds": {
			snapshot(StaticWeighted, 2, 10, site("a", 1, 5, 3), site("b", 1, 5, 2, cordoned)),
			"- a 1/5, b 1/5"},
		"a new spec gives it no more": {
			snapshot(StaticWeighted, 8, 20, site("a", 1, 5, 3), site("b", 1, 5, 2, cordoned)).change(changed),
			"BoundsSplit: a 7/15, b 1/5"},
		"nor with Duplicated": {
			snapshot(Duplicated, 4, 20, site("a", 1, 5, 3), site("b", 2, 5, 2, cordoned)).change(changed),
			"BoundsSplit: a 4/20, b 2/5"},
		"but less": {
			snapshot(StaticWeighted, 2, 6, site("a", 1, 5, 3), site("b", 1, 5, 2, cordoned)).change(changed),
			"BoundsSplit: a 1/3, b 1/3"},
		"it does not begin": {
			snapshot(StaticWeighted, 2, 6, site("a", 0, 0, 3, fresh), site("b", 0, 0, 0, fresh, cordoned)).change(changed),
			"BoundsSplit: a 2/6, b 0/0 Excluded"},
		"but keeps what it runs": {
			snapshot(StaticWeighted, 2, 20, site("a", 0, 0, 3, fresh), site("b", 0, 0, 4, fresh, cordoned)).change(changed),
			"BoundsSplit: a 1/16, b 1/4"},
		"nothing spills into it": {
			snapshot(Prioritized, 2, 20, site("a", 1, 18, 18, pending(8, 90), hosts(0)), site("b", 1, 1, 1, cordoned, hosts(9)),
				site("c", 1, 1, 1, hosts(9))).change(rest),
			"MaximumSpilled: a 1/10 Saturated, b 1/1, c 1/9"},
		"nobody takes a silent part over in its place": {
			snapshot(Aggregated, 3, 12, site("a", 1, 4, 2), site("b", 1, 4, 2, cordoned), site("c", 1, 4, 2, silent(400))).change(rest),
			"BoundsTakenOver: a 2/8, b 1/4, c 1/4 Unreachable"},
		"a drained cluster waits for the others to run the minimum": {
			snapshot(StaticWeighted, 6, 12, site("a", 2, 4, 2, ready(2)), site("b", 2, 4, 2, ready(2)), site("c", 2, 4, 3, ready(3), drained)),
			"BoundsTakenOver: a 3/5, b 3/4, c 1/3"},
		"and goes to zero when they do": {
			snapshot(StaticWeighted, 6, 12, site("a", 3, 5, 3, ready(3)), site("b", 3, 4, 3, ready(3)), site("c", 1, 3, 3, ready(3), drained)),
			"BoundsTakenOver: a 3/6, b 3/6, c 0/0 run 0 Excluded"},
		"with Duplicated, too": {
			snapshot(Duplicated, 2, 6, site("a", 2, 6, 3, ready(3)), site("b", 2, 6, 3, ready(3), drained)),
			"BoundsSplit: a 2/6, b 0/0 run 0 Excluded"},
		"and by priority": {
			snapshot(Prioritized, 2, 12, site("a", 1, 11, 3, ready(3), priority(2), drained), site("b", 1, 1, 2, ready(2), priority(1), hosts(20))).
				change(rest),
			"BoundsTakenOver: a 0/0 run 0 Excluded, b 2/12"},
		"to its minimum where it refuses to be scaled": {
			snapshot(StaticWeighted, 2, 12, site("a", 1, 6, 3, ready(3)), site("b", 1, 6, 3, drained, balks)),
			"BoundsTakenOver: a 2/11, b 1/1"},
		"nobody else has the minimum where one refused it": {
			snapshot(StaticWeighted, 6, 12, site("a", 6, 8, 2, ready(2), func(s *Site) { s.Presence, s.Stands = Refusing, 4 }),
				site("b", 1, 4, 4, ready(4), drained)),
			"- a 6/8, b 1/4"},
		"it keeps the part that a cordoned one at zero cannot run": {
			snapshot(StaticWeighted, 6, 12, site("a", 0, 0, 0, cordoned), site("b", 6, 8, 8, ready(8), drained)).change(toZero),
			"- a 0/0 Excluded, b 6/8"},
		"a cordoned one at zero has no part": {
			snapshot(StaticWeighted, 6, 12, site("a", 2, 4, 0, atZero, cordoned), site("b", 4, 8, 4, ready(4))).change(toZero),
			"BoundsTakenOver: a 0/0 Excluded, b 6/12"},
		"but keeps its maximum while a silent one is waited for": {
			snapshot(StaticWeighted, 6, 12, site("a", 2, 4, 0, atZero, cordoned), site("b", 4, 6, 4, ready(4)), site("c", 1, 2, 1, silent(9))).
				change(toZero),
			"BoundsTakenOver: a 1/4 ScaledToZero, b 5/6, c 1/2 Unreachable"},
		"with Duplicated it takes nothing from others": {
			snapshot(Duplicated, 2, 6, site("a", 2, 6, 0, cordoned), site("b", 2, 6, 3)),
			"- a 2/6, b 2/6"},
		"a drained one at zero has none either, although the others do not run the minimum yet": {
			snapshot(StaticWeighted, 6, 12, site("a", 2, 4, 0, atZero, drained), site("b", 4, 8, 4, ready(4))).change(toZero),
			"BoundsTakenOver: a 0/0 Excluded, b 6/12"},
		"nobody else: it keeps what it runs": {
			snapshot(StaticWeighted, 2, 12, site("a", 2, 12, 3, ready(3), drained)),
			"BoundsTakenOver: a 2/3"},
		"nobody goes to zero in its place": {
			snapshot(StaticWeighted, 2, 10, site("a", 1, 4, 1, ratio(100)), site("b", 1, 5, 1, ratio(100)),
				site("c", 1, 1, 1, weight(2), ratio(100), drained)).
				change(toZero).change(low),
			"ScaledToZero: a 1/4, b 1/5, c 1/1 run 0 ScaledToZero"},
		"what it was told stays so": {
			snapshot(StaticWeighted, 2, 6, site("a", 2, 6, 3, ready(3)), site("b", 0, 0, 3, drained, func(s *Site) { s.Ordered = new(int32) })),
			"- a 2/6, b 0/0 run 0 Excluded"},
		"a silent one has no grace": {
			snapshot(StaticWeighted, 2, 12, site("a", 1, 6, 3), site("b", 1, 6, 3, silent(10), drained)),
			"BoundsTakenOver: a 2/12, b 1/6 Unreachable"},
		"and does not keep others from a new spec": {
			snapshot(StaticWeighted, 2, 30, site("a", 1, 6, 3), site("b", 1, 6, 3, silent(10), drained)).change(changed),
			"BoundsSplit: a 2/30, b 1/6 Unreachable"},
		"one that is free again gets its part": {
			snapshot(StaticWeighted, 2, 12, site("a", 2, 12, 3), site("b", 0, 0, 0)),
			"BoundsSplit: a 1/6, b 1/6 run 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := told(Next(tc.snapshot)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// Where the members' own autoscalers take clusters to zero, those that have no part of the minimum may be there.
func TestWhoMayBeAtZeroWhileOneIsDrained(t *testing.T) {
	tests := map[string]struct {
		least, run int32 // the fleet's minimum, and what the others run
		standing   siteChange
		want       string
	}{
		"nobody is drained":                      {1, 0, ready(0), "b c"},
		"first the one that is to go":            {1, 0, drained, "c d"},
		"though the minimum is none":             {0, 0, drained, "c d"},
		"once it may go, one of them needs it":   {1, 1, drained, "c"},
		"or none":                                {0, 1, drained, "b c"},
		"a cordoned one keeps its part":          {1, 0, cordoned, "b c"},
		"where the minimum needs all, none may":  {3, 0, drained, "d"},
		"where none is drained, and none needed": {0, 0, ready(0), "b c d"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// d is drained or not, and stands first.
			s := snapshot(Prioritized, tc.least, 12, site("d", 1, 4, 2, priority(3), tc.standing), site("b", 1, 4, tc.run, ready(tc.run)),
				site("c", 1, 4, 0))
			s.Rebalance = v1alpha1.Rebalance{Strategy: v1alpha1.RebalanceNone}
			var bumped []string
			for name, site := range Next(s).Sites {
				if site.Bumped {
					bumped = append(bumped, name)
				}
			}
			slices.Sort(bumped)
			if got := strings.Join(bumped, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// taint changes how a cluster takes part, and remembers what it has when it begins to be cordoned.
func (c *county) taint(w *town, standing taints.Standing) {
	w.Standing = standing
	c.log = append(c.log, fmt.Sprintf("-- %s is %q", w.Name, standing))
}

// checkTaints: what is cordoned or drained does not grow, and does not begin.
func (c *county) checkTaints(before map[string][3]int32) {
	for _, w := range c.members {
		had := before[w.Name]
		if w.Standing == taints.Free || w.away || w.Presence != Present || had[1] == 0 && had[2] > 0 && w.State == "" {
			continue
		}
		most, least := had[1], had[0]
		if most == 0 && had[2] > 0 { // it ran something before it had bounds
			most, least = had[2], had[2]
		}
		if w.bounds[1] > most || w.bounds[0] > max(1, least) || had[2] == 0 && w.Current > 0 {
			c.fail("%s is %q and grows from %v to %v, runs %d", w.Name, w.Standing, had, w.bounds, w.Current)
		}
	}
}

// others is what other clusters may run that are free and in sight.
func (c *county) others(than *town) (may int64) {
	for _, w := range c.members {
		if w != than && w.Standing == taints.Free && !w.away && w.Presence == Present {
			may += int64(w.Max)
		}
	}
	return may
}

// tainted is story with clusters that are cordoned and drained. In the end, what is drained is at zero where others run the fleet's
// minimum.
func tainted(t *testing.T, seed uint64) *county {
	t.Helper()
	c, r := newCounty(t, seed), rand.New(rand.NewPCG(seed, 9))
	rounds := func(n int) {
		for range n {
			before := map[string][3]int32{}
			for _, w := range c.members {
				before[w.Name] = [3]int32{w.bounds[0], w.bounds[1], w.Current}
			}
			c.round()
			c.checkTaints(before)
		}
	}
	rounds(40)
	for range 10 {
		w := c.members[r.IntN(len(c.members))]
		switch r.IntN(8) {
		case 0, 1:
			c.taint(w, taints.Cordoned)
		case 2, 3:
			c.taint(w, taints.Drained)
		case 4:
			c.taint(w, taints.Free)
		case 5:
			c.load = c.anyLoad(r)
		case 6:
			w.away = !w.away
		case 7:
			c.s.Min, c.s.Max, c.s.Changed = r.Int32N(12)+1, r.Int32N(30)+12, true
		}
		rounds(30 + r.IntN(120))
	}
	for _, w := range c.members { // all are in sight, and have room
		w.away, w.room = false, 100
	}
	c.load = 3000
	rounds(250)
	for _, w := range c.members {
		switch may := c.others(w); {
		case w.Standing == taints.Drained && w.Current > 0 && w.Max > 0 && may >= max(1, int64(c.s.Min)):
			c.fail("%s is drained and runs %d, while the others may run %d, and at least %d", w.Name, w.Current, may, c.s.Min)
		case w.Standing != taints.Free && w.Current == 0 && w.Max > 0 && c.s.Policy != Duplicated:
			c.fail("%s is %q and runs nothing, and keeps %d to %d", w.Name, w.Standing, w.Min, w.Max)
		}
	}
	c.settles(60)
	return c
}

func TestSimulationOfTaints(t *testing.T) {
	t.Parallel()
	emptied := 0
	for seed := range fleettest.Rounds(300, 10) {
		c := tainted(t, seed+5000)
		for _, w := range c.members {
			if w.Standing == taints.Drained && w.Current == 0 {
				emptied++
			}
		}
	}
	if uint64(emptied) < fleettest.Rounds(60, 10) {
		t.Errorf("only %d clusters were emptied", emptied)
	}
}
