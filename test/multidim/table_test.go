// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// known is a workload of a core, half of which is to be used, in one cluster, for so many days.
func known(l load, days int, history time.Duration) *scenario {
	s := &scenario{seed: 1, template: []goals.Container{{Name: "app", Requests: goals.Amounts{CPU: 1000}}}, split: []float64{1},
		target: 50, minimum: 2, maximum: 40, minAllowed: 25, maxAllowed: 2000, room: sizes.Unlimited(), percentile: 90,
		clusters: []string{"east"}, resizes: 20, lag: 30 * time.Second, birth: 30 * time.Second, spare: -1, history: history}
	s.demand = poisson(l, days*day, 50*time.Millisecond, rand.New(rand.NewPCG(1, 4)))
	return s
}

// peaks ask for 12 cores in one hour of each day, and for hardly any in the others.
func peaks(days int) *scenario {
	return known(bursts(0.3, 12, 24*time.Hour, 12*time.Hour, time.Hour), days, 8*24*time.Hour)
}

// limited is the same workload with limits that are what is requested, so that there is something that can follow.
func (s *scenario) limited() *scenario {
	other := *s
	other.template = slices.Clone(s.template)
	for n := range other.template {
		other.template[n].Limits.CPU = other.template[n].Requests.CPU
	}
	return &other
}

func printTable() {
	const week = 7
	before := 8 * 24 * time.Hour
	full, fuller := peaks(week), peaks(week)
	full.spare, fuller.spare = 300, 0
	loads := []struct {
		name string
		*scenario
	}{
		{"4 cores, no history", known(steady(4), week, 0)},
		{"day and night, 0.4 to 10 cores", known(wave(0.4, 24, 24*time.Hour).atLeast(0.4), week, before)},
		{"12 cores for an hour a day, else 0.3", peaks(week)},
		{"the same, 0.3 cores left on nodes", full},
		{"the same, nothing left", fuller},
		{"4 cores, then 24: beyond the maximum", known(step(4, 24, 24*time.Hour), week, before)},
		{"10 cores for 5 of 37 minutes, else 3", known(bursts(3, 10, 37*time.Minute, 0, 5*time.Minute), week, before)},
	}
	designs := []struct {
		name string
		design
	}{{"replicas alone", alone}, {"live base", naive}, {"template's base", bare}, {"the same, limits follow", hiding}, {"ours", ours}}
	fmt.Println("| load | design | replicas, at the end | request at the end | resizes | reversals | reserved | used | beyond requests " +
		"| not served |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, l := range loads {
		for n, d := range designs {
			s := l.scenario
			if d.follow {
				s = s.limited()
			}
			r := run(s, d.design)
			name := ""
			if n == 0 {
				name = l.name
			}
			last := len(s.demand) - 1
			fmt.Printf("| %s | %s | %d-%d, %d | %dm | %d | %d | %.0f | %.0f | %.1f | %.1f |\n", name, d.name, slices.Min(r.replicas),
				slices.Max(r.replicas), r.replicas[last], r.lowest[last], r.moves, r.reversals, r.reserved, r.used, r.over, r.unserved)
		}
	}
}

// printPicture draws how many replicas run for the same four cores, hour by hour, in three days.
func printPicture() {
	const hours, each = 72, 2
	fmt.Printf("\nReplicas for 4 cores, in %d hours; a column for %d hours, a full one is 40:\n\n", hours, each)
	for _, d := range []struct {
		name string
		design
	}{{"live base", naive}, {"ours", ours}} {
		r := run(known(steady(4), hours/24, 0), d.design)
		bars := []rune("▁▂▃▄▅▆▇█")
		line := ""
		for at := each * int(time.Hour/tick); at <= len(r.replicas); at += each * int(time.Hour/tick) {
			line += string(bars[(r.replicas[at-1]*len(bars)-1)/40])
		}
		fmt.Printf("%-10s %2d %s %d\n", d.name, r.replicas[0], line, r.replicas[len(r.replicas)-1])
	}
}

// atLeast is the load, but never less than so many cores.
func (l load) atLeast(cores float64) load {
	return func(at time.Duration) float64 { return max(cores, l(at)) }
}
