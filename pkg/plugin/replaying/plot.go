// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/fleetscale/fleetscale/pkg/replay"
)

// The size of a plot, in characters.
const plotWidth, plotHeight = 72, 8

// plots are the replicas over the time, each side on its own, with the same axis.
func (r *report) plots() string {
	if len(r.Points) < 2 {
		return ""
	}
	was, unknown := columns(r.Points, func(p *replay.Point) float64 { return float64(p.Was.Replicas) })
	would, _ := columns(r.Points, func(p *replay.Point) float64 { return float64(p.Would.Replicas) })
	most := 1.0
	for i := range was {
		most = max(most, was[i], would[i])
	}
	most = plotHeight * math.Ceil(most/plotHeight) // so that each line is of whole replicas
	b := &strings.Builder{}
	plot := func(caption string, values []float64) {
		b.WriteString(caption + "\n")
		b.WriteString(asciigraph.Plot(values, asciigraph.Height(plotHeight), asciigraph.LowerBound(0), asciigraph.UpperBound(most),
			asciigraph.Precision(0), asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%5.0f", v) })))
		b.WriteString("\n")
	}
	plot("replicas as it was", was)
	if r.Changed {
		plot("replicas as it would be", would)
	}
	if strings.Contains(unknown, "?") {
		b.WriteString("load? " + unknown + "\n")
	}
	b.WriteString(axis(clock(r.From), clock(r.To)))
	return b.String()
}

// columns are the most in each part of the time, and where the load is not known.
func columns(points []replay.Point, of func(*replay.Point) float64) (values []float64, unknown string) {
	from, to := points[0].At, points[len(points)-1].At
	values, marks := make([]float64, plotWidth), []byte(strings.Repeat(" ", plotWidth))
	for i := range values {
		values[i] = math.NaN()
	}
	for _, p := range replay.Thin(points, plotWidth) {
		at := int(float64(plotWidth-1) * float64(p.At.Sub(from)) / float64(to.Sub(from)))
		values[at] = max(of(&p), zero(values[at]))
		if p.Unknown != "" {
			marks[at] = '?'
		}
	}
	for i := 1; i < len(values); i++ {
		if math.IsNaN(values[i]) { // nothing was decided: the replicas stayed
			values[i], marks[i] = values[i-1], marks[i-1]
		}
	}
	return values, string(marks)
}

// zero is a number for what is none yet.
func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func axis(from, to string) string {
	return "      " + from + strings.Repeat(" ", max(1, plotWidth-len(from)-len(to))) + to + "\n"
}
