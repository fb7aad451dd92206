// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsscheme "k8s.io/metrics/pkg/client/clientset/versioned/scheme"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// askUsage asks metrics.k8s.io for what Pods use, or what one container of each uses.
func (c *Client) askUsage(ctx context.Context, q *Question, resource corev1.ResourceName, container string) replicas.Metric {
	var pods []podUse
	coverage, err := c.exchange(ctx, apiResource, c.listUsage(q), func(r rest.Result) (err error) {
		pods, err = usesIn(r, resource, container)
		return err
	})
	switch {
	case err != nil:
		return replicas.Metric{Err: apiResource.unable(err), Coverage: coverage}
	case len(pods) == 0:
		return replicas.Metric{Err: apiResource.nothing(), Coverage: coverage}
	}
	found := locate[replicas.Sample](q, len(pods))
	for i := range pods {
		p := &pods[i]
		if !p.known {
			klog.FromContext(ctx).V(4).Info("Missing resource metric", "resource", resource, "container", container, "pod",
				klog.KRef(q.Namespace, p.name))
			continue
		}
		found.add(p.cluster(), p.name, replicas.Sample{Value: p.milli, At: p.at.Time, Window: p.window.Duration})
	}
	return replicas.Metric{Pods: found.samples, Coverage: coverage}
}

// usesIn reads a list of PodMetrics.
func usesIn(r rest.Result, resource corev1.ResourceName, container string) (pods []podUse, err error) {
	skimmed := func(body []byte) (ok bool) {
		pods, ok = skim(body, resource, container)
		return ok
	}
	err = readUsage(r, skimmed, func(list *metricsv1beta1.PodMetricsList) {
		pods = make([]podUse, len(list.Items))
		for i := range list.Items {
			pods[i] = useOf(&list.Items[i], resource, container)
		}
	})
	return pods, err
}

// readUsage has a list of PodMetrics skimmed, or else decoded and taken.
func readUsage(r rest.Result, skimmed func(body []byte) bool, take func(*metricsv1beta1.PodMetricsList)) error {
	body, err := r.Raw()
	if err != nil {
		return err
	}
	var contentType string
	if r.ContentType(&contentType); contentType == runtime.ContentTypeProtobuf && skimmed(body) {
		return nil
	}
	var list metricsv1beta1.PodMetricsList
	if err := r.Into(&list); err != nil {
		return err
	}
	take(&list)
	return nil
}

// listUsage is the question for what Pods use.
func (c *Client) listUsage(q *Question) *rest.Request {
	return c.usage.Get().Namespace(q.Namespace).Resource("pods").
		VersionedParams(&metav1.ListOptions{LabelSelector: q.Selector.String()}, metricsscheme.ParameterCodec)
}

// useOf takes from an item what is wanted of it.
func useOf(pod *metricsv1beta1.PodMetrics, resource corev1.ResourceName, container string) podUse {
	p := podUse{podItem: podItemOf(pod), use: use{container: container}}
	for i := range pod.Containers {
		quantity, has := pod.Containers[i].Usage[resource]
		p.add(pod.Containers[i].Name, has, quantity.MilliValue())
	}
	return p
}

// queryFromAnnotation is where Karmada's metrics adapter names the cluster, and ours too.
const queryFromAnnotation = "resource.karmada.io/query-from-cluster"
