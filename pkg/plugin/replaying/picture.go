// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"math"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// The size of a picture, in pixels; each is a column of it.
const pictureWidth, pictureHeight = 780, 220

// pictures are the replicas, and the use, over the time.
func (r *report) pictures() []chart.Plot {
	if r.InFact != nil {
		return r.sizePictures()
	}
	points := replay.Thin(r.Points, pictureWidth)
	spans := spansOf(points)
	plot := func(title, y string) chart.Plot {
		return chart.Plot{Title: title, X: "UTC", Y: y, Time: true, Width: pictureWidth, Height: pictureHeight, Spans: spans}
	}
	line := func(name string, of func(*replay.Point) float64) chart.Series {
		s := chart.Series{Name: name, Steps: true}
		for i := range points {
			s.Points = append(s.Points, chart.At(seconds(&points[i]), of(&points[i])))
		}
		return s
	}
	name := r.title()
	replicas, use := plot(name+": replicas", "replicas"), plot(name+": use, in percent "+r.of(), "percent")
	for _, side := range r.sides() {
		replicas.Series = append(replicas.Series, line(side.name, func(p *replay.Point) float64 { return float64(side.of(p).Replicas) }))
		use.Series = append(use.Series, line(side.name, func(p *replay.Point) float64 { return percent(side.of(p).Use) }))
	}
	for _, side := range r.sides() {
		most := line("maxReplicas, "+side.name, func(p *replay.Point) float64 { return float64(side.of(p).Max) })
		most.Dashed = true
		replicas.Series = append(replicas.Series, most)
	}
	bound := line("bound", func(*replay.Point) float64 { return float64(r.Above) })
	bound.Dashed = true
	use.Series = append(use.Series, bound)
	return []chart.Plot{replicas, use}
}

// side is one of the two, or the only one.
type side struct {
	name string
	of   func(*replay.Point) *replay.Side
}

func (r *report) sides() []side {
	all := []side{{"as it was", func(p *replay.Point) *replay.Side { return &p.Was }}}
	if r.Changed {
		all = append(all, side{"as it would be", func(p *replay.Point) *replay.Side { return &p.Would }})
	}
	return all
}

func seconds(p *replay.Point) float64 { return float64(p.At.UnixMilli()) / 1000 }

func percent(use *int64) float64 {
	if use == nil {
		return math.NaN()
	}
	return float64(*use)
}

func spansOf(points []replay.Point) (all []chart.Span) {
	for _, s := range replay.Spans(points) {
		all = append(all, chart.Span{
			From: float64(s.From.UnixMilli()) / 1000, To: float64(s.To.UnixMilli()) / 1000, Name: "load not known: " + string(s.Unknown),
		})
	}
	return all
}

// against is one curve over what was tried.
func against(title, x, y string, points []chart.Point) chart.Plot {
	return chart.Plot{Title: title, X: x, Y: y, Width: pictureWidth, Height: pictureHeight,
		Series: []chart.Series{{Name: "as it would be", Points: points}}}
}

// pictures are what the targets take, and how long they are not enough.
func (r *sweepReport) pictures() []chart.Plot {
	x := "target, in percent"
	if !r.percent {
		x = "target"
	}
	plot := func(title, y string, of func(*sums) float64) chart.Plot {
		var points []chart.Point
		for i := range r.Targets {
			at := float64(r.Targets[i].Target)
			if !r.percent {
				at /= 1000
			}
			points = append(points, chart.At(at, of(&r.Targets[i].Would)))
		}
		return against("FederatedHPA "+r.Namespace+"/"+r.Name+": "+title, x, y, points)
	}
	return []chart.Plot{
		plot("Pod-hours", "Pod-hours", func(s *sums) float64 { return s.PodHours }),
		plot("time in which the use is above "+digits(r.Above)+" %", "minutes", func(s *sums) float64 { return s.AboveSeconds / 60 }),
	}
}
