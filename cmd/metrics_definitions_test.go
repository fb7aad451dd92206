// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	manager "github.com/fleetscale/fleetscale/cmd/controller-manager/app"
	adapter "github.com/fleetscale/fleetscale/cmd/metrics-adapter/app"
	webhook "github.com/fleetscale/fleetscale/cmd/webhook/app"
)

// definition is one metric as its program defines it, whether or not it has series yet.
type definition struct {
	name, help string
	kind       dto.MetricType
	labels     []string // those of its series, in the order of the definition
	programs   []string // that have it, in the order of their names
}

// definitions are all metrics of ours, by name.
func definitions(t *testing.T) map[string]*definition {
	t.Helper()
	all := map[string]*definition{}
	for program, register := range map[string]func(prometheus.Registerer){
		"controller-manager": func(to prometheus.Registerer) { manager.NewMetrics(to) },
		"metrics-adapter":    func(to prometheus.Registerer) { adapter.NewMetrics(to) },
		"webhook":            func(to prometheus.Registerer) { webhook.NewMetrics(to) },
	} {
		register(registerer{t: t, program: program, all: all})
	}
	return all
}

// registerer notes what is registered. It does not gather: a vector has no series before something happens.
type registerer struct {
	t       *testing.T
	program string
	all     map[string]*definition
}

func (r registerer) Register(c prometheus.Collector) error {
	shown := kindsShown(r.t, c)
	for _, desc := range described(c) {
		d := parsed(r.t, desc)
		d.kind = kindOf(c, d.name, shown)
		known := r.all[d.name]
		switch {
		case known == nil:
			known = d
			r.all[d.name] = d
		case known.help != d.help || known.kind != d.kind || !slices.Equal(known.labels, d.labels):
			return fmt.Errorf("%s is defined in two ways: %v and %v", d.name, *known, *d)
		}
		known.programs = append(known.programs, r.program)
		slices.Sort(known.programs)
	}
	return nil
}

func (r registerer) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		if err := r.Register(c); err != nil {
			r.t.Error(err)
		}
	}
}

func (registerer) Unregister(prometheus.Collector) bool { return false }

// kindOf is the type of a metric. A collector of our own that has nothing to tell yet shows none; there the name does, which
// promlint holds to the type in the tests of its package.
func kindOf(c prometheus.Collector, name string, shown map[string]dto.MetricType) dto.MetricType {
	switch c.(type) {
	case *prometheus.CounterVec:
		return dto.MetricType_COUNTER
	case *prometheus.GaugeVec:
		return dto.MetricType_GAUGE
	case *prometheus.HistogramVec:
		return dto.MetricType_HISTOGRAM
	}
	if kind, is := shown[name]; is {
		return kind
	}
	if strings.HasSuffix(name, "_total") {
		return dto.MetricType_COUNTER
	}
	return dto.MetricType_GAUGE
}

// kindsShown are the types of what a collector tells already.
func kindsShown(t *testing.T, c prometheus.Collector) map[string]dto.MetricType {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]dto.MetricType{}
	for _, f := range families {
		kinds[f.GetName()] = f.GetType()
	}
	return kinds
}

func described(c prometheus.Collector) []*prometheus.Desc {
	to := make(chan *prometheus.Desc)
	go func() { c.Describe(to); close(to) }()
	var all []*prometheus.Desc
	for d := range to {
		all = append(all, d)
	}
	return all
}

// A Desc tells what is in it by this text only.
var descText = regexp.MustCompile(`^Desc{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), .*constLabels: {.*}, variableLabels: {([^}]*)}}$`)

func parsed(t *testing.T, desc *prometheus.Desc) *definition {
	t.Helper()
	parts := descText.FindStringSubmatch(desc.String())
	if parts == nil {
		t.Fatalf("cannot read %s", desc)
	}
	d := &definition{}
	for i, to := range []*string{&d.name, &d.help} {
		text, err := strconv.Unquote(parts[i+1])
		if err != nil {
			t.Fatal(err)
		}
		*to = text
	}
	if parts[3] != "" {
		d.labels = strings.Split(parts[3], ",")
	}
	return d
}

// libraryMetrics are those of controller-runtime that deploy/components/monitoring reads, in the programs that have them.
var libraryMetrics = map[string][]string{
	"controller_runtime_reconcile_panics_total": {"controller-manager"},
	"controller_runtime_webhook_panics_total":   {"webhook"},
	"leader_election_master_status":             {"controller-manager"},
}

// ofLibraries are definitions of libraryMetrics.
func ofLibraries(t *testing.T) map[string]*definition {
	t.Helper()
	all := map[string]*definition{}
	for _, desc := range described(ctrlmetrics.Registry.(prometheus.Collector)) {
		if d := parsed(t, desc); libraryMetrics[d.name] != nil {
			d.programs = libraryMetrics[d.name]
			d.kind = kindOf(nil, d.name, nil)
			all[d.name] = d
		}
	}
	if len(all) != len(libraryMetrics) {
		t.Errorf("of %v controller-runtime has only %v", slices.Sorted(maps.Keys(libraryMetrics)), slices.Sorted(maps.Keys(all)))
	}
	return all
}
