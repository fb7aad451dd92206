// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider/defaults"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider/helpers"
)

// custom answers with the figures that were set. Asked by name, it tells of
// objects that need not exist; asked for all, of those that the cluster lists.
type custom struct {
	client dynamic.Interface
	mapper apimeta.RESTMapper

	mu      sync.RWMutex
	figures map[subject]figure
}

// subject is what a figure is about. A namespace, like all that is in none, has
// only a name.
type subject struct {
	resource schema.GroupResource
	object   types.NamespacedName
	metric   string
}

type figure struct {
	value  resource.Quantity
	labels labels.Set
	set    metav1.Time
}

func newCustom(client dynamic.Interface, mapper apimeta.RESTMapper) *custom {
	return &custom{client: client, mapper: mapper, figures: map[subject]figure{}}
}

func (c *custom) GetMetricByName(_ context.Context, name types.NamespacedName, info provider.CustomMetricInfo,
	selector labels.Selector) (*custom_metrics.MetricValue, error) {
	found, ok := c.figureOf(subject{resource: info.GroupResource, object: name, metric: info.Metric})
	if !ok {
		return nil, provider.NewMetricNotFoundForError(info.GroupResource, info.Metric, name.Name)
	}
	if !selector.Matches(found.labels) {
		return nil, provider.NewMetricNotFoundForSelectorError(info.GroupResource, info.Metric, name.Name, selector)
	}
	return c.valueOf(name, info, selector, found)
}

func (c *custom) GetMetricBySelector(_ context.Context, namespace string, objects labels.Selector, info provider.CustomMetricInfo,
	selector labels.Selector) (*custom_metrics.MetricValueList, error) {
	names, err := helpers.ListObjectNames(c.mapper, c.client, namespace, objects, info)
	if err != nil {
		return nil, err
	}
	list := &custom_metrics.MetricValueList{Items: []custom_metrics.MetricValue{}}
	for _, name := range names {
		object := types.NamespacedName{Namespace: namespace, Name: name}
		found, ok := c.figureOf(subject{resource: info.GroupResource, object: object, metric: info.Metric})
		if !ok || !selector.Matches(found.labels) {
			continue
		}
		value, err := c.valueOf(object, info, selector, found)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *value)
	}
	return list, nil
}

func (c *custom) figureOf(s subject) (figure, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok := c.figures[s]
	return found, ok
}

func (c *custom) valueOf(name types.NamespacedName, info provider.CustomMetricInfo, selector labels.Selector,
	f figure) (*custom_metrics.MetricValue, error) {
	object, err := helpers.ReferenceFor(c.mapper, name, info)
	if err != nil {
		return nil, err
	}
	value := &custom_metrics.MetricValue{
		DescribedObject: object,
		Metric:          custom_metrics.MetricIdentifier{Name: info.Metric},
		Timestamp:       f.set,
		Value:           f.value,
	}
	if !selector.Empty() {
		value.Metric.Selector, err = metav1.ParseToLabelSelector(selector.String())
	}
	return value, err
}

// ListAllMetrics is never empty: clients take an API without resources for broken.
func (c *custom) ListAllMetrics() []provider.CustomMetricInfo {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.figures) == 0 {
		return defaults.DefaultCustomMetricsProvider{}.ListAllMetrics()
	}
	var all []provider.CustomMetricInfo
	for s := range c.figures {
		all = append(all, provider.CustomMetricInfo{GroupResource: s.resource, Namespaced: s.object.Namespace != "", Metric: s.metric})
	}
	slices.SortFunc(all, func(a, b provider.CustomMetricInfo) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// install adds, at the paths at which figures are read,
//
//	POST   /write-metrics/namespaces/{namespace}/{resource}/{name}/{metric}?labels=verb=get   body: a quantity
//	POST   /write-metrics/namespaces/{name}/metrics/{metric}
//	POST   /write-metrics/{resource}/{name}/{metric}                                          of no namespace
//	DELETE the same
func (c *custom) install(mux *http.ServeMux) {
	for _, path := range []string{
		"/write-metrics/namespaces/{namespace}/{resource}/{name}/{metric}",
		"/write-metrics/namespaces/{name}/metrics/{metric}",
		"/write-metrics/{resource}/{name}/{metric}",
	} {
		mux.HandleFunc("POST "+path, c.set)
		mux.HandleFunc("DELETE "+path, c.unset)
	}
}

func subjectOf(r *http.Request) subject {
	return subject{
		resource: schema.ParseGroupResource(cmp.Or(r.PathValue("resource"), "namespaces")),
		object:   types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")},
		metric:   r.PathValue("metric"),
	}
}

func (c *custom) set(w http.ResponseWriter, r *http.Request) {
	value, set, err := parseValue(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.figures[subjectOf(r)] = figure{value: value, labels: set, set: metav1.Now()}
}

func (c *custom) unset(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.figures, subjectOf(r))
}
