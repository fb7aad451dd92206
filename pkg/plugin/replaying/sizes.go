// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"math"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// sizesBecause are reasons that are others where the decisions are on sizes.
var sizesBecause = map[replay.Unknown]string{
	replay.CutOff:  "containers used all the cpu that their limit lets them, and may have needed more (--cut-off)",
	replay.Unseen:  "clusters could not be seen, so nothing became less",
	replay.NotTold: "nothing was known of what is used",
}

const assumptionOfSizes = "What is used is what it was, by as many Pods as there were. On both sides all of them have what is " +
	"recommended from the beginning, and are changed at once: when they request less or more than the bounds, when they differ by a " +
	"tenth and were not changed for twelve hours, and after a kill. Whether their node has room is not known."

// sizeRows are of decisions on sizes.
func (r *report) sizeRows(row func(name string, was, would any)) {
	was, would := &r.Was.Sizes, &r.Would.Sizes
	hours := func(name string, was, would float64) {
		row(name, fmt.Sprintf("%.1f", was), fmt.Sprintf("%.1f%s", would, change(was, would)))
	}
	hours("core-hours requested", was.CoreHours, would.CoreHours)
	hours("GiB-hours requested", was.GiBHours, would.GiBHours)
	row("cpu used above the request", lasting(was.AboveCPU), lasting(would.AboveCPU))
	row("memory used above the request", lasting(was.AboveMemory), lasting(would.AboveMemory))
	row("kills that the request does not cover", was.Uncovered, would.Uncovered)
	row("Pods given another size", was.Changes, would.Changes)
}

// sizeNotes say what Pods did in fact.
func (r *report) sizeNotes() (all []string) {
	if r.InFact == nil {
		return nil
	}
	return []string{fmt.Sprintf("in fact the Pods requested %.1f core-hours and %.1f GiB-hours, and %d containers were killed for want of "+
		"memory", r.InFact.CoreHours, r.InFact.GiBHours, r.InFact.Kills)}
}

// curve is something that both sides have over the time.
type curve struct {
	name   string
	of     func(*replay.Side) float64
	inFact func(*replay.InFact) float64
}

var sizeCurves = []curve{
	{"cores requested", func(s *replay.Side) float64 { return s.Sizes.Cores }, func(f *replay.InFact) float64 { return f.Cores }},
	{"GiB requested", func(s *replay.Side) float64 { return s.Sizes.GiB }, func(f *replay.InFact) float64 { return f.GiB }},
}

// sizePictures are what Pods request over the time, in fact, too.
func (r *report) sizePictures() (all []chart.Plot) {
	points := replay.Thin(r.Points, pictureWidth)
	for _, c := range sizeCurves {
		plot := chart.Plot{Title: r.title() + ": " + c.name, X: "UTC", Y: c.name, Time: true, Width: pictureWidth, Height: pictureHeight,
			Spans: spansOf(points)}
		line := func(name string, of func(*replay.Point) float64) *chart.Series {
			plot.Series = append(plot.Series, chart.Series{Name: name, Steps: true})
			s := &plot.Series[len(plot.Series)-1]
			for i := range points {
				s.Points = append(s.Points, chart.At(seconds(&points[i]), of(&points[i])))
			}
			return s
		}
		for _, side := range r.sides() {
			line(side.name, func(p *replay.Point) float64 { return c.of(side.of(p)) })
		}
		line("in fact", func(p *replay.Point) float64 { return c.inFact(p.InFact) }).Dashed = true
		all = append(all, plot)
	}
	return all
}

// sizePlots are the cores over the time, each side on its own, with the same axis.
func (r *report) sizePlots() string {
	most := 0.0
	for i := range r.Points {
		most = max(most, r.Points[i].Was.Sizes.Cores, r.Points[i].Would.Sizes.Cores)
	}
	return r.plotted("cores requested", sizeCurves[0].of, max(most, math.SmallestNonzeroFloat32), "%6.2f")
}

// sizeLines are what Pods request over the time, as a page shows them.
func (r *report) sizeLines(points []replay.Point) (all []SizeLines) {
	for _, c := range sizeCurves {
		lines := SizeLines{Name: c.name}
		for i := range points {
			p := &points[i]
			lines.Was, lines.Would = append(lines.Was, c.of(&p.Was)), append(lines.Would, c.of(&p.Would))
			lines.InFact = append(lines.InFact, c.inFact(p.InFact))
		}
		all = append(all, lines)
	}
	return all
}
