// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/member"
)

// Template is the template with what the cluster gives new Pods of it. That is looked up only where it is known already that the cluster
// gives sizes: as long as no MultidimPodAutoscaler asks, nobody has written any.
func (m *Members) Template(ctx context.Context, c *member.Member, namespace string,
	template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	if can, _, _ := m.supports.of(c, time.Now()).get(); !can.Serves || !can.Admits {
		return template
	}
	for _, w := range m.Of(c).PodSizes(ctx, namespace).Workloads {
		if len(w.MatchLabels) > 0 && labels.SelectorFromSet(w.MatchLabels).Matches(labels.Set(template.Labels)) {
			return withSizes(template, w.Containers)
		}
	}
	return template
}

// withSizes is the template as the cluster's policy changes its Pods: a request is cut to the limit of its container.
func withSizes(template *corev1.PodTemplateSpec, given []v1alpha1.SizedContainer) *corev1.PodTemplateSpec {
	template = template.DeepCopy()
	for i := range template.Spec.Containers {
		c := &template.Spec.Containers[i]
		for _, g := range given {
			if g.Name != c.Name {
				continue
			}
			c.Resources.Limits = with(c.Resources.Limits, g.Limits)
			c.Resources.Requests = with(c.Resources.Requests, g.Requests)
			for name, request := range c.Resources.Requests {
				if limit, set := c.Resources.Limits[name]; set && request.Cmp(limit) > 0 {
					c.Resources.Requests[name] = limit
				}
			}
		}
	}
	return template
}

// with lays amounts over a list. What is no quantity stays out.
func with(list corev1.ResourceList, amounts map[string]string) corev1.ResourceList {
	for name, text := range amounts {
		if q, err := resource.ParseQuantity(text); err == nil {
			if list == nil {
				list = corev1.ResourceList{}
			}
			list[corev1.ResourceName(name)] = q
		}
	}
	return list
}
