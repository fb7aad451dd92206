// SPDX-License-Identifier: Apache-2.0

// Package cmd holds what the metrics of all programs have in common to rules, and writes docs/metrics-reference.md.
package cmd

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

// reference is where `make generate` and `make verify` have the page written to.
var reference = flag.String("reference", "", "write docs/metrics-reference.md to this file")

const preface = `<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by ` + "`make generate`" + ` from the definitions in the code: see cmd/metrics_test.go. -->

# Metrics reference

All metrics that are fleetscale's own, from the definitions in the code. [How to scrape them](operate.md#scrape-the-programs), and
what to do when an alert that is built on them fires: [Runbooks](runbooks.md).

* ` + "`namespace`, `name`" + ` name an object of the hub; ` + "`cluster`" + ` is the name of a member. A label means the same in all metrics.
  ` + "`fleetscale_horizontal_pod_autoscaler_controller_*`" + ` have names and labels of Kubernetes' HorizontalPodAutoscaler controller, with
  ` + "`hpa_name`" + ` for the name, so that its dashboards can be used.
* The series of an object or a cluster end with it.
* A histogram has series ` + "`_bucket`, `_sum` and `_count`" + `.
* The controller-manager's series of autoscalers are those of its leader; the other replicas have none. With ` + "`--shards`" + ` each has those of
  its shards.

`

// docs/metrics-reference.md says what the code defines.
func TestMetricsReferenceIsCurrent(t *testing.T) {
	page := bytes.NewBufferString(preface)
	writeTable(page, definitions(t))
	fmt.Fprint(page, "\n## Metrics of libraries\n\n"+
		"The programs also have the metrics of the libraries that they are built with: Go's and the "+
		"process's, those of client-go and\ncontroller-runtime, and in the metrics adapter those of the API server library. "+
		"Of these the alerts and dashboards of\ndeploy/components/monitoring read:\n\n")
	writeTable(page, ofLibraries(t))
	if *reference != "" {
		if err := os.WriteFile(*reference, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile("../docs/metrics-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), page.String()); diff != "" {
		t.Errorf("docs/metrics-reference.md is not current; run make generate (-written +definitions):\n%s", diff)
	}
}

func writeTable(to io.Writer, all map[string]*definition) {
	fmt.Fprint(to, "| metric | type | labels | programs | |\n|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := all[name]
		labels := ""
		if len(d.labels) > 0 {
			labels = "`" + strings.Join(d.labels, "`, `") + "`"
		}
		fmt.Fprintf(to, "| `%s` | %s | %s | %s | %s |\n", name, strings.ToLower(d.kind.String()), labels, strings.Join(d.programs, ", "),
			strings.ReplaceAll(d.help, "|", "\\|"))
	}
}

func TestMetricsAreAsPrometheusRecommends(t *testing.T) {
	var families []*dto.MetricFamily
	for _, d := range definitions(t) {
		m := &dto.Metric{}
		for _, label := range d.labels {
			m.Label = append(m.Label, &dto.LabelPair{Name: &label, Value: new("")})
		}
		families = append(families, &dto.MetricFamily{Name: &d.name, Help: &d.help, Type: &d.kind, Metric: []*dto.Metric{m}})
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// One thing has one label, so that series of different metrics can be joined.
func TestMetricsShareTheirLabels(t *testing.T) {
	const upstreams = "fleetscale_horizontal_pod_autoscaler_controller_" // whose dashboards ask for hpa_name
	for name, d := range definitions(t) {
		if !strings.HasPrefix(name, "fleetscale_") {
			t.Errorf("%s does not begin with fleetscale_", name)
		}
		named := slices.Contains(d.labels, "name") || strings.HasPrefix(name, upstreams) && slices.Contains(d.labels, "hpa_name")
		if slices.Contains(d.labels, "namespace") != named {
			t.Errorf("%s has the labels %v: an object has namespace and name", name, d.labels)
		}
		for _, label := range d.labels {
			if label == "hpa_name" && !strings.HasPrefix(name, upstreams) || slices.Contains([]string{"member", "hpa", "object", "le"}, label) {
				t.Errorf("%s has the label %s", name, label)
			}
		}
	}
}

// What is registered past NewMetrics would be missing from the page.
func TestProgramsHaveOneRegistryEach(t *testing.T) {
	registry := regexp.MustCompile(`ctrlmetrics\.Registry|legacyregistry\.Registerer\(\)|prometheus\.Default\w+`)
	for _, program := range []string{"controller-manager", "metrics-adapter", "webhook"} {
		var uses []string
		files, err := filepath.Glob(filepath.Join(program, "app", "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(string(text), "\n") {
				if registry.MatchString(line) {
					uses = append(uses, strings.TrimSpace(line))
				}
			}
		}
		if len(uses) != 1 || !strings.Contains(uses[0], "NewMetrics("+registry.FindString(uses[0])+")") {
			t.Errorf("%s uses its registry other than once, for NewMetrics: %q", program, uses)
		}
	}
}
