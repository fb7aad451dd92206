// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// mostDots is how many points of a line are marked; of more, the line says enough.
const mostDots = 40

// ink is how a line is drawn in the light, and its class in the dark.
type ink struct{ colour, class string }

func pen(i int) ink {
	n := i % len(colours)
	return ink{colours[n], fmt.Sprintf("pic-c%d", n)}
}

func (s Series) dashes() string {
	if s.Dashed {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

func (s Series) key(b *strings.Builder, x, y float64, of ink) {
	fmt.Fprintf(b, `<line class="pic-line %s" x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="3"%s/>`+"\n", of.class, x, y,
		x+16, y, of.colour, s.dashes())
}

func (s Series) draw(b *strings.Builder, x, y axis, of ink) {
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	for _, p := range points {
		if math.IsNaN(p.Y) {
			continue
		}
		if len(points) <= mostDots && !s.Steps {
			fmt.Fprintf(b, `<circle class="pic-mark %s" cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", of.class, x.at(p.X), y.at(p.Y), of.colour)
		}
		if p.Low != p.High {
			fmt.Fprintf(b, `<line class="pic-line %s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", of.class, x.at(p.X), y.at(p.Low),
				x.at(p.X), y.at(p.High), of.colour)
		}
	}
	path := straight(points, x, y)
	if s.Steps {
		path = steps(points, x, y)
	}
	fmt.Fprintf(b, `<path class="pic-line %s" d="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", of.class, path, of.colour,
		s.dashes())
}

func straight(points []Point, x, y axis) string {
	var b strings.Builder
	to := "M"
	for _, p := range points {
		if !math.IsNaN(p.Y) {
			fmt.Fprintf(&b, "%s%.1f,%.1f", to, x.at(p.X), y.at(p.Y))
			to = "L"
		}
	}
	return b.String()
}

// steps draw no more than what changes: a value that stays is a part of one line.
func steps(points []Point, x, y axis) string {
	var b strings.Builder
	open, last := false, ""
	for i, p := range points {
		if math.IsNaN(p.Y) {
			if open {
				fmt.Fprintf(&b, "H%.1f", x.at(p.X))
			}
			open = false
			continue
		}
		at, now := x.at(p.X), fmt.Sprintf("%.1f", y.at(p.Y))
		switch {
		case !open:
			fmt.Fprintf(&b, "M%.1f,%s", at, now)
		case now != last:
			fmt.Fprintf(&b, "H%.1fV%s", at, now)
		case i == len(points)-1:
			fmt.Fprintf(&b, "H%.1f", at)
		}
		open, last = true, now
	}
	return b.String()
}

// spans hatches them, and returns their names, each once.
func (p Plot) spans(b *strings.Builder, x axis) (names []string) {
	for _, s := range p.Spans {
		from, to := max(x.at(s.From), x.from), min(x.at(s.To), x.to)
		if !(to >= from) {
			continue
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="url(#hatch)"><title>%s</title></rect>`+"\n", from, top,
			max(to-from, 1), p.base()-top, escaped(s.Name)) // what is short is seen, too
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}
