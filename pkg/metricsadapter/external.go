// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/merge"
)

// externalProvider answers for external.metrics.k8s.io. What is measured out
// there is nobody's pods, so all clients get the fleet's answer.
type externalProvider struct {
	adapter *Adapter
}

var _ provider.ExternalMetricsProvider = externalProvider{}

// GetExternalMetric answers with all series of all clusters, each once.
func (p externalProvider) GetExternalMetric(ctx context.Context, namespace string, metricSelector labels.Selector,
	info provider.ExternalMetricInfo) (*external_metrics.ExternalMetricValueList, error) {
	subject := fmt.Sprintf("external metric %q%s", info.Metric, inNamespace(namespace))
	q, err := inquire(ctx, merge.SeriesOfMetric, subject, metricSelector)
	if err != nil {
		return nil, err
	}
	if err := checkFields(ctx); err != nil {
		return nil, err
	}
	question := relay.ExternalQuestion{
		Namespace: namespace, Metric: info.Metric, MetricSelector: q.metric, Clusters: q.clusters,
	}
	if err := checkPath(ctx, question.Path()); err != nil {
		return nil, err
	}
	metric := schema.GroupResource{Group: external_metrics.GroupName, Resource: info.Metric}
	if err := p.adapter.outside(metric, namespace, ""); err != nil {
		return nil, err
	}
	result := p.adapter.relay.External(ctx, question)
	covers := func(before merge.Seen) bool { return merge.Covers(result.Values, before) }
	if err := settle(ctx, p.adapter, q, result, covers); err != nil {
		return nil, err
	}
	items := merge.Series(q.Word, result.Values)
	return &external_metrics.ExternalMetricValueList{Items: items}, conversationOf(ctx).hold(len(items), bytesPerObject)
}

// ListAllExternalMetrics is never empty: clients take an empty list for a broken API.
func (p externalProvider) ListAllExternalMetrics() []provider.ExternalMetricInfo {
	if known := p.adapter.relay.ExternalMetrics(); len(known) > 0 {
		return known
	}
	return []provider.ExternalMetricInfo{{Metric: noMetricKnown}}
}

// checkFields refuses to select series by fields. RBAC is told of a name among
// them, and allows it to who may list what bears that name; the members know no
// such selector, and would answer with everything.
func checkFields(ctx context.Context) error {
	if info, ok := genericapirequest.RequestInfoFrom(ctx); ok && info.FieldSelector != "" {
		return apierrors.NewBadRequest(fmt.Sprintf(
			"fieldSelector %q: series have no fields; select them by their labels with labelSelector", info.FieldSelector))
	}
	return nil
}
