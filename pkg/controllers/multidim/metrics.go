// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Metrics are what is recommended, and what comes of it; cpu in cores, memory in bytes. Of objects some have series, so that a large fleet
// does not flood who scrapes; these go with the object. Labels:
// bound is target, lower, upper or uncapped; result is added, repeated or ignored.
type Metrics struct {
	durations prometheus.Histogram
	moves     *prometheus.CounterVec
	kills     *prometheus.CounterVec
	samples   *prometheus.CounterVec

	objects perobject.Shown[[]prometheus.Metric] // their gauges

	mu    sync.Mutex
	moved map[string]bool // clusters of moves
	swept time.Time       // when those that have left were last forgotten
}

const namespace, subsystem = "fleetscale", "mpa"

var (
	recommendedDesc = gauge("recommendation", "What a container should request, in cores or bytes.", "container", "resource", "bound")
	requestedDesc   = gauge("requested", "What the Pods of a cluster request together, in cores or bytes.", "cluster", "resource")
	podsDesc        = gauge("pods", "Pods of a cluster: all that run, those that request what is recommended, and those whose resize is "+
		"under way, deferred or infeasible.", "cluster", "state")
	savingsDesc = gauge("savings",
		"What all Pods would request less if they had the recommended size, in cores or bytes; negative if more.",
		"resource")
	withoutDesc = prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, "without_series"),
		"MultidimPodAutoscalers that have no series of their own, as there are more than --metrics-per-object.", nil, nil)
)

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, append([]string{"namespace", "name"}, labels...), nil)
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
	}
	m := &Metrics{
		durations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "reconcile_duration_seconds",
			Help: "Duration of a reconcile of a MultidimPodAutoscaler.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
		kills:   counter("ooms_total", "Containers that were killed for want of memory.", "namespace", "name"),
		moves:   counter("moves_total", "Pods that were to be resized or evicted, by what came of it.", "cluster", "way", "result"),
		samples: counter("samples_total", "Samples of what containers used, by what became of them.", "result"),
		moved:   map[string]bool{},
	}
	reg.MustRegister(m.durations, m.moves, m.kills, m.samples, m)
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{recommendedDesc, requestedDesc, podsDesc, savingsDesc, withoutDesc} {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	without := m.objects.Each(func(_ client.ObjectKey, gauges []prometheus.Metric) {
		for _, g := range gauges {
			to <- g
		}
	})
	to <- prometheus.MustNewConstMetric(withoutDesc, prometheus.GaugeValue, float64(without))
}

func (m *Metrics) reconciled(p *plan, most int, took time.Duration) {
	m.durations.Observe(took.Seconds())
	shown := m.objects.Admit(client.ObjectKeyFromObject(p.Object), most)
	for i := range p.clusters {
		for _, o := range p.clusters[i].sent {
			m.moves.WithLabelValues(p.clusters[i].name, strings.ToLower(string(o.Way)), resultOf(o.err)).Inc()
		}
		if len(p.clusters[i].sent) > 0 {
			m.mu.Lock()
			m.moved[p.clusters[i].name] = true
			m.mu.Unlock()
		}
	}
	for _, f := range p.fed {
		m.samples.WithLabelValues("added").Add(float64(f.Samples))
		m.samples.WithLabelValues("repeated").Add(float64(f.Repeats))
		m.samples.WithLabelValues("ignored").Add(float64(f.Ignored))
		if shown {
			m.kills.WithLabelValues(p.Object.Namespace, p.Object.Name).Add(float64(len(f.Kills)))
		}
	}
}

// sweep is how often clusters that have left are forgotten.
const sweep = time.Minute

// due reports whether clusters that have left are to be forgotten now, if there may be any.
func (m *Metrics) due(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.moved) == 0 || now.Sub(m.swept) < sweep {
		return false
	}
	m.swept = now
	return true
}

// keep forgets all clusters but these.
func (m *Metrics) keep(clusters []workload.Cluster) {
	there := make(map[string]bool, len(clusters))
	for _, c := range clusters {
		there[c.Facts().Name] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.moved {
		if !there[name] {
			m.moves.DeletePartialMatch(prometheus.Labels{"cluster": name})
			delete(m.moved, name)
		}
	}
}

// resultOf is one of few words.
func resultOf(err error) string {
	switch refused := refusedBy(err); {
	case err == nil:
		return "accepted"
	case refused != nil:
		return string(refused.Why)
	}
	return "failed"
}

// says shows what a status says.
func (m *Metrics) says(p *plan, s *v1alpha1.MultidimPodAutoscalerStatus, most int) {
	key := client.ObjectKeyFromObject(p.Object)
	if p.advice == nil || !m.objects.Admit(key, most) {
		return // as it was
	}
	g := gauges{of: []string{p.Object.Namespace, p.Object.Name}}
	for _, c := range containersOf(s.Recommendation) {
		for bound, size := range map[string]v1alpha1.Size{
			"target": c.Target, "lower": c.LowerBound, "upper": c.UpperBound, "uncapped": c.UncappedTarget,
		} {
			g.add(recommendedDesc, recommendation.AmountsOf(size),
				func(resource string) []string { return []string{c.ContainerName, resource, bound} })
		}
	}
	for i := range p.sizedIn {
		g.add(requestedDesc, p.sizedIn[i].savings.Requested,
			func(resource string) []string { return []string{p.clusters[i].name, resource} })
	}
	for i := range s.Clusters {
		g.count(&s.Clusters[i])
	}
	if s.Savings != nil {
		g.add(savingsDesc, p.sized.savings.Less(), func(resource string) []string { return []string{resource} })
	}
	m.objects.Set(key, g.all)
}

// gauges are those of one object.
type gauges struct {
	of  []string
	all []prometheus.Metric
}

// add adds the amounts of all resources, in cores and bytes.
func (g *gauges) add(desc *prometheus.Desc, a sizes.Amounts, labels func(resource string) []string) {
	for r, name := range recommendation.ResourceNames {
		if a[r] == sizes.None && desc != savingsDesc {
			continue
		}
		value := float64(a[r])
		if sizes.Resource(r) == sizes.CPU {
			value /= 1000
		}
		g.all = append(g.all, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, slices.Concat(g.of, labels(string(name)))...))
	}
}

// count adds the Pods of a cluster, as far as they are known.
func (g *gauges) count(c *v1alpha1.MultidimClusterStatus) {
	for _, of := range []struct {
		state string
		pods  *int32
	}{
		{"running", c.Pods}, {"recommended", c.AsRecommended}, {"resizing", c.Resizing}, {"deferred", c.Deferred}, {"infeasible", c.Infeasible},
	} {
		if of.pods != nil {
			g.all = append(g.all, prometheus.MustNewConstMetric(podsDesc, prometheus.GaugeValue, float64(*of.pods),
				slices.Concat(g.of, []string{c.Name, of.state})...))
		}
	}
}

func (m *Metrics) forget(key client.ObjectKey) {
	m.kills.DeleteLabelValues(key.Namespace, key.Name)
	m.objects.Forget(key)
}
