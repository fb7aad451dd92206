// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
)

// Metrics are what is needed to draw one autoscaler, of either mode: what its spec asks for, and what its status says. They are of some
// objects only, so that a large fleet does not flood who scrapes. Series of an object go with it. Labels: state and mode are those of
// the API; kind is assigned, assigned_max, current, ready or unschedulable, or that of a number of [series.Kind]; index is the place of
// a metric in spec.metrics, as a spec may have two of one name.
type Metrics struct {
	objects perobject.Shown[*shown]
}

var (
	specMinDesc     = describe("spec_min_replicas", "spec.minReplicas.")
	specMaxDesc     = describe("spec_max_replicas", "spec.maxReplicas.")
	currentDesc     = describe("current_replicas", "Replicas that the fleet was set to run at the last reconcile.")
	desiredDesc     = describe("desired_replicas", "Replicas that were last decided on for the fleet; none while that is not known.")
	readyDesc       = describe("ready_replicas", "Ready Pods in all clusters; of a cluster that cannot be seen, as many as were last seen.")
	modeDesc        = describe("mode", "1 for the spec.mode: Active, Observe or Paused.", "mode")
	stateDesc       = describe("state", "1 for the state: Active, Limited, Held, Observing, Paused or Failing.", "state")
	clusterDesc     = describe("cluster_replicas", clusterHelp, "cluster", "kind")
	metricValueDesc = describe("metric_value", "A metric as last read, in base units; utilization as a ratio of requests.", "index", "metric")
	metricGoalDesc  = describe("metric_target",
		"The target of a metric, in base units; utilization as a ratio of requests.", "index", "metric")
	metricPodsDesc   = describe("metric_pods", metricPodsHelp, "index", "metric", "kind")
	metricAmountDesc = describe("metric_amount", metricAmountHelp, "index", "metric", "kind")
	decidedDesc      = describe("decision_timestamp_seconds",
		"When the decision was made that the status is of, in Unix time. Central mode.")
	unseenClustersDesc = describe("unseen_clusters", "Clusters that the last decision could not see. Central mode.")
	copiesDesc         = describe("copies", "In how many clusters the workload runs whole; none where they divide the replicas. Central mode.")
	withoutDesc        = prometheus.NewDesc(prometheus.BuildFQName("fleetscale", "federatedhpa", "without_series"),
		"FederatedHPAs that have no series of their own, as there are more than --metrics-per-object.", nil, nil)
)

const (
	metricPodsHelp = "Pods by how they count for a metric in the last decision, by kind: counted, unready, missing (without a sample) and " +
		"unlisted (samples of Pods that no list holds); of a metric that is not of Pods ready or running, which its value is of. Central mode."
	metricAmountHelp = "What a metric was told in the last decision, in base units, by kind: used by counted Pods, unlisted_used; of a " +
		"utilization requested, unready_requested, missing_requested, and busy (what missing Pods are taken to use, where that is more); " +
		"value of a metric that is not of Pods. Central mode."
)

const clusterHelp = "Replicas of a cluster, by kind: assigned, assigned_max (maxReplicas of its HorizontalPodAutoscaler, in distributed " +
	"mode), current, ready, unschedulable."

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("fleetscale", "federatedhpa", name), help,
		append([]string{"namespace", "name"}, labels...), nil)
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{}
	reg.MustRegister(m)
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{specMinDesc, specMaxDesc, currentDesc, desiredDesc, readyDesc, modeDesc, stateDesc, clusterDesc,
		metricValueDesc, metricGoalDesc, metricPodsDesc, metricAmountDesc, decidedDesc, unseenClustersDesc, copiesDesc, withoutDesc} {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	without := m.objects.Each(func(key client.ObjectKey, object *shown) {
		if object == nil { // it is about to be set
			return
		}
		object.collect(func(desc *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, slices.Concat([]string{key.Namespace, key.Name}, labels)...)
		})
	})
	to <- prometheus.MustNewConstMetric(withoutDesc, prometheus.GaugeValue, float64(without))
}

// show replaces what is shown of an object, if there is room for it among so many.
func (m *Metrics) show(object *v1alpha1.FederatedHPA, most int) {
	if key := client.ObjectKeyFromObject(object); m.objects.Admit(key, most) {
		m.objects.Set(key, shownOf(object))
	}
}

func (m *Metrics) forget(key client.ObjectKey) { m.objects.Forget(key) }

// collect adds the series of one object.
func (s *shown) collect(add func(desc *prometheus.Desc, value float64, labels ...string)) {
	add(specMinDesc, float64(s.min))
	add(specMaxDesc, float64(s.max))
	for _, of := range []struct {
		desc     *prometheus.Desc
		replicas int32
	}{{currentDesc, s.current}, {desiredDesc, s.desired}, {readyDesc, s.ready}} {
		if of.replicas != unknown {
			add(of.desc, float64(of.replicas))
		}
	}
	add(modeDesc, 1, string(s.mode))
	if s.state != "" {
		add(stateDesc, 1, string(s.state))
	}
	for i := range s.clusters {
		for k, kind := range clusterKinds {
			if n := s.clusters[i].replicas[k]; n != unknown {
				add(clusterDesc, float64(n), s.clusters[i].name, kind)
			}
		}
	}
	for i, amount := range s.amounts {
		if amount.Value != nil {
			add(metricValueDesc, *amount.Value, strconv.Itoa(i), amount.Name)
		}
		if amount.Target != nil {
			add(metricGoalDesc, *amount.Target, strconv.Itoa(i), amount.Name)
		}
	}
	if s.decision != nil {
		s.decision.collect(add)
	}
}
