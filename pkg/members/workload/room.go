// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Additional implements [Cluster]: by the cluster's nodes, for the Pods' template that the workload has there.
func (c memberCluster) Additional(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference,
	template *unstructured.Unstructured) (int32, bool) {
	shape, err := c.shape(ctx, namespace, of, template)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Could not read the template of the workload's Pods", "cluster", c.Name(), "workload", Describe(of),
			"err", err)
		return 0, false
	}
	estimate := c.all.capacity.Estimate(ctx, c.Member, shape)
	return estimate.Additional, estimate.Known
}

// Room returns how many more replicas a cluster has room for, with the nodes that there are and that its registration promises, and how
// many of them are promised; nil: that is not known. The template is as for Additional of [Cluster].
func Room(ctx context.Context, c Cluster, namespace string, of autoscalingv2.CrossVersionObjectReference,
	template *unstructured.Unstructured) (additional *int32, promised int32) {
	n, known := c.Additional(ctx, namespace, of, template)
	if !known {
		return nil, 0
	}
	promised = min(c.Headroom(), math.MaxInt32-n)
	return new(n + promised), promised
}

// templated is the part of a workload that all kinds of Kubernetes, and most others, have in the same place.
type templated struct {
	Spec struct {
		Selector *metav1.LabelSelector   `json:"selector"`
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// shape returns what further replicas of a workload would be.
func (c memberCluster) shape(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference,
	template *unstructured.Unstructured) (fit.Workload, error) {
	object, err := c.encoded(ctx, namespace, of, template)
	if err != nil {
		return fit.Workload{}, err
	}
	read, err := connection.DecodeJSON(ctx, c.Reading(), object, &templated{})
	if err != nil {
		return fit.Workload{}, fmt.Errorf("decoding %s: %w", Describe(of), err)
	}
	if read.Spec.Template == nil {
		return fit.Workload{}, errors.New("it has no spec.template")
	}
	selector, err := metav1.LabelSelectorAsSelector(read.Spec.Selector)
	return fit.Workload{Namespace: namespace, Selector: selector,
		Template: c.all.sizes.Template(ctx, c.Member, namespace, read.Spec.Template)}, err
}

// encoded is the workload as JSON: what the cluster has, or else the template.
func (c memberCluster) encoded(ctx context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference,
	template *unstructured.Unstructured) ([]byte, error) {
	if template != nil {
		return template.MarshalJSON()
	}
	return c.read(ctx, namespace, of)
}
