// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"strings"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

// atMost is reached if the median is no more than the goal. What was not measured is not reached.
func atMost(what string, goal float64, unit string, of measure.Samples) report.Reach {
	return report.Reach{What: what, Goal: with(unit, "at most "+measure.Short(goal)), Measured: with(unit, of.String()),
		Met: of.Median() <= goal}
}

// atLeast is reached if the median is no less than the goal; see atMost.
func atLeast(what string, goal float64, unit string, of measure.Samples) report.Reach {
	return report.Reach{What: what, Goal: with(unit, "at least "+measure.Short(goal)), Measured: with(unit, of.String()),
		Met: of.Median() >= goal}
}

func with(unit, text string) string { return strings.TrimSpace(text + " " + unit) }

// because returns what stands in the way of a reach, if it is not met.
func because(r report.Reach, why string) report.Reach {
	if !r.Met {
		r.Why = why
	}
	return r
}
