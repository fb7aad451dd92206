// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// grown is a life of an adapter that needs 250 B for a Pod, where a metrics-server
// needs 800, and three quarters of what it may at its peak.
func grown(pods ...int) growth {
	g := growth{empty: footprint{heap: 10 * mib}, joined: footprint{heap: 11 * mib},
		peer: peerMemory{1000, footprint{heap: mib}, footprint{heap: mib + 800_000}}}
	for _, n := range pods {
		g.known = append(g.known, footprint{heap: 11*mib + float64(250*n), resident: 40 * mib})
	}
	g.busy = &busy{peak: 1.5 * (g.known[len(g.known)-1].heap + 256*mib), refused: refusals{429: 7}}
	return g
}

func TestMemoryIsToldForEachPod(t *testing.T) {
	p := plan{Known: []int{1000, 2000}, KnownRounds: []int{3, 2}, KnownMembers: 10, For: time.Second}
	first, second, third := grown(1000, 2000), grown(1000, 2000), grown(1000)
	second.known[1].heap += 100_000
	third.busy = nil
	s := memorySection(p, []growth{first, second, third})
	var each []string
	for _, row := range s.Tables[0].Rows {
		each = append(each, strings.Join(row[3:6], ", "))
	}
	if diff := cmp.Diff([]string{"800 (800–800), –, 1", "250 (250–250), –, 0.31 (0.31–0.31)",
		"275 (250–300), 300 (250–350), 0.34 (0.31–0.38)"}, each); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := strings.Join(s.Text, "\n")
	for _, want := range []string{"102 (102–102) KiB", "14 (429", "3 with 1000 Pods, 2 with 2000 Pods"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

func TestLooksOverAPeriod(t *testing.T) {
	if got, want := overAPeriod([]footprint{{5, 7}, {3, 9}, {8, 8}}), (footprint{3, 9}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReachesOfMemory(t *testing.T) {
	p := plan{Known: []int{1000, million}, KnownRounds: []int{1, 1}, KnownMembers: 10}
	const few, most, member, resident, peak = "heap for each of 1000 Pods", "heap for each of 1000000 Pods", "heap for each member",
		"resident with 1000000 Pods", "peak under 32 big lists at once, of its bound"
	for missed, spoil := range map[string]func(*growth){
		"":       func(*growth) {},
		few:      func(g *growth) { g.known[0].heap += 60_000 },
		most:     func(g *growth) { g.known[1].heap += 60_000_000 },
		member:   func(g *growth) { g.empty.heap -= 100_000 },
		resident: func(g *growth) { g.known[1].resident = 1025 * mib },
		peak:     func(g *growth) { g.busy.peak *= 2.1 },
	} {
		t.Run(missed, func(t *testing.T) {
			g := grown(1000, million)
			spoil(&g)
			want := map[string]bool{few: true, most: true, member: true, resident: true, peak: true}
			if missed != "" {
				want[missed] = false
			}
			fleettest.Same(t, "", want, reached(memorySection(p, []growth{g})))
		})
	}
}

func TestRoundsGetAsFarAsPlanned(t *testing.T) {
	p := plan{Known: []int{10, 20, 30}, KnownRounds: []int{3, 3, 1}}
	for round, want := range [][]int{{10, 20, 30}, {10, 20}, {10, 20}, {}} {
		fleettest.Same(t, fmt.Sprintf("round %d", round), want, p.reached(round))
	}
}

func TestRefusals(t *testing.T) {
	for want, codes := range map[string]refusals{
		"none": {}, "3 (429, come back later)": {429: 3}, "1 (no answer), 2 (partial, and said so), 4 (503)": {503: 4, 0: 1, 200: 2, 500: 0},
	} {
		if got := codes.String(); got != want {
			t.Errorf("%v: %q, want %q", map[int]int(codes), got, want)
		}
	}
}
