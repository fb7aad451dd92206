// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
)

// external answers with the series that were set, and for a metric that has
// none with what the provider beneath it knows. Namespaces are not told apart.
type external struct {
	provider.ExternalMetricsProvider

	mu     sync.RWMutex
	series map[string][]external_metrics.ExternalMetricValue // by metric
}

func newExternal(beneath provider.ExternalMetricsProvider) *external {
	return &external{
		ExternalMetricsProvider: beneath,
		series:                  map[string][]external_metrics.ExternalMetricValue{},
	}
}

func (e *external) GetExternalMetric(ctx context.Context, namespace string, selector labels.Selector, info provider.ExternalMetricInfo) (*external_metrics.ExternalMetricValueList, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	series, ours := e.series[info.Metric]
	if !ours {
		return e.ExternalMetricsProvider.GetExternalMetric(ctx, namespace, selector, info)
	}
	list := &external_metrics.ExternalMetricValueList{Items: []external_metrics.ExternalMetricValue{}}
	for _, value := range series {
		if selector.Matches(labels.Set(value.MetricLabels)) {
			value.Timestamp = metav1.Now()
			list.Items = append(list.Items, value)
		}
	}
	return list, nil
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
	value, err := parseValue(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	series := slices.DeleteFunc(e.series[value.MetricName], func(v external_metrics.ExternalMetricValue) bool {
		return labels.Equals(v.MetricLabels, value.MetricLabels)
	})
	e.series[value.MetricName] = append(series, value)
}

func (e *external) unset(_ http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.series, r.PathValue("metric"))
}

func parseValue(r *http.Request) (external_metrics.ExternalMetricValue, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err != nil {
		return external_metrics.ExternalMetricValue{}, err
	}
	quantity, err := resource.ParseQuantity(strings.Trim(strings.TrimSpace(string(body)), `"`))
	if err != nil {
		return external_metrics.ExternalMetricValue{}, err
	}
	set, err := labels.ConvertSelectorToLabelsMap(r.URL.Query().Get("labels"))
	if err != nil {
		return external_metrics.ExternalMetricValue{}, err
	}
	return external_metrics.ExternalMetricValue{MetricName: r.PathValue("metric"), MetricLabels: set, Value: quantity}, nil
}
