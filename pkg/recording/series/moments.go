// SPDX-License-Identifier: Apache-2.0

package series

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// prefix is that of all metrics that are read.
const prefix = "fleetscale_federatedhpa_"

// The metrics that are read, without the prefix.
const (
	specMin         = "spec_min_replicas"
	specMax         = "spec_max_replicas"
	currentReplicas = "current_replicas"
	desiredReplicas = "desired_replicas"
	decidedAt       = "decision_timestamp_seconds"
	unseenClusters  = "unseen_clusters"
	copies          = "copies"
	mode            = "mode"
	clusterReplicas = "cluster_replicas"
	metricTarget    = "metric_target"
	metricPods      = "metric_pods"
	metricAmount    = "metric_amount"
)

var (
	// needed are those without any of which no decision is read, and telling those without any of which it is not known what it was told.
	needed  = []string{specMin, specMax, currentReplicas, desiredReplicas}
	telling = []string{unseenClusters, metricPods, metricAmount}
	others  = []string{decidedAt, copies, mode, clusterReplicas, metricTarget}
)

// Names are those of the metrics that are read.
func Names() []string { return whole(slices.Concat(needed, telling, others)) }

// Lacking are the metrics of which there are no series among those of the names that were seen: those without any of which no decision is
// read, and those without any of which it is not known what decisions were told.
func Lacking(seen map[model.LabelValue]bool) (need, tell []string) {
	there := func(name string) bool { return seen[model.LabelValue(prefix+name)] }
	return whole(slices.DeleteFunc(slices.Clone(needed), there)), whole(slices.DeleteFunc(slices.Clone(telling), there))
}

// whole are names with the prefix.
func whole(names []string) []string {
	for i, name := range names {
		names[i] = prefix + name
	}
	return names
}

// mostMetrics is how many metrics an autoscaler may have here; more are not read.
const mostMetrics = 64

// Moment is what the series say of an autoscaler at one time. A number that they do not say is no number (NaN).
type Moment struct {
	from                                                    string // who tells it
	at                                                      time.Time
	min, max, current, desired, decided, unseen, wholeTimes float64
	mode                                                    v1alpha1.AutoscalingMode
	// split: it was in distributed mode.
	split    bool
	clusters []cluster
	metrics  []metric
}

type cluster struct {
	name                     string
	assigned, current, ready float64
}

type metric struct {
	name   string
	target float64
	told   [kinds]float64
}

// Moments are what series of one autoscaler say, in the order of time. Where several programs tell of it at one time, as when another
// became the leader, the one counts that has decided last.
func Moments(all model.Matrix) []Moment {
	found := map[model.Time]map[string]*Moment{}
	for _, s := range all {
		set := setter(s.Metric)
		if set == nil {
			continue
		}
		from := sourceOf(s.Metric)
		for _, v := range s.Values {
			at := found[v.Timestamp]
			if at == nil {
				at = map[string]*Moment{}
				found[v.Timestamp] = at
			}
			if at[from] == nil {
				at[from] = newMoment(from, v.Timestamp.Time().UTC())
			}
			set(at[from], float64(v.Value))
		}
	}
	moments := make([]Moment, 0, len(found))
	for _, at := range slices.Sorted(maps.Keys(found)) {
		var best *Moment
		for _, from := range slices.Sorted(maps.Keys(found[at])) {
			if m := found[at][from]; best == nil || cmp.Compare(m.decided, best.decided) > 0 { // what is no number is less than any
				best = m
			}
		}
		slices.SortFunc(best.clusters, func(a, b cluster) int { return cmp.Compare(a.name, b.name) })
		moments = append(moments, *best)
	}
	return moments
}

// Returns is how often the one who tells of the moments, which are in the order of time, is another than before, and told already. A
// leader seldom is one again; what does so often is of two hubs, or of two Prometheus.
func Returns(moments []Moment) int {
	n, told, last := 0, map[string]bool{}, ""
	for i := range moments {
		from := moments[i].from
		if from != last && told[from] {
			n++
		}
		told[from], last = true, from
	}
	return n
}

func newMoment(from string, at time.Time) *Moment {
	no := math.NaN()
	return &Moment{from: from, at: at, min: no, max: no, current: no, desired: no, decided: no, unseen: no, wholeTimes: no}
}

// renamed begins the names of labels of ours of whose name the target has one, where that one is kept (honor_labels: false).
const renamed = "exported_"

// own is a label of ours, whatever it was renamed to.
func own(labels model.Metric, name model.LabelName) string {
	if value, is := labels[renamed+name]; is {
		return string(value)
	}
	return string(labels[name])
}

// sourceOf is who tells a series: the labels that are not our own.
func sourceOf(labels model.Metric) string {
	target := labels.Clone()
	for _, name := range []model.LabelName{model.MetricNameLabel, "cluster", "kind", "index", "metric", "mode"} {
		delete(target, name)
		delete(target, renamed+name)
	}
	return target.String()
}

// setter sets what a series says; nil: it says nothing that is read.
func setter(labels model.Metric) func(*Moment, float64) {
	name := string(labels[model.MetricNameLabel])
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return nil
	}
	switch name = name[len(prefix):]; name {
	case mode:
		is := v1alpha1.AutoscalingMode(own(labels, "mode"))
		return func(m *Moment, _ float64) { m.mode = is }
	case clusterReplicas:
		return clusterSetter(labels)
	case metricTarget, metricPods, metricAmount:
		return metricSetter(name, labels)
	}
	of := map[string]func(*Moment) *float64{
		specMin:         func(m *Moment) *float64 { return &m.min },
		specMax:         func(m *Moment) *float64 { return &m.max },
		currentReplicas: func(m *Moment) *float64 { return &m.current },
		desiredReplicas: func(m *Moment) *float64 { return &m.desired },
		decidedAt:       func(m *Moment) *float64 { return &m.decided },
		unseenClusters:  func(m *Moment) *float64 { return &m.unseen },
		copies:          func(m *Moment) *float64 { return &m.wholeTimes },
	}[name]
	if of == nil {
		return nil
	}
	return func(m *Moment, value float64) { *of(m) = value }
}

func clusterSetter(labels model.Metric) func(*Moment, float64) {
	name, kind, i := own(labels, "cluster"), own(labels, "kind"), 0
	return func(m *Moment, value float64) {
		if i < 0 || i >= len(m.clusters) || m.clusters[i].name != name { // mostly it is where it was in the moment before
			i = slices.IndexFunc(m.clusters, func(c cluster) bool { return c.name == name })
		}
		if i < 0 {
			no := math.NaN()
			i, m.clusters = len(m.clusters), append(m.clusters, cluster{name, no, no, no})
		}
		switch c := &m.clusters[i]; kind {
		case "assigned":
			c.assigned = value
		case "current":
			c.current = value
		case "ready":
			c.ready = value
		case "assigned_max":
			m.split = true
		}
	}
}

func metricSetter(name string, labels model.Metric) func(*Moment, float64) {
	index, err := strconv.Atoi(own(labels, "index"))
	kind, known := kindOf(own(labels, "kind"), name == metricAmount)
	if err != nil || index < 0 || index >= mostMetrics || !known && name != metricTarget {
		return nil
	}
	called := own(labels, "metric")
	return func(m *Moment, value float64) {
		for len(m.metrics) <= index {
			none := metric{target: math.NaN()}
			for k := range none.told {
				none.told[k] = math.NaN()
			}
			m.metrics = append(m.metrics, none)
		}
		of := &m.metrics[index]
		if of.name = called; name == metricTarget {
			of.target = value
			return
		}
		of.told[kind] = value
	}
}
