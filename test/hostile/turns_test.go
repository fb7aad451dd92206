// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

const (
	rounds = 3
	turn   = 10 * time.Second
)

// cost is what some time costs: all users, in milliseconds at the 99th percentile, and each program, in cores.
type cost struct {
	p99   float64
	each  map[string]float64 // of each user, in milliseconds at the 99th percentile
	cores []float64
}

// costOf is what it costs from before to after, which are the programs' usage, and of which j has what users saw.
func costOf(before, after []usage, took time.Duration, j *journal) (c cost) {
	c.p99, c.each = j.latencies().Quantile(0.99), j.eachAt(0.99)
	for i := range before {
		c.cores = append(c.cores, float64(after[i].cpu-before[i].cpu)/float64(took))
	}
	return c
}

// passing is what it costs to let some time pass.
func (s *scene) passing(t *testing.T, some time.Duration) cost {
	t.Helper()
	before, begin := s.uses(t), time.Now()
	end := s.watching(t.Context())
	if err := measure.Pass(t.Context(), some); err != nil {
		t.Fatal(err)
	}
	j := end()
	return costOf(before, s.uses(t), time.Since(begin), j)
}

// turns has an adversary be there and not, in turns, and compares what that costs the users and the programs. Ratios of 1.5 are what
// is wanted, and of one member reached but for floods, which cost CPU to decode until it is quarantined; what is held is far less: the
// deadline of an answer, as members that say nothing are waited for until they count as silent, and whole cores. The adversary computes in
// idle time only, so that its own work, on the same cores, is not taken for harm to users.
func (s *scene) turns(t *testing.T, harass func() (end func())) {
	t.Helper()
	var p99 [2]measure.Samples
	each := map[string]*[2]measure.Samples{}
	cores := make([][2]measure.Samples, len(s.programs))
	for range rounds {
		for on := range 2 {
			relieve := func() {}
			if on == 1 {
				relieve = harass()
			}
			c := s.passing(t, turn)
			relieve()
			p99[on] = append(p99[on], c.p99)
			for user, took := range c.each {
				if each[user] == nil {
					each[user] = &[2]measure.Samples{}
				}
				each[user][on] = append(each[user][on], took)
			}
			for i := range s.programs {
				cores[i][on] = append(cores[i][on], c.cores[i])
			}
		}
	}
	var table strings.Builder
	row := func(what string, of [2]measure.Samples, atMost float64) {
		off, on := of[0], of[1]
		fmt.Fprintf(&table, "\n%-34s %-22s %-22s %s", what, off, on, on.Over(off))
		if worst := on.Median(); worst > atMost {
			t.Errorf("%s: %v, and %v without the adversary", what, on, off)
		}
	}
	fmt.Fprintf(&table, "\n%-34s %-22s %-22s %s", "", "without the adversary", "with it", "ratio (wanted: 1.5)")
	row("p99 of users, in ms", p99, float64(deadline.Milliseconds()))
	for _, user := range slices.Sorted(maps.Keys(each)) {
		row("  "+user, *each[user], float64(deadline.Milliseconds()))
	}
	for i, p := range s.programs {
		row("cores of the "+p.name, cores[i], 5*cores[i][0].Median()+1)
	}
	t.Log(table.String())
}

// comparison is what an attack costs beside what the time before it did.
type comparison struct {
	attack  string
	off, on cost
}

// compare tells what each attack by itself costs, the worst first.
func (s *scene) compare(t *testing.T) {
	t.Helper()
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-60s %-18s", "before and under each attack", "p99 of users, ms")
	for _, p := range s.programs {
		fmt.Fprintf(&table, " %-24s", "cores, "+p.name)
	}
	slices.SortFunc(s.costs, func(a, b comparison) int { return cmp.Compare(b.on.p99/b.off.p99, a.on.p99/a.off.p99) })
	for _, c := range s.costs {
		fmt.Fprintf(&table, "\n%-60s %6.0f → %-9.0f", c.attack, c.off.p99, c.on.p99)
		for i := range s.programs {
			fmt.Fprintf(&table, " %9.2f → %-12.2f", c.off.cores[i], c.on.cores[i])
		}
	}
	t.Log(table.String())
}
