// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

const runbooks = "https://github.com/fleetscale/fleetscale/blob/main/docs/runbooks.md#"

// alerts are those of deploy/components/monitoring, as Prometheus reads them from its operator.
func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(component, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Kind string    `yaml:"kind"`
		Spec yaml.Node `yaml:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil || object.Kind != "PrometheusRule" {
		t.Fatal(object.Kind, err)
	}
	spec, err := yaml.Marshal(&object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, faults := rulefmt.Parse(spec, false, model.LegacyValidation, promql, slog.New(slog.DiscardHandler))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func TestAlertsReadWhatThereIs(t *testing.T) {
	metrics := reference(t)
	for _, a := range alerts(t) {
		for _, fault := range faults(metrics, a.Expr) {
			t.Errorf("%s: %s", a.Alert, fault)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s has the severity %q", a.Alert, a.Labels["severity"])
		}
		for _, text := range []string{a.Annotations["summary"], a.Annotations["description"]} {
			for _, label := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
				if !slices.Contains(grouping(t, a.Expr), label[1]) {
					t.Errorf("%s: %q names what the expression drops", a.Alert, text)
				}
			}
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no sentence", a.Alert, text)
			}
		}
	}
}

// grouping are the labels that are left of series after the aggregations of an expression, which all of ours end with.
func grouping(t *testing.T, expr string) []string {
	t.Helper()
	tree, err := promql.ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		if a, is := node.(*parser.AggregateExpr); is && !a.Without {
			all = append(all, a.Grouping...)
		}
		return nil
	})
	return all
}

// Each alert has a runbook, which says three things, and leads to headings that exist.
func TestAlertsHaveRunbooks(t *testing.T) {
	page := text(t, "runbooks.md")
	sections := strings.Split(page, "\n## ")[1:]
	var headings []string
	for _, section := range sections {
		name, body, _ := strings.Cut(section, "\n")
		headings = append(headings, name)
		for _, part := range []string{"**What it means.** ", "**What to check.** ", "**What to do.** "} {
			if strings.Count(body, part) != 1 {
				t.Errorf("%s has no %q", name, part)
			}
		}
	}
	var names []string
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		if a.Annotations["runbook_url"] != runbooks+strings.ToLower(a.Alert) {
			t.Errorf("%s has the runbook %s", a.Alert, a.Annotations["runbook_url"])
		}
	}
	if !slices.Equal(names, headings) {
		t.Errorf("alerts and runbooks differ:\n%v\n%v", names, headings)
	}
	for _, link := range regexp.MustCompile(`\]\(([\w.-]*)#([\w-]+)\)`).FindAllStringSubmatch(page, -1) {
		file := link[1]
		if file == "" {
			file = "runbooks.md"
		}
		if !slices.Contains(anchors(text(t, file)), link[2]) {
			t.Errorf("%s has no heading #%s", file, link[2])
		}
	}
}

func text(t *testing.T, doc string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("../../docs", doc))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\w -]`)
)

// anchors are those that GitHub makes of headings.
func anchors(page string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}
