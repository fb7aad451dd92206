// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

var (
	firstSeed = flag.Uint64("seed", 0, "the first scenario; 0: 1 in the short form, one that never was in the long one")
	scenarios = flag.Int("scenarios", 0, "how many scenarios; 0: as many as the form of the test has")
	table     = flag.Bool("table", false, "print what designs cost under seven loads, and test nothing")
)

const few, many = 30, 2000

func TestMain(m *testing.M) {
	flag.Parse()
	if *table {
		printTable()
		printPicture()
		return
	}
	switch {
	case *firstSeed != 0:
	case testing.Short():
		*firstSeed = 1
	default:
		*firstSeed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("scenarios from -seed %d on\n", *firstSeed)
	m.Run()
}

// Sizing moves no replicas, and replicas do not make sizes restless, whatever the load.
func TestNothingRunsAway(t *testing.T) {
	n := many
	if testing.Short() {
		n = few
	}
	if *scenarios > 0 {
		n = *scenarios
	}
	var moves, censored, evictions int
	for i := range n {
		s := scenarioOf(*firstSeed + uint64(i))
		got := run(s, ours)
		for property, fault := range judge(s, got, run(s, alone)) {
			t.Errorf("-seed %d: %s: %s\n\t%v", s.seed, property, fault, s)
		}
		moves, evictions = moves+got.moves, evictions+got.evictions
		if got.censoredAt < len(s.demand) {
			censored++
		}
	}
	t.Logf("%d scenarios, %d resizes, %d evictions; in %d Pods once used less than they could", n, moves, evictions, censored)
	if *scenarios == 0 && (moves < 10*n || evictions < n/5 || censored < n/20 || censored > n/2) {
		t.Error("too little happened, or too much was not compared")
	}
}

// Designs that are known to be wrong are found by the judge.
func TestWrongDesignsAreCaught(t *testing.T) {
	const seeds = 8
	type pair struct {
		*scenario
		alone *record
	}
	var all, limited []pair
	for seed := range uint64(seeds) {
		s := scenarioOf(1 + seed)
		switch seed {
		case 0: // so short that Pods shrink as soon as it is over
			s = known(bursts(0.3, 3, 24*time.Hour, 12*time.Hour, 10*time.Minute), 2, 8*24*time.Hour)
		case 1:
			s = peaks(2)
		}
		all = append(all, pair{s, run(s, alone)})
		s = s.limited()
		limited = append(limited, pair{s, run(s, alone)})
	}
	tests := map[string]struct {
		design
		caught []string
	}{
		"live base":          {design{sizes: true, live: true}, []string{interference, runaway}},
		"limits that follow": {design{sizes: true, follow: true, unfloored: true, unpressed: true}, []string{starvation}},
		"no floor":           {design{sizes: true, unfloored: true}, []string{reserve}},
		"no patience":        {design{sizes: true, impatient: true}, []string{patience}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, pairs := map[string]int{}, all
			if tt.follow {
				pairs = limited
			}
			for _, p := range pairs {
				for property := range judge(p.scenario, run(p.scenario, tt.design), p.alone) {
					found[property]++
				}
			}
			t.Logf("in how many of %d scenarios: %v", len(pairs), found)
			for _, property := range tt.caught {
				if found[property] == 0 {
					t.Errorf("%s is not found, only %v", property, slices.Sorted(maps.Keys(found)))
				}
			}
		})
	}
}
