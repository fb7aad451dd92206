// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plot has lines of points over two axes. Axes are logarithmic where their values span more than a decade or so.
type Plot struct {
	Title  string
	X, Y   string // what the axes show, with its unit
	Series []Series
}

// Series is one line. Points need not be in order.
type Series struct {
	Name   string
	Points []Point
}

// Point has its least and greatest samples; Low and High equal to Y are not drawn.
type Point struct {
	X, Y, Low, High float64
}

// Sizes in pixels.
const (
	width, height            = 720, 400
	left, right, top, bottom = 70, 200, 40, 50
)

// Colours that people who see colours otherwise can tell apart (Okabe and Ito).
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

func (p Plot) svg() string {
	x := newAxis(p.values(func(q Point) []float64 { return []float64{q.X} }), left, width-right)
	y := newAxis(p.values(func(q Point) []float64 { return []float64{q.Y, q.Low, q.High} }), height-bottom, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text(&b, left, top-18, "start", 14, p.Title)
	text(&b, (left+width-right)/2, height-10, "middle", 12, p.X)
	fmt.Fprintf(&b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+height-bottom)/2, escaped(p.Y))
	for _, tick := range x.ticks() {
		at := x.at(tick)
		line(&b, at, top, at, height-bottom)
		text(&b, at, height-bottom+18, "middle", 12, label(tick))
	}
	for _, tick := range y.ticks() {
		at := y.at(tick)
		line(&b, left, at, width-right, at)
		text(&b, left-6, at+4, "end", 12, label(tick))
	}
	for i, s := range p.Series {
		s.draw(&b, x, y, colours[i%len(colours)])
		text(&b, width-right+28, float64(top+8+18*i), "start", 12, s.Name)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="16" height="3" fill="%s"/>`+"\n", width-right+8, top+3+18*i, colours[i%len(colours)])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p Plot) values(of func(Point) []float64) []float64 {
	var all []float64
	for _, s := range p.Series {
		for _, point := range s.Points {
			all = append(all, of(point)...)
		}
	}
	return slices.DeleteFunc(all, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

func (s Series) draw(b *strings.Builder, x, y axis, colour string) {
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b Point) int { return int(math.Copysign(1, a.X-b.X)) })
	var path []string
	for _, p := range points {
		if math.IsNaN(p.Y) {
			continue
		}
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(p.X), y.at(p.Y), colour)
		if p.Low != p.High {
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x.at(p.X), y.at(p.Low), x.at(p.X), y.at(p.High), colour)
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, " "), colour)
}

// axis maps values to pixels.
type axis struct {
	low, high float64 // values at the ends
	from, to  float64 // pixels there
	log       bool
}

func newAxis(values []float64, from, to float64) axis {
	a := axis{from: from, to: to, high: 1}
	if len(values) == 0 {
		return a
	}
	low, high := slices.Min(values), slices.Max(values)
	if low == 0 && high == 0 {
		return a
	}
	const decades = 15 // as a factor
	if a.log = low > 0 && high/low >= decades; a.log {
		a.low, a.high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
		return a
	}
	step := stepFor(max(0, high) - min(0, low))
	a.low, a.high = math.Floor(min(0, low)/step)*step, math.Ceil(max(0, high)/step)*step
	return a
}

func (a axis) at(v float64) float64 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = (math.Log10(v) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	}
	return a.from + share*(a.to-a.from)
}

func (a axis) ticks() []float64 {
	var ticks []float64
	if a.log {
		for v := a.low; v <= a.high*1.01; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := stepFor(a.high - a.low)
	for i := math.Round(a.low / step); i*step <= a.high+step/100; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// stepFor is 1, 2 or 5 times a power of ten, so that there are five steps or some more.
func stepFor(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, factor := range []float64{1, 2, 5} {
		if span/(factor*power) <= 8 {
			return factor * power
		}
	}
	return 10 * power
}

func label(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
}

func text(b *strings.Builder, x, y float64, anchor string, size int, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, escaped(words))
}

func escaped(words string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words)) // a Builder takes everything
	return b.String()
}
