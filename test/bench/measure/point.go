// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/chart"
)

// Point is the median at x, with the least and the greatest.
func (s Samples) Point(x float64) chart.Point {
	if len(s) == 0 {
		return chart.Point{X: x, Y: s.Median(), Low: s.Median(), High: s.Median()}
	}
	return chart.Point{X: x, Y: s.Median(), Low: slices.Min(s), High: slices.Max(s)}
}
