// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

const component = "../../deploy/components/monitoring"

func TestDashboardsAreCurrent(t *testing.T) {
	fresh := t.TempDir()
	if err := write(fresh); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(filepath.Join(component, "dashboards"))
	if err != nil || len(kept) != len(dashboards()) {
		t.Fatalf("%d dashboards, want %d; %v", len(kept), len(dashboards()), err)
	}
	for _, file := range kept {
		want, err := os.ReadFile(filepath.Join(fresh, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(component, "dashboards", file.Name()))
		if err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s is not current, run make generate; %v", file.Name(), err)
		}
	}
}

var values = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

func TestDashboardsReadWhatThereIs(t *testing.T) {
	metrics := reference(t)
	for _, d := range dashboards() {
		for _, v := range d.Templating.List[1:] {
			parts := values.FindStringSubmatch(v.Query)
			if parts == nil {
				t.Fatalf("%s: the variable %s asks for %s", d.Title, v.Name, v.Query)
			}
			for _, fault := range faults(metrics, "group by ("+parts[2]+") ("+parts[1]+")") {
				t.Errorf("%s: the variable %s: %s", d.Title, v.Name, fault)
			}
		}
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				for _, fault := range faults(metrics, q.Expr) {
					t.Errorf("%s: %s: %s", d.Title, p.Title, fault)
				}
				for _, label := range legend.FindAllStringSubmatch(q.LegendFormat, -1) {
					if !slices.Contains(grouping(t, q.Expr), label[1]) {
						t.Errorf("%s: %s: the legend %s names what the query drops", d.Title, p.Title, q.LegendFormat)
					}
				}
			}
		}
	}
}

var legend = regexp.MustCompile(`{{(\w+)}}`)
