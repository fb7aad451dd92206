// SPDX-License-Identifier: Apache-2.0

package central

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// alike are clusters in which the workload selects its Pods in the same way.
type alike struct {
	selector labels.Selector
	clusters []string
}

// patience multiplies the timeout of members for calls of the hub's metrics APIs, which may have to wait for members first.
const patience = 2

// ask asks for all metrics side by side, and says how long each took.
func (m *Mode) ask(ctx context.Context, in *situation) ([]replicas.Metric, []time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience*m.Fleet.Timeout)
	defer cancel()
	metrics := in.Object.Spec.Metrics
	answers, took := make([]replicas.Metric, len(metrics)), make([]time.Duration, len(metrics))
	groups, err := in.groups()
	if err != nil {
		return answers, took // said by the decision
	}
	clustersOf := in.clustersOf()
	var all sync.WaitGroup
	for i := range metrics {
		all.Go(func() {
			asked := m.Fleet.Clock.Now()
			answers[i] = m.askOne(ctx, in, &metrics[i], groups, clustersOf)
			took[i] = m.Fleet.Clock.Since(asked)
		})
	}
	all.Wait()
	return answers, took
}

// askOne asks for one metric; for one of Pods, once for each way to select them, which is nearly always the same in all
// clusters.
func (m *Mode) askOne(ctx context.Context, in *situation, metric *autoscalingv2.MetricSpec, groups []alike,
	clustersOf func(string) []string) replicas.Metric {
	question := hubmetrics.Question{Namespace: in.Object.Namespace, Metric: *metric, Clusters: in.names(), ClustersOf: clustersOf}
	if metric.Type == autoscalingv2.ObjectMetricSourceType || metric.Type == autoscalingv2.ExternalMetricSourceType || len(groups) == 1 {
		question.Selector = groups[0].selector
		return m.Ask.Ask(ctx, question)
	}
	whole := replicas.Metric{Pods: map[string]map[string]replicas.Sample{}, Coverage: &fleet.Coverage{}}
	for _, g := range groups {
		question.Selector, question.Clusters = g.selector, g.clusters
		whole = join(whole, m.Ask.Ask(ctx, question), g.clusters)
	}
	return whole
}

// join adds to an answer what another one says of these clusters.
func join(whole, part replicas.Metric, clusters []string) replicas.Metric {
	if whole.Err = cmp.Or(whole.Err, part.Err); whole.Err != nil {
		return whole
	}
	for _, cluster := range clusters {
		whole.Pods[cluster] = part.Pods[cluster]
		if part.Coverage == nil || slices.Contains(part.Coverage.Answered, cluster) {
			whole.Coverage.Answered = append(whole.Coverage.Answered, cluster)
			continue
		}
		i := slices.IndexFunc(part.Coverage.Silent, func(s fleet.SilentMember) bool { return s.Cluster == cluster })
		if i >= 0 {
			whole.Coverage.Silent = append(whole.Coverage.Silent, part.Coverage.Silent[i])
		}
	}
	return whole
}

// groups are the clusters that take part, by how Pods are selected there, in order; at least one.
func (in *situation) groups() ([]alike, error) {
	clusters := map[string][]string{}
	for p := range sight.Pointers(in.parts) {
		if p.takesPart() {
			text := p.selector(in.scale.Selector)
			clusters[text] = append(clusters[text], p.Facts.Name)
		}
	}
	if len(clusters) == 0 {
		clusters[in.scale.Selector] = nil
	}
	var groups []alike
	for _, text := range slices.Sorted(maps.Keys(clusters)) {
		selector, err := in.selectorOf(text)
		if err != nil {
			return nil, err
		}
		groups = append(groups, alike{selector, clusters[text]})
	}
	return groups, nil
}

// names are the clusters that take part.
func (in *situation) names() []string {
	var names []string
	for i := range in.parts {
		if in.parts[i].takesPart() {
			names = append(names, in.parts[i].Facts.Name)
		}
	}
	return names
}

// clustersOf returns a function that tells the clusters which have a Pod of a name. It is made when it is first used: our
// own metrics adapter says of each Pod where it is.
func (in *situation) clustersOf() func(pod string) []string {
	index := sync.OnceValue(func() map[string][]string {
		clusters := map[string][]string{}
		for p := range sight.Pointers(in.parts) {
			for j := range p.Pods.Pods {
				name := p.Pods.Pods[j].Name
				clusters[name] = append(clusters[name], p.Facts.Name)
			}
		}
		return clusters
	})
	return func(pod string) []string { return index()[pod] }
}
