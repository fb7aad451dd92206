// SPDX-License-Identifier: Apache-2.0

package report

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/chart"
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
		Plots: []Plot{{Peers: true, Plot: chart.Plot{Title: "Cost <of> an answer", X: "Pods", Y: "ms", Series: []chart.Series{
			{Name: "ours", Points: []chart.Point{{X: 2000, Y: 3, Low: 2, High: 4}, {X: 200, Y: 1, Low: 1, High: 1}, {X: 20000, Y: math.NaN()}}},
			{Name: "peer", Points: []chart.Point{{X: 20000, Y: 9.5, Low: 9.5, High: 9.5}}},
		}}}},
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

func TestFiguresCanBeReadAgain(t *testing.T) {
	dir := t.TempDir()
	if err := example().Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := read(dir, "list")
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "", example().kept(), got)
	if err := os.WriteFile(filepath.Join(dir, "list.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Index(dir, nil, []string{"list"}); err == nil {
		t.Error("figures that cannot be read are left out")
	}
}
