// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var rewrite = flag.Bool("rewrite", false, "write what is made to testdata")

func example() Section {
	return Section{
		Name: "list", Title: "Lists", About: []string{"A machine."}, Text: []string{"What it is."},
		Reaches: []Reach{
			{What: "cost", Goal: "1.5 or less", Measured: "1.2", Met: true},
			{What: "time", Goal: "5 s or less", Measured: "6 s", Why: "it is far"},
		},
		Tables: []Table{{Title: "Cost", Header: []string{"Pods", "ms"}, Rows: [][]string{{"200", "1"}, {"2000", "a|b"}}}},
		Plots: []Plot{{Title: "Cost <of> an answer", X: "Pods", Y: "ms", Peers: true, Series: []Series{
			{Name: "ours", Points: []Point{{X: 2000, Y: 3, Low: 2, High: 4}, {X: 200, Y: 1, Low: 1, High: 1}, {X: 20000, Y: math.NaN()}}},
			{Name: "peer", Points: []Point{{X: 20000, Y: 9.5, Low: 9.5, High: 9.5}}},
		}}},
		Figures: map[string][]float64{"ours/2000": {2, 3, 4}},
	}
}

func TestReportIsAsBefore(t *testing.T) {
	dir := t.TempDir()
	if *rewrite {
		dir = "testdata"
	}
	if err := example().Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := Index(dir, []string{"What this is."}, []string{"first", "list"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "list.md", "list.json", "list.samples.json", "list-1.svg"} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fleettest.Same(t, name, string(want), string(got))
	}
}

func TestPicturesAreXML(t *testing.T) {
	for name, p := range map[string]Plot{
		"the example": example().Plots[0],
		"nothing":     {Title: "&"},
		"zeros":       {Series: []Series{{Points: []Point{{}, {X: 1}}}}},
		"one point":   {Series: []Series{{Points: []Point{{X: 5, Y: 5, Low: 5, High: 5}}}}},
		"below zero":  {Series: []Series{{Points: []Point{{X: 1, Y: -5, Low: -7, High: -5}, {X: 2, Y: 3, Low: 3, High: 3}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			drawn := p.svg()
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
	if !strings.Contains(long.svg(), fmt.Sprintf(`viewBox="0 0 %d `, right+long.room())) {
		t.Error("the picture does not have that room")
	}
}

func TestLinesOfManyPointsHaveNoDots(t *testing.T) {
	var points []Point
	for i := range mostDots + 1 {
		points = append(points, Point{X: float64(i), Y: 1, Low: 1, High: 1})
	}
	for n, want := range map[int]int{mostDots: mostDots, mostDots + 1: 0} {
		if got := strings.Count((Plot{Series: []Series{{Points: points[:n]}}}).svg(), "<circle"); got != want {
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
			if diff := cmp.Diff(tc.want, a.ticks, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
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

func TestFiguresCanBeReadAgain(t *testing.T) {
	dir := t.TempDir()
	if err := example().Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := read(dir, "list")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example().kept(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "list.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Index(dir, nil, []string{"list"}); err == nil {
		t.Error("figures that cannot be read are left out")
	}
}
