// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	customv1beta1 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta1"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
)

// Figure is what a custom metric says of an object, which need not exist. Those of Pods are set with their [Workload].
type Figure struct {
	// Namespace is empty for objects that are in none, namespaces among them.
	Namespace string
	// Resource is plural and has its group, if any: services, deployments.apps.
	Resource string
	// Object is the object's name.
	Object string
	// Metric is the metric's name. An object has one figure of a metric.
	Metric string
	Value  resource.Quantity
}

// Series is one series of an external metric. All namespaces have it.
type Series struct {
	Metric string
	// Labels tell the series of a metric apart.
	Labels map[string]string
	Value  resource.Quantity
}

// figures are what the custom and external metrics APIs tell, besides those of Pods.
type figures struct {
	mu     sync.Mutex
	custom map[figureKey]resource.Quantity
	series []Series
}

type figureKey struct {
	namespace, resource, object, metric string
}

func newFigures() *figures { return &figures{custom: map[figureKey]resource.Quantity{}} }

// SetFigure has the custom metrics API tell this from now on.
func (m *Member) SetFigure(f Figure) {
	m.figures.mu.Lock()
	defer m.figures.mu.Unlock()
	m.figures.custom[figureKey{f.Namespace, f.Resource, f.Object, f.Metric}] = f.Value
}

// SetSeries has the external metrics API tell this from now on, in place of
// what it told of the same metric and labels.
func (m *Member) SetSeries(s Series) {
	m.figures.mu.Lock()
	defer m.figures.mu.Unlock()
	m.figures.series = slices.DeleteFunc(m.figures.series, func(old Series) bool {
		return old.Metric == s.Metric && labels.Equals(old.Labels, s.Labels)
	})
	m.figures.series = append(m.figures.series, s)
}

// value is one item of an answer.
type value struct {
	object corev1.ObjectReference
	of     resource.Quantity
}

func (m *Member) serveCustom(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	k := figureKey{info.Namespace, info.Resource, info.Name, info.Subresource}
	if info.Resource == "metrics" { // of the namespace itself
		k = figureKey{"", "namespaces", info.Namespace, info.Name}
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		refuse(w, r, apierrors.NewBadRequest("labelSelector: "+err.Error()))
		return
	}
	values := append(m.figures.find(k), m.world.metricOfPods(k, selector)...)
	if len(values) == 0 {
		refuse(w, r, apierrors.NewNotFound(schema.GroupResource{Group: customGroup, Resource: k.resource}, k.object+"/"+k.metric))
		return
	}
	now := seconds(time.Now())
	if info.APIVersion == "v1beta1" {
		list := &customv1beta1.MetricValueList{}
		for _, v := range values {
			list.Items = append(list.Items, customv1beta1.MetricValue{DescribedObject: v.object, MetricName: k.metric, Timestamp: now, Value: v.of})
		}
		m.reply(w, r, http.StatusOK, list, customv1beta1.SchemeGroupVersion)
		return
	}
	list := &customv1beta2.MetricValueList{}
	for _, v := range values {
		list.Items = append(list.Items, customv1beta2.MetricValue{
			DescribedObject: v.object, Metric: customv1beta2.MetricIdentifier{Name: k.metric}, Timestamp: now, Value: v.of,
		})
	}
	m.reply(w, r, http.StatusOK, list, customv1beta2.SchemeGroupVersion)
}

func (f *figures) find(asked figureKey) []value {
	f.mu.Lock()
	defer f.mu.Unlock()
	var values []value
	for k, of := range f.custom {
		named := k
		if asked.object == "*" {
			named.object = "*"
		}
		if named == asked {
			values = append(values, value{corev1.ObjectReference{Kind: kindOf(k.resource), Namespace: k.namespace, Name: k.object}, of})
		}
	}
	slices.SortFunc(values, func(a, b value) int { return cmp.Compare(a.object.Name, b.object.Name) })
	return values
}

func kindOf(resource string) string {
	group := schema.ParseGroupResource(resource)
	for _, s := range servedResources() {
		if s.gr() == group {
			return s.kind
		}
	}
	return group.Resource
}

func (w *world) metricOfPods(k figureKey, selector labels.Selector) []value {
	if k.resource != "pods" {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	var values []value
	for _, e := range w.shelves["pods"][k.namespace] {
		p := e.(*pod)
		of, has := p.of.Metrics[k.metric]
		if !has || k.object != "*" && k.object != p.name || k.object == "*" && !selector.Matches(p.labels()) {
			continue
		}
		values = append(values, value{corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: p.of.Namespace, Name: p.name}, of})
	}
	return values
}

func (m *Member) serveExternal(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		refuse(w, r, apierrors.NewBadRequest("labelSelector: "+err.Error()))
		return
	}
	list := &externalv1beta1.ExternalMetricValueList{}
	known := false
	m.figures.mu.Lock()
	for _, s := range m.figures.series {
		if s.Metric != info.Resource {
			continue
		}
		known = true
		if selector.Matches(labels.Set(s.Labels)) {
			list.Items = append(list.Items, externalv1beta1.ExternalMetricValue{MetricName: s.Metric, MetricLabels: s.Labels,
				Timestamp: seconds(time.Now()), Value: s.Value})
		}
	}
	m.figures.mu.Unlock()
	if !known {
		refuse(w, r, apierrors.NewNotFound(schema.GroupResource{Group: externalGroup, Resource: info.Resource}, ""))
		return
	}
	m.reply(w, r, http.StatusOK, list, externalv1beta1.SchemeGroupVersion)
}

// listed are the metrics that discovery of the custom or external metrics API shows.
func (m *Member) listed(group string) []metav1.APIResource {
	m.world.mu.RLock()
	m.figures.mu.Lock()
	names := map[string]bool{} // to whether namespaced
	if group == externalGroup {
		for _, s := range m.figures.series {
			names[s.Metric] = true
		}
	} else {
		for k := range m.figures.custom {
			names[k.resource+"/"+k.metric] = k.namespace != ""
		}
		for _, running := range m.world.workloads {
			for metric := range running.Metrics {
				names["pods/"+metric] = true
			}
		}
	}
	m.figures.mu.Unlock()
	m.world.mu.RUnlock()
	kind := map[string]string{customGroup: "MetricValueList", externalGroup: "ExternalMetricValueList"}[group]
	var all []metav1.APIResource
	for name, namespaced := range names {
		all = append(all, metav1.APIResource{Name: name, Namespaced: namespaced, Kind: kind, Verbs: metav1.Verbs{"get"}})
	}
	slices.SortFunc(all, func(a, b metav1.APIResource) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
