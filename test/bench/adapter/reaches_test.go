// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

func TestReachesAreThoseOfTheMedian(t *testing.T) {
	for name, tc := range map[string]struct {
		got  report.Reach
		want report.Reach
	}{
		"as good as it should be": {atMost("cost", 1.5, "ms", measure.Samples{1, 1.5, 9}),
			report.Reach{What: "cost", Goal: "at most 1.5 ms", Measured: "1.5 (1–9) ms", Met: true}},
		"too much": {atMost("cost", 1.5, "", measure.Samples{1, 1.6, 1.7}),
			report.Reach{What: "cost", Goal: "at most 1.5", Measured: "1.6 (1–1.7)"}},
		"enough": {atLeast("speed", 1000, "per second", measure.Samples{1000}),
			report.Reach{What: "speed", Goal: "at least 1000 per second", Measured: "1000 per second", Met: true}},
		"too little": {because(atLeast("speed", 1000, "", measure.Samples{999}), "it is far"),
			report.Reach{What: "speed", Goal: "at least 1000", Measured: "999", Why: "it is far"}},
		"no excuse is needed": {because(atMost("cost", 2, "", measure.Samples{1}), "it is far"),
			report.Reach{What: "cost", Goal: "at most 2", Measured: "1", Met: true}},
		"not measured":        {atMost("cost", 2, "", nil), report.Reach{What: "cost", Goal: "at most 2", Measured: "–"}},
		"not measured at all": {atLeast("cost", 2, "", nil), report.Reach{What: "cost", Goal: "at least 2", Measured: "–"}},
	} {
		fleettest.Same(t, name, tc.want, tc.got)
	}
}

// reached are whether a section's reaches are met, by what they are.
func reached(s report.Section) map[string]bool {
	met := map[string]bool{}
	for _, r := range s.Reaches {
		met[r.What] = r.Met
	}
	return met
}
