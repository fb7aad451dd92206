// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		Plots: []Plot{{Title: "Cost <of> an answer", X: "Pods", Y: "ms", Series: []Series{
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
	for _, name := range []string{"README.md", "list.md", "list.json", "list-1.svg"} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
			if n := len(a.ticks()); n < 2 || n > 10 {
				t.Errorf("%d ticks: %v", n, a.ticks())
			}
			if first := a.ticks()[0]; math.Abs(a.at(first)-100) > 0.01 {
				t.Errorf("the first tick, %v, is drawn at %v", first, a.at(first))
			}
		})
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
		t.Error("figures that can not be read are left out")
	}
}
