// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"context"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	custommetrics "k8s.io/metrics/pkg/apis/custom_metrics"
	customv1beta2 "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	customscheme "k8s.io/metrics/pkg/client/custom_metrics/scheme"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// defaultWindow is that of a sample whose server does not say.
const defaultWindow = time.Minute

// askPods asks custom.metrics.k8s.io for a metric of each Pod.
func (c *Client) askPods(ctx context.Context, q *Question, source *autoscalingv2.PodsMetricSource) replicas.Metric {
	selector, err := metav1.LabelSelectorAsSelector(source.Metric.Selector)
	if err != nil {
		return replicas.Metric{Err: err}
	}
	items, coverage, err := c.askCustom(ctx, custommetrics.MetricListOptions{
		LabelSelector: q.Selector.String(), MetricLabelSelector: selector.String(),
	}, func(r *rest.Request) (*rest.Request, error) {
		resource, err := c.resourceOf(schema.GroupKind{Kind: "Pod"})
		if err != nil {
			return nil, err
		}
		return r.Resource(resource).Namespace(q.Namespace).Name(customv1beta2.AllObjects).SubResource(source.Metric.Name), nil
	})
	switch {
	case err != nil:
		return replicas.Metric{Err: apiCustom.unable(err), Coverage: coverage}
	case len(items) == 0:
		return replicas.Metric{Err: apiCustom.nothing(), Coverage: coverage}
	}
	found := locate[replicas.Sample](q, len(items))
	for i := range items {
		found.add(clusterOfValue(&items[i]), items[i].DescribedObject.Name, sampleOf(&items[i]))
	}
	return replicas.Metric{Pods: found.samples, Coverage: coverage}
}

// clusterOfValue is empty where the item does not say.
func clusterOfValue(item *customv1beta2.MetricValue) string {
	if item.Metric.Selector == nil {
		return ""
	}
	return item.Metric.Selector.MatchLabels[fleet.ClusterLabel]
}

func sampleOf(item *customv1beta2.MetricValue) replicas.Sample {
	window := defaultWindow
	if item.WindowSeconds != nil {
		window = time.Duration(*item.WindowSeconds) * time.Second
	}
	return replicas.Sample{Value: item.Value.MilliValue(), At: item.Timestamp.Time, Window: window}
}

// askObject asks custom.metrics.k8s.io for a metric of one object. The hub's
// own namespace is what an object of kind Namespace means, whatever its name.
func (c *Client) askObject(ctx context.Context, q *Question, source *autoscalingv2.ObjectMetricSource) replicas.Metric {
	selector, err := metav1.LabelSelectorAsSelector(source.Metric.Selector)
	if err != nil {
		return replicas.Metric{Err: err}
	}
	object := source.DescribedObject
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).GroupKind()
	items, coverage, err := c.askCustom(ctx, custommetrics.MetricListOptions{MetricLabelSelector: selector.String()},
		func(r *rest.Request) (*rest.Request, error) {
			if kind == (schema.GroupKind{Kind: "Namespace"}) {
				return r.Resource("metrics").Namespace(q.Namespace).Name(source.Metric.Name), nil
			}
			resource, err := c.resourceOf(kind)
			if err != nil {
				return nil, err
			}
			return r.Resource(resource).Namespace(q.Namespace).Name(object.Name).SubResource(source.Metric.Name), nil
		})
	if err == nil && len(items) != 1 {
		err = fmt.Errorf("the custom metrics API server returned %d results when we asked for exactly one", len(items))
	}
	if err != nil {
		return replicas.Metric{Err: apiCustom.unable(err), Coverage: coverage}
	}
	return replicas.Metric{Values: []int64{items[0].Value.MilliValue()}, Coverage: coverage}
}

// askCustom asks by the version that is served; address adds whom and what to the request.
func (c *Client) askCustom(ctx context.Context, options custommetrics.MetricListOptions,
	address func(*rest.Request) (*rest.Request, error)) ([]customv1beta2.MetricValue, *fleet.Coverage, error) {
	version, err := c.version.preferred(ctx)
	if err != nil {
		return nil, nil, err
	}
	request, err := address(c.custom[version].Get())
	if err != nil {
		return nil, nil, err
	}
	params, err := c.convert.ConvertListOptionsToVersion(&options, version)
	if err != nil {
		return nil, nil, err
	}
	var list *customv1beta2.MetricValueList
	coverage, err := c.exchange(ctx, apiCustom, request.VersionedParams(params, customscheme.ParameterCodec), func(r rest.Result) (err error) {
		list, err = c.valuesOf(r)
		return err
	})
	if err != nil {
		c.version.doubt(err)
		return nil, coverage, err
	}
	return list.Items, coverage, nil
}

func (c *Client) valuesOf(r rest.Result) (*customv1beta2.MetricValueList, error) {
	body, err := r.Raw()
	if err == nil {
		_, err = c.values.Check(body, nil, nil) // the converter has a decoder of its own
	}
	if err != nil {
		return nil, err
	}
	object, err := c.convert.ConvertResultToVersion(r, customv1beta2.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	list, ok := object.(*customv1beta2.MetricValueList)
	if !ok {
		return nil, fmt.Errorf("the custom metrics API server didn't return MetricValueList, the type is %T", object)
	}
	return list, nil
}

// resourceOf returns how the API names objects of a kind: services, deployments.apps.
func (c *Client) resourceOf(kind schema.GroupKind) (string, error) {
	mapping, err := c.mapper.RESTMapping(kind)
	if err != nil {
		return "", fmt.Errorf("unable to map kind %s to resource: %w", kind, err)
	}
	return mapping.Resource.GroupResource().String(), nil
}
