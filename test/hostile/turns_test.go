// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

const (
	rounds = 3
	turn   = 10 * time.Second
)

// turns has the adversaries be there and not, in turns, and compares what that costs the users and the programs. Ratios of 1.5 are
// what is wanted; a machine that others use too may only be held to far less.
func (s *scene) turns(t *testing.T) {
	p99 := map[bool]measure.Samples{}
	cores := map[bool]map[string]measure.Samples{false: {}, true: {}}
	for range rounds {
		for _, on := range []bool{false, true} {
			relieve := func() {}
			if on {
				relieve = together(s.allOfThem(), s.tenant(t))
			}
			before, begin := s.uses(t), time.Now()
			end := s.watching(t.Context())
			if err := measure.Pass(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
			j, after, took := end(), s.uses(t), time.Since(begin)
			relieve()
			p99[on] = append(p99[on], j.latencies().Quantile(0.99))
			for i, p := range s.programs {
				cores[on][p.name] = append(cores[on][p.name], float64(after[i].cpu-before[i].cpu)/float64(took))
			}
		}
	}
	var table strings.Builder
	row := func(what string, off, on measure.Samples, atMost float64) {
		fmt.Fprintf(&table, "\n%-34s %-22s %-22s %s", what, off, on, on.Over(off))
		if worst := on.Median(); worst > atMost {
			t.Errorf("%s: %v, and %v without adversaries", what, on, off)
		}
	}
	fmt.Fprintf(&table, "\n%-34s %-22s %-22s %s", "", "without adversaries", "with all of them", "ratio (wanted: 1.5)")
	row("p99 of users, in ms", p99[false], p99[true], 5*p99[false].Median()+1000)
	for _, p := range s.programs {
		off, on := cores[false][p.name], cores[true][p.name]
		row("cores of the "+p.name, off, on, 5*off.Median()+1)
	}
	t.Log(table.String())
}
