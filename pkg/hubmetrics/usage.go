// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// askUsage asks metrics.k8s.io for what Pods use, or what one container of each uses.
func (c *Client) askUsage(ctx context.Context, q *Question, resource corev1.ResourceName, container string) replicas.Metric {
	list := metricsv1beta1.PodMetricsList{}
	request := c.usage.Get().Namespace(q.Namespace).Resource("pods").
		VersionedParams(&metav1.ListOptions{LabelSelector: q.Selector.String()}, metricsscheme.ParameterCodec)
	coverage, err := c.exchange(ctx, apiResource, request, func(r rest.Result) error { return r.Into(&list) })
	switch {
	case err != nil:
		return replicas.Metric{Err: apiResource.unable(err), Coverage: coverage}
	case len(list.Items) == 0:
		return replicas.Metric{Err: apiResource.nothing(), Coverage: coverage}
	}
	found := locate(q, len(list.Items))
	for i := range list.Items {
		item := &list.Items[i]
		value, known := used(item, resource, container)
		if !known {
			klog.FromContext(ctx).V(4).Info("Missing resource metric", "resource", resource, "container", container, "pod", klog.KObj(item))
			continue
		}
		found.add(clusterOf(item), item.Name, replicas.Sample{Value: value, At: item.Timestamp.Time, Window: item.Window.Duration})
	}
	return replicas.Metric{Pods: found.samples, Coverage: coverage}
}

// queryFromAnnotation is where Karmada's metrics adapter names the cluster, and ours too.
const queryFromAnnotation = "resource.karmada.io/query-from-cluster"

// clusterOf is empty where the item does not say.
func clusterOf(item *metricsv1beta1.PodMetrics) string {
	return cmp.Or(item.Labels[fleet.ClusterLabel], item.Annotations[queryFromAnnotation])
}

// used is a Pod's use in milli: of one container if that is named, else the sum of all. A sum that lacks one is not known.
func used(pod *metricsv1beta1.PodMetrics, resource corev1.ResourceName, container string) (milli int64, known bool) {
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if container != "" && c.Name != container {
			continue
		}
		value, found := c.Usage[resource]
		if !found {
			return 0, false
		}
		milli, known = milli+value.MilliValue(), true
		if container != "" {
			return milli, true
		}
	}
	return milli, known
}
