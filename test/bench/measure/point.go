// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"slices"

	"github.com/fleetscale/fleetscale/test/bench/report"
)

// Point is the median at x, with the least and the greatest.
func (s Samples) Point(x float64) report.Point {
	if len(s) == 0 {
		return report.Point{X: x, Y: s.Median(), Low: s.Median(), High: s.Median()}
	}
	return report.Point{X: x, Y: s.Median(), Low: slices.Min(s), High: slices.Max(s)}
}
