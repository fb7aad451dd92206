// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Plot has lines of points over two axes. An axis is logarithmic where its
// values span more than a decade or so, and that of X also where its values are
// few and multiply.
type Plot struct {
	Title  string
	X, Y   string // what the axes show, with its unit
	Series []Series
	// Peers is that some lines are somebody else's, of the same rounds.
	Peers bool
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

// Sizes in pixels: of the field, and what is around it.
const (
	fieldWidth, fieldHeight = 450, 310
	left, top, bottom       = 70, 40, 50
	right                   = left + fieldWidth
	base                    = top + fieldHeight
	// legend is the least room for names; letter is more than one of theirs needs.
	legend, letter = 200, 7
)

// mostDots is how many points of a line are marked; of more, the line says enough.
const mostDots = 40

// Colours that people who see colours otherwise can tell apart (Okabe and Ito).
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

func (p Plot) svg() string {
	x := newAxisAt(p.values(func(q Point) []float64 { return []float64{q.X} }), left, right)
	y := newAxis(p.values(func(q Point) []float64 { return []float64{q.Y, q.Low, q.High} }), base, top)
	var b strings.Builder
	width, height := right+p.room(), base+bottom
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text(&b, left, top-18, "start", 14, p.Title)
	text(&b, (left+right)/2, base+bottom-10, "middle", 12, p.X)
	fmt.Fprintf(&b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+base)/2, escaped(p.Y))
	for _, tick := range x.ticks {
		at := x.at(tick)
		line(&b, at, top, at, base)
		text(&b, at, base+18, "middle", 12, label(tick))
	}
	for _, tick := range y.ticks {
		at := y.at(tick)
		line(&b, left, at, right, at)
		text(&b, left-6, at+4, "end", 12, label(tick))
	}
	fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999999"/>`+"\n", left, top, fieldWidth, fieldHeight)
	for i, s := range p.Series {
		s.draw(&b, x, y, colours[i%len(colours)])
		text(&b, right+28, float64(top+8+18*i), "start", 12, s.Name)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="16" height="3" fill="%s"/>`+"\n", right+8, top+3+18*i, colours[i%len(colours)])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// room is for the names of the series.
func (p Plot) room() int {
	longest := 0
	for _, s := range p.Series {
		longest = max(longest, utf8.RuneCountInString(s.Name))
	}
	return max(legend, 36+letter*longest)
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
		if len(points) <= mostDots {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(p.X), y.at(p.Y), colour)
		}
		if p.Low != p.High {
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x.at(p.X), y.at(p.Low), x.at(p.X), y.at(p.High),
				colour)
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, " "), colour)
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
