// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	customregistry "sigs.k8s.io/custom-metrics-apiserver/pkg/registry/custom_metrics"

	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// customProvider answers for custom.metrics.k8s.io.
type customProvider struct {
	adapter *Adapter
}

var _ provider.CustomMetricsProvider = customProvider{}

// allObjects is the name that asks for every object that the selector means.
const allObjects = "*"

// GetMetricByName answers with one figure for one object, merged over the clusters that have it.
func (p customProvider) GetMetricByName(ctx context.Context, name types.NamespacedName, info provider.CustomMetricInfo,
	metricSelector labels.Selector) (*custom_metrics.MetricValue, error) {
	subject := fmt.Sprintf("metric %q of %s %q%s", info.Metric, info.GroupResource, name.Name, inNamespace(name.Namespace))
	q, err := inquire(ctx, merge.OneObject, subject, metricSelector)
	if err != nil {
		return nil, err
	}
	parts, err := p.ask(ctx, q, name, info, labels.Everything())
	if err != nil {
		return nil, err
	}
	value, found := merge.Object(q.Word, parts)
	if !found {
		return nil, apierrors.NewInternalError(fmt.Errorf("%s: a cluster that knows it has no value", subject))
	}
	return &value, nil
}

// GetMetricBySelector answers with the figures of all objects of all clusters.
func (p customProvider) GetMetricBySelector(ctx context.Context, namespace string, selector labels.Selector, info provider.CustomMetricInfo,
	metricSelector labels.Selector) (*custom_metrics.MetricValueList, error) {
	subject := fmt.Sprintf("metric %q of %s%s", info.Metric, info.GroupResource, inNamespace(namespace))
	q, err := inquire(ctx, merge.ListOfObjects, subject, metricSelector)
	if err != nil {
		return nil, err
	}
	if q.Word != "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"%s=%s: objects are listed cluster by cluster, and nothing is merged; request one object by its name", merge.WordKey, q.Word))
	}
	if err := checkObjectSelector(selector); err != nil {
		return nil, err
	}
	ofCluster, ofObject := split(selector)
	q.only(meansCluster(ofCluster))
	parts, err := p.ask(ctx, q, types.NamespacedName{Namespace: namespace, Name: allObjects}, info, ofObject)
	if err != nil {
		return nil, err
	}
	items := merge.Objects(parts)
	return &custom_metrics.MetricValueList{Items: items}, conversationOf(ctx).hold(len(items), bytesPerObject)
}

// ask brings what each cluster that answered says, if that is enough to answer with.
func (p customProvider) ask(ctx context.Context, q inquiry, name types.NamespacedName, info provider.CustomMetricInfo,
	selector labels.Selector) (map[string][]custom_metrics.MetricValue, error) {
	subject, err := relay.SubjectOf(name.Namespace, info.GroupResource, name.Name)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	q.only(p.adapter.visibleTo(ctx))
	question := relay.CustomQuestion{
		Subject: subject, Metric: info.Metric, Selector: selector, MetricSelector: q.metric, Clusters: q.clusters,
	}
	if err := checkPath(ctx, question.Path()); err != nil {
		return nil, err
	}
	if err := p.adapter.outsideOfSubject(subject, info.GroupResource, name.Name); err != nil {
		return nil, err
	}
	result := p.adapter.relay.Custom(ctx, question)
	return result.Values, settle(ctx, p.adapter, q, result, nil)
}

// ListAllMetrics is never empty: clients take an empty list for a broken API.
func (p customProvider) ListAllMetrics() []provider.CustomMetricInfo {
	if known := p.adapter.relay.CustomMetrics(); len(known) > 0 {
		return known
	}
	return nothingKnown()
}

// checkObjectSelector refuses keys that belong into the other selector: no
// object bears them as labels, and the answer would be empty without a word.
func checkObjectSelector(selector labels.Selector) error {
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if key := r.Key(); key == merge.WordKey || key == merge.PartialKey {
			return apierrors.NewBadRequest(fmt.Sprintf("%s selects no objects; it belongs into the metric's selector", key))
		}
	}
	return nil
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return fmt.Sprintf(" in namespace %q", namespace)
}

// customStorage is the library's, with an answer for selectors that it cannot parse.
type customStorage struct {
	*customregistry.REST
}

func (s customStorage) List(ctx context.Context, options *metainternalversion.ListOptions, metricOptions runtime.Object) (runtime.Object,
	error) {
	if o, ok := metricOptions.(*custom_metrics.MetricListOptions); ok {
		if _, err := labels.Parse(o.MetricLabelSelector); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("metricLabelSelector: %v", err))
		}
	}
	return s.REST.List(ctx, options, metricOptions)
}
