// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// metric is one row of docs/metrics-reference.md, which a test of the programs holds to what they register.
type metric struct {
	kind   string
	labels []string
}

var row = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| ([^|]*) \\|")

func reference(t *testing.T) map[string]metric {
	t.Helper()
	page, err := os.ReadFile("../../docs/metrics-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]metric{}
	for _, cells := range row.FindAllStringSubmatch(string(page), -1) {
		all[cells[1]] = metric{cells[2], regexp.MustCompile(`\w+`).FindAllString(cells[3], -1)}
	}
	if len(all) < 50 {
		t.Fatalf("only %d metrics are known: the page has another form", len(all))
	}
	return all
}

// ofTargets are labels that scraping adds.
var ofTargets = []string{"job", "pod"}

// series are the labels that series of that name have; nil: there are none.
func series(metrics map[string]metric, name string) []string {
	if m, is := metrics[name]; is && m.kind != "histogram" {
		return slices.Concat(m.labels, ofTargets)
	}
	for _, part := range []string{"_bucket", "_count", "_sum"} {
		base, cut := strings.CutSuffix(name, part)
		if m := metrics[base]; cut && m.kind == "histogram" {
			own := slices.Concat(m.labels, ofTargets)
			if part == "_bucket" {
				own = append(own, "le")
			}
			return own
		}
	}
	return nil
}

var promql = parser.NewParser(parser.Options{})

// faults are what is wrong with an expression: it cannot be parsed, or names series or labels that do not exist.
func faults(metrics map[string]metric, expr string) []string {
	tree, err := promql.ParseExpr(expr)
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		var named []string
		switch n := node.(type) {
		case *parser.VectorSelector:
			if series(metrics, n.Name) == nil {
				all = append(all, "there is no series "+n.Name)
				return nil
			}
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel {
					named = append(named, m.Name)
				}
			}
		case *parser.AggregateExpr:
			named = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				named = slices.Concat(n.VectorMatching.MatchingLabels, n.VectorMatching.Include)
			}
		}
		for _, label := range named {
			if !below(metrics, node, label) {
				all = append(all, fmt.Sprintf("no series of %s has the label %s", node, label))
			}
		}
		return nil
	})
	return all
}

// below reports whether all series that a node reads have the label.
func below(metrics map[string]metric, node parser.Node, label string) bool {
	has := true
	parser.Inspect(node, func(n parser.Node, _ []parser.Node) error {
		if s, is := n.(*parser.VectorSelector); is {
			has = has && slices.Contains(series(metrics, s.Name), label)
		}
		return nil
	})
	return has
}

// What judges expressions sees what is wrong with one.
func TestFaultsAreFound(t *testing.T) {
	metrics := reference(t)
	for expr, want := range map[string]string{
		"fleetscale_cluster_ready == ":                                            "parse error",
		"fleetscale_cluster_unheard_of":                                           "there is no series fleetscale_cluster_unheard_of",
		"fleetscale_cluster_request_duration_seconds":                             "there is no series",
		`fleetscale_cluster_ready{member="east"}`:                                 "has the label member",
		"sum by (hpa_name) (fleetscale_federatedhpa_mode)":                        "has the label hpa_name",
		"fleetscale_cluster_ready * on (cluster, name) fleetscale_clusters":       "has the label name",
		"sum by (le) (rate(fleetscale_cluster_request_duration_seconds_sum[5m]))": "has the label le",
	} {
		if got := fmt.Sprint(faults(metrics, expr)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", expr, got, want)
		}
	}
	for _, expr := range []string{"sum by (le) (rate(fleetscale_cluster_request_duration_seconds_bucket[5m]))", "vector(1)"} {
		if got := faults(metrics, expr); len(got) > 0 {
			t.Errorf("%s: %q", expr, got)
		}
	}
}
