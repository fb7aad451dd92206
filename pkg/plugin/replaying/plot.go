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
	if r.InFact != nil {
		return r.sizePlots()
	}
	most := int32(1)
	for i := range r.Points {
		most = max(most, r.Points[i].Was.Replicas, r.Points[i].Would.Replicas)
	}
	whole := plotHeight * math.Ceil(float64(most)/plotHeight) // so that each line is of whole replicas
	return r.plotted("replicas", func(s *replay.Side) float64 { return float64(s.Replicas) }, whole, "%5.0f")
}

// plotted is something over the time, up to the most that there is.
func (r *report) plotted(name string, of func(*replay.Side) float64, most float64, format string) string {
	was, unknown := columns(r.Points, func(p *replay.Point) float64 { return of(&p.Was) })
	would, _ := columns(r.Points, func(p *replay.Point) float64 { return of(&p.Would) })
	b := &strings.Builder{}
	plot := func(caption string, values []float64) {
		b.WriteString(caption + "\n")
		b.WriteString(asciigraph.Plot(values, asciigraph.Height(plotHeight), asciigraph.LowerBound(0), asciigraph.UpperBound(most),
			asciigraph.Precision(0), asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf(format, v) })))
		b.WriteString("\n")
	}
	plot(name+" as it was", was)
	if r.Changed {
		plot(name+" as it would be", would)
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
