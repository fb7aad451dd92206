// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var nan = math.NaN()

func TestPicturesAreXML(t *testing.T) {
	for name, p := range map[string]Plot{
		"names": {Title: "Cost <of> an answer", Y: "<ms>", Series: []Series{
			{Name: "<ours>", Points: []Point{{X: 2000, Y: 3, Low: 2, High: 4}, {X: 200, Y: 1, Low: 1, High: 1}, {X: 20000, Y: nan}}}}},
		"nothing":    {Title: "&"},
		"zeros":      {Series: []Series{{Points: []Point{{}, {X: 1}}}}},
		"one point":  {Series: []Series{{Points: []Point{{X: 5, Y: 5, Low: 5, High: 5}}}}},
		"below zero": {Series: []Series{{Points: []Point{{X: 1, Y: -5, Low: -7, High: -5}, {X: 2, Y: 3, Low: 3, High: 3}}}}},
		"time": {Time: true, Series: []Series{{Steps: true, Points: []Point{At(0, 1), At(60, nan), At(1e6, 3)}}},
			Spans: []Span{{5, 9, "<lost>"}}},
		"no time":  {Time: true, Spans: []Span{{0, nan, "never"}}},
		"a moment": {Time: true, Series: []Series{{Points: []Point{At(1.8e9, 4)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			drawn := p.SVG()
			decoder := xml.NewDecoder(strings.NewReader(drawn))
			for {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(drawn, "NaN") || strings.Contains(drawn, "Inf") {
				t.Errorf("it has numbers that are none:\n%s", drawn)
			}
		})
	}
}

func TestNamesHaveRoom(t *testing.T) {
	short, long := Plot{Series: []Series{{Name: "heap"}}}, Plot{Series: []Series{{Name: strings.Repeat("é", 60)}, {Name: "heap"}}}
	if short.room() != legend || long.room() < 60*letter || long.room() > 60*letter+legend {
		t.Errorf("%d and %d pixels", short.room(), long.room())
	}
	if !strings.Contains(long.SVG(), fmt.Sprintf(`viewBox="0 0 %d `, left+fieldWidth+long.room())) {
		t.Error("the picture does not have that room")
	}
}

func TestLinesOfManyPointsHaveNoDots(t *testing.T) {
	var points []Point
	for i := range mostDots + 1 {
		points = append(points, Point{X: float64(i), Y: 1, Low: 1, High: 1})
	}
	for n, want := range map[int]int{mostDots: mostDots, mostDots + 1: 0} {
		if got := strings.Count((Plot{Series: []Series{{Points: points[:n]}}}).SVG(), "<circle"); got != want {
			t.Errorf("%d points have %d dots", n, got)
		}
	}
}

func TestAxisHoldsItsValues(t *testing.T) {
	for name, values := range map[string][]float64{
		"small": {0.001, 0.004}, "large": {1, 7, 13}, "decades": {3, 200, 40000}, "below zero": {-3, 8}, "a power": {10, 1000}, "one": {42},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAxis(values, 100, 300)
			for _, v := range values {
				if at := a.at(v); at < 100 || at > 300.001 {
					t.Errorf("%v is drawn at %v", v, at)
				}
			}
			if n := len(a.ticks); n < 2 || n > 10 {
				t.Errorf("%d ticks: %v", n, a.ticks)
			}
			if first := a.ticks[0]; math.Abs(a.at(first)-100) > 0.01 && !(a.log && a.high/a.low > 100) {
				t.Errorf("the first tick, %v, is drawn at %v", first, a.at(first))
			}
		})
	}
}

func TestTicksAreAtWhatWasMeasured(t *testing.T) {
	for name, tc := range map[string]struct{ values, want []float64 }{
		"sizes":                 {[]float64{20000, 200, 200, 2000}, []float64{200, 2000, 20000}},
		"two":                   {[]float64{1, 8}, []float64{1, 8}},
		"steps that are equal":  {[]float64{1, 2, 3}, []float64{0, 0.5, 1, 1.5, 2, 2.5, 3}},
		"some that are near":    {[]float64{100, 120, 1000}, []float64{0, 200, 400, 600, 800, 1000}},
		"from zero":             {[]float64{0, 100, 1000}, []float64{0, 200, 400, 600, 800, 1000}},
		"one":                   {[]float64{5}, []float64{0, 1, 2, 3, 4, 5}},
		"nothing":               {nil, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		"many that are decades": {[]float64{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}, []float64{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAxisAt(tc.values, 100, 300)
			near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) })
			fleettest.Same(t, "", tc.want, a.ticks, near)
			for _, v := range tc.values {
				if at := a.at(v); at < 100 || at > 300.001 {
					t.Errorf("%v is drawn at %v", v, at)
				}
			}
		})
	}
}

func TestLogarithmicAxesEndNearTheirValues(t *testing.T) {
	for name, tc := range map[string]struct{ values, ends, ticks []float64 }{
		"within a decade or two": {[]float64{0.22, 16.4}, []float64{0.2, 20}, []float64{0.2, 0.5, 1, 2, 5, 10, 20}},
		"over many":              {[]float64{3, 40000}, []float64{2, 50000}, []float64{10, 100, 1000, 10000}},
		"over more than two":     {[]float64{1.5, 400}, []float64{1, 500}, []float64{1, 10, 100}},
		"powers":                 {[]float64{10, 1000}, []float64{10, 1000}, []float64{10, 20, 50, 100, 200, 500, 1000}},
	} {
		a := newAxis(tc.values, 0, 100)
		near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*x })
		fleettest.Same(t, name, [][]float64{tc.ends, tc.ticks}, [][]float64{{a.low, a.high}, a.ticks}, near)
	}
}

// A value holds until the next, what is not known is no line, and bounds are dashed.
func TestSteps(t *testing.T) {
	p := Plot{Time: true, Width: 100, Height: 100, Series: []Series{{Name: "max", Steps: true, Dashed: true, Points: []Point{
		At(0, 10), At(20, 10), At(40, 5), At(60, nan), At(80, 0), At(100, 0)}}}}
	if want := ` d="M70.0,40.0H110.0V90.0H130.0M150.0,140.0H170.0" fill="none" stroke="#0072b2" stroke-width="1.5" ` +
		`stroke-dasharray="6 4"`; !strings.Contains(p.SVG(), want) {
		t.Errorf("there is no %s in\n%s", want, p.SVG())
	}
}

// What is to be known of a part of the time is hatched there, within the field, and named once.
func TestSpans(t *testing.T) {
	p := Plot{Time: true, Width: 100, Height: 100, Series: []Series{{Steps: true, Points: []Point{At(0, 1), At(100, 1)}}},
		Spans: []Span{{-50, 10, "lost"}, {50, 50, "lost"}, {90, 500, "held"}, {200, 300, "after"}}}
	drawn := p.SVG()
	for _, want := range []string{`x="70.0" y="40" width="10.0"`, `x="120.0" y="40" width="1.0"`, `x="160.0" y="40" width="10.0"`} {
		if !strings.Contains(drawn, want) {
			t.Errorf("there is no %s in\n%s", want, drawn)
		}
	}
	for word, want := range map[string]int{">lost</text>": 1, ">held</text>": 1, ">after</": 0, ">lost</title>": 2} {
		if got := strings.Count(drawn, word); got != want {
			t.Errorf("%d times %s, want %d", got, word, want)
		}
	}
}

func TestTicksOfTime(t *testing.T) {
	const start = 1804066200 // 2027-03-03 09:30 UTC
	for name, tc := range map[string]struct {
		lasts float64
		want  []string
	}{
		"a minute": {60, []string{"09:30:00", "09:30:10", "09:30:20", "09:30:30", "09:30:40", "09:30:50", "09:31:00"}},
		"an hour":  {3600, []string{"09:30", "09:40", "09:50", "10:00", "10:10", "10:20", "10:30"}},
		"a day":    {day, []string{"12:00", "15:00", "18:00", "21:00", "4 Mar", "03:00", "06:00", "09:00"}},
		"a week":   {7 * day, []string{"4 Mar", "5 Mar", "6 Mar", "7 Mar", "8 Mar", "9 Mar", "10 Mar"}},
	} {
		a := newTimeAxis([]float64{start + tc.lasts, start}, 0, 100)
		var got []string
		for _, tick := range a.ticks {
			got = append(got, a.name(tick))
		}
		fleettest.Same(t, name, tc.want, got)
	}
	if a := newTimeAxis([]float64{start, start + 10*365*day}, 0, 100); len(a.ticks) < 4 || len(a.ticks) > 9 {
		t.Errorf("%d ticks of ten years", len(a.ticks))
	}
}

// Replicas from 1 to 40 are no logarithms.
func TestValuesOverTimeAreLinear(t *testing.T) {
	_, y := Plot{Time: true, Series: []Series{{Points: []Point{At(0, 1), At(1, 40)}}}}.axes()
	fleettest.Same(t, "ticks", []float64{0, 5, 10, 15, 20, 25, 30, 35, 40}, y.ticks)
}

// Several pictures are one file, which says what each is.
func TestColumn(t *testing.T) {
	drawn := Column(Plot{Title: "Replicas", Height: 100}, Plot{Title: "Use", Height: 50, Width: 900})
	for _, want := range []string{`viewBox="0 0 1170 330"`, "<title>Replicas; Use</title>", `translate(0 190)`} {
		if !strings.Contains(drawn, want) {
			t.Errorf("there is no %s in\n%s", want, drawn)
		}
	}
}
