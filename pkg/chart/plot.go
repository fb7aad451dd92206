// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
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
	// Time: X is in seconds since 1970, and shown in UTC; Y is never logarithmic then, and begins at zero.
	Time bool
	// Spans are parts of X of which something is to be known.
	Spans []Span
	// Width and Height are those of the field, in pixels; 0: the usual.
	Width, Height int
}

// Series is one line. Points need not be in order.
type Series struct {
	Name   string
	Points []Point
	// Steps: each value holds until the next; one that is no number ends a part of the line.
	Steps bool
	// Dashed lines are bounds.
	Dashed bool
}

// Point has its least and greatest samples; Low and High equal to Y are not drawn.
type Point struct {
	X, Y, Low, High float64
}

// At is a point without samples.
func At(x, y float64) Point { return Point{x, y, y, y} }

// Span is hatched.
type Span struct {
	From, To float64
	// Name is what it is, in the legend: once for all of the name.
	Name string
}

// Sizes in pixels: of the field, and what is around it.
const (
	fieldWidth, fieldHeight = 450, 310
	left, top, bottom       = 70, 40, 50
	// legend is the least room for names; letter is more than one of theirs needs.
	legend, letter = 200, 7
)

// Colours that people who see colours otherwise can tell apart (Okabe and Ito).
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// style is for those who prefer the dark: over it attributes say how a picture looks in the light.
const style = `@media (prefers-color-scheme: dark) { .pic-ground { fill: #171c23; } .picture text { fill: #d5dbe2; } ` +
	`.picture .pic-grid { stroke: #38424e; } .pic-line.pic-c0 { stroke: #4da3ff; } .pic-mark.pic-c0 { fill: #4da3ff; } ` +
	`.pic-line.pic-c6 { stroke: #ffffff; } .pic-mark.pic-c6 { fill: #ffffff; } }`

// hatch is what a span is filled with.
const hatch = `<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<line class="pic-hatch" y2="6" stroke="#e69f00" stroke-width="4" stroke-opacity="0.35"/></pattern>`

// SVG is the picture as a file.
func (p Plot) SVG() string { return Column(p) }

// Column is several pictures as one file, one below the other.
func Column(plots ...Plot) string {
	var b strings.Builder
	width, height := 0, 0
	for _, p := range plots {
		width, height = max(width, p.right()+p.room()), height+p.base()+bottom
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" `+
		`fill="black" role="img">`+"\n", width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n<defs>%s</defs>\n", escaped(titles(plots)), style, hatch)
	fmt.Fprintf(&b, `<rect class="pic-ground" width="%d" height="%d" fill="white"/>`+"\n", width, height)
	down := 0
	for _, p := range plots {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", down)
		p.draw(&b)
		b.WriteString("</g>\n")
		down += p.base() + bottom
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func titles(plots []Plot) string {
	all := make([]string, len(plots))
	for i, p := range plots {
		all[i] = p.Title
	}
	return strings.Join(all, "; ")
}

func (p Plot) right() int { return left + cmp.Or(p.Width, fieldWidth) }
func (p Plot) base() int  { return top + cmp.Or(p.Height, fieldHeight) }

func (p Plot) axes() (x, y axis) {
	xs := p.values(func(q Point) []float64 { return []float64{q.X} })
	ys := p.values(func(q Point) []float64 { return []float64{q.Y, q.Low, q.High} })
	if p.Time {
		return newTimeAxis(xs, left, float64(p.right())), newLinearAxis(ys, float64(p.base()), top)
	}
	return newAxisAt(xs, left, float64(p.right())), newAxis(ys, float64(p.base()), top)
}

func (p Plot) draw(b *strings.Builder) {
	x, y := p.axes()
	right, base := float64(p.right()), float64(p.base())
	text(b, left, top-18, "start", 14, p.Title)
	text(b, (left+right)/2, base+bottom-10, "middle", 12, p.X)
	fmt.Fprintf(b, `<text transform="translate(16 %.0f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+base)/2, escaped(p.Y))
	names := p.spans(b, x)
	for _, tick := range x.ticks {
		at := x.at(tick)
		line(b, at, top, at, base)
		text(b, at, base+18, "middle", 12, x.name(tick))
	}
	for _, tick := range y.ticks {
		at := y.at(tick)
		line(b, left, at, right, at)
		text(b, left-6, at+4, "end", 12, y.name(tick))
	}
	fmt.Fprintf(b, `<rect class="pic-grid" x="%d" y="%d" width="%.0f" height="%.0f" fill="none" stroke="#999999"/>`+"\n", left, top,
		right-left, base-top)
	for i, s := range p.Series {
		s.draw(b, x, y, pen(i))
		down := top + 18*i
		text(b, right+28, float64(down+8), "start", 12, s.Name)
		s.key(b, right+8, float64(down+4), pen(i))
	}
	for i, name := range names {
		down := top + 18*(len(p.Series)+i)
		text(b, right+28, float64(down+8), "start", 12, name)
		fmt.Fprintf(b, `<rect x="%.0f" y="%d" width="16" height="10" fill="url(#hatch)" stroke="#e69f00" stroke-width="0.5"/>`+"\n", right+8,
			down-1)
	}
}

// room is for the names.
func (p Plot) room() int {
	longest := 0
	for _, s := range p.Series {
		longest = max(longest, utf8.RuneCountInString(s.Name))
	}
	for _, s := range p.Spans {
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

func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line class="pic-grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
}

func text(b *strings.Builder, x, y float64, anchor string, size int, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, escaped(words))
}

func escaped(words string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words)) // a Builder takes everything
	return b.String()
}
