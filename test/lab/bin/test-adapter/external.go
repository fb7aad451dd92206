// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider/defaults"
)

// external answers with the series that were set. Namespaces are not told apart.
type external struct {
	mu     sync.RWMutex
	series map[string][]external_metrics.ExternalMetricValue // by metric
}

func newExternal() *external {
	return &external{series: map[string][]external_metrics.ExternalMetricValue{}}
}

// GetExternalMetric tells a metric that it does not know from one without such
// series, as prometheus-adapter does.
func (e *external) GetExternalMetric(_ context.Context, _ string, selector labels.Selector,
	info provider.ExternalMetricInfo) (*external_metrics.ExternalMetricValueList, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	known, ok := e.series[info.Metric]
	if !ok {
		return nil, provider.NewMetricNotFoundError(schema.GroupResource{Group: external_metrics.GroupName, Resource: "externalmetrics"},
			info.Metric)
	}
	list := &external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{}}
	for _, value := range known {
		if selector.Matches(labels.Set(value.MetricLabels)) {
			value.Timestamp = metav1.Now()
			list.Items = append(list.Items, value)
		}
	}
	return list, nil
}

// ListAllExternalMetrics is never empty: clients take an API without resources for broken.
func (e *external) ListAllExternalMetrics() []provider.ExternalMetricInfo {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.series) == 0 {
		return defaults.DefaultExternalMetricsProvider{}.ListAllExternalMetrics()
	}
	var all []provider.ExternalMetricInfo
	for _, metric := range slices.Sorted(maps.Keys(e.series)) {
		all = append(all, provider.ExternalMetricInfo{Metric: metric})
	}
	return all
}

// install adds
//
//	POST   /external-metrics/{metric}?labels=queue=a,zone=b   body: a quantity
//	DELETE /external-metrics/{metric}                         all its series
func (e *external) install(mux *http.ServeMux) {
	mux.HandleFunc("POST /external-metrics/{metric}", e.set)
	mux.HandleFunc("DELETE /external-metrics/{metric}", e.unset)
}

func (e *external) set(w http.ResponseWriter, r *http.Request) {
	quantity, set, err := parseValue(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	metric := r.PathValue("metric")
	e.mu.Lock()
	defer e.mu.Unlock()
	others := slices.DeleteFunc(e.series[metric], func(v external_metrics.ExternalMetricValue) bool {
		return labels.Equals(v.MetricLabels, set)
	})
	e.series[metric] = append(others, external_metrics.ExternalMetricValue{MetricName: metric, MetricLabels: set, Value: quantity})
}

func (e *external) unset(_ http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.series, r.PathValue("metric"))
}
