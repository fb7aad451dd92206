// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// askUsage asks metrics.k8s.io for what Pods use, or what one container of each uses.
func (c *Client) askUsage(ctx context.Context, q *Question, resource corev1.ResourceName, container string) replicas.Metric {
	var pods []podUse
	request := c.usage.Get().Namespace(q.Namespace).Resource("pods").
		VersionedParams(&metav1.ListOptions{LabelSelector: q.Selector.String()}, metricsscheme.ParameterCodec)
	coverage, err := c.exchange(ctx, apiResource, request, func(r rest.Result) (err error) {
		pods, err = usesIn(r, resource, container)
		return err
	})
	switch {
	case err != nil:
		return replicas.Metric{Err: apiResource.unable(err), Coverage: coverage}
	case len(pods) == 0:
		return replicas.Metric{Err: apiResource.nothing(), Coverage: coverage}
	}
	found := locate(q, len(pods))
	for i := range pods {
		p := &pods[i]
		if !p.known {
			klog.FromContext(ctx).V(4).Info("Missing resource metric", "resource", resource, "container", container, "pod",
				klog.KRef(q.Namespace, p.name))
			continue
		}
		found.add(cmp.Or(p.label, p.annotation), p.name, replicas.Sample{Value: p.milli, At: p.at.Time, Window: p.window.Duration})
	}
	return replicas.Metric{Pods: found.samples, Coverage: coverage}
}

// usesIn reads a list of PodMetrics.
func usesIn(r rest.Result, resource corev1.ResourceName, container string) ([]podUse, error) {
	body, err := r.Raw()
	if err != nil {
		return nil, err
	}
	var contentType string
	if r.ContentType(&contentType); contentType == runtime.ContentTypeProtobuf {
		if pods, ok := skim(body, resource, container); ok {
			return pods, nil
		}
	}
	var list metricsv1beta1.PodMetricsList
	if err := r.Into(&list); err != nil {
		return nil, err
	}
	pods := make([]podUse, len(list.Items))
	for i := range list.Items {
		pods[i] = useOf(&list.Items[i], resource, container)
	}
	return pods, nil
}

// useOf takes from an item what is wanted of it.
func useOf(item *metricsv1beta1.PodMetrics, resource corev1.ResourceName, container string) podUse {
	p := podUse{
		use:  use{container: container},
		name: item.Name, label: item.Labels[fleet.ClusterLabel], annotation: item.Annotations[queryFromAnnotation],
		at: item.Timestamp, window: item.Window,
	}
	for i := range item.Containers {
		quantity, has := item.Containers[i].Usage[resource]
		p.add(item.Containers[i].Name, has, quantity.MilliValue())
	}
	return p
}

// queryFromAnnotation is where Karmada's metrics adapter names the cluster, and ours too.
const queryFromAnnotation = "resource.karmada.io/query-from-cluster"
