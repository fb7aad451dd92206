// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	externalv1beta1 "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// askExternal asks external.metrics.k8s.io for the series of a metric.
func (c *Client) askExternal(ctx context.Context, q *Question, source *autoscalingv2.ExternalMetricSource) replicas.Metric {
	selector, err := metav1.LabelSelectorAsSelector(source.Metric.Selector)
	if err != nil {
		return replicas.Metric{Err: err}
	}
	list := externalv1beta1.ExternalMetricValueList{}
	request := c.external.Get().Namespace(q.Namespace).Resource(source.Metric.Name).
		VersionedParams(&metav1.ListOptions{LabelSelector: selector.String()}, metav1.ParameterCodec)
	coverage, err := c.exchange(ctx, apiExternal, request, func(r rest.Result) error { return r.Into(&list) })
	switch {
	case err != nil:
		return replicas.Metric{Err: apiExternal.unable(err), Coverage: coverage}
	case len(list.Items) == 0:
		return replicas.Metric{Err: apiExternal.nothing(), Coverage: coverage}
	}
	values := make([]int64, len(list.Items))
	for i := range list.Items {
		values[i] = list.Items[i].Value.MilliValue()
	}
	return replicas.Metric{Values: values, Coverage: coverage}
}
