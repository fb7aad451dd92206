// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// recommended is what a MultidimPodAutoscaler recommends.
type recommended struct {
	// Mode is what is done about it.
	Mode       string     `json:"mode"`
	Since      int64      `json:"since,omitempty"`
	Containers []sizeLine `json:"containers"`
	Savings    []saving   `json:"savings"`
	// CostPerHour is what is saved, at the prices of the clusters; empty: not known.
	CostPerHour string `json:"costPerHour,omitempty"`
}

// sizeLine is a resource of a container, as quantities; one that is empty is not known.
type sizeLine struct {
	Container string `json:"container"`
	Resource  string `json:"resource"`
	Target    string `json:"target"`
	ByUse     string `json:"byUse,omitempty"`
	Lower     string `json:"lower,omitempty"`
	Upper     string `json:"upper,omitempty"`
	CappedBy  string `json:"cappedBy,omitempty"`
}

// saving is what all Pods together request, and would.
type saving struct {
	Resource    string `json:"resource"`
	Requested   string `json:"requested"`
	Recommended string `json:"recommended"`
	Saved       string `json:"saved"`
}

var resources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func sizesOf(o *v1alpha1.MultidimPodAutoscaler) *recommended {
	s := &recommended{Mode: string(o.Spec.Policy.UpdateMode), Containers: []sizeLine{}, Savings: []saving{}}
	if s.Mode == "" {
		s.Mode = string(v1alpha1.UpdateModeOff)
	}
	if r := o.Status.Recommendation; r != nil {
		s.Since = millis(r.Since)
		for i := range r.Containers {
			for _, name := range resources {
				if line, some := sizeLineOf(&r.Containers[i], name); some {
					s.Containers = append(s.Containers, line)
				}
			}
		}
	}
	if v := o.Status.Savings; v != nil {
		s.CostPerHour = v.CostPerHour
		for _, name := range resources {
			if has, wants, saved := v.Requested.Of(name), v.Recommended.Of(name), v.Saved.Of(name); has != nil && wants != nil {
				s.Savings = append(s.Savings, saving{string(name), quantity(has), quantity(wants), quantity(saved)})
			}
		}
	}
	return s
}

func sizeLineOf(c *v1alpha1.ContainerRecommendation, name corev1.ResourceName) (line sizeLine, some bool) {
	if c.Target.Of(name) == nil && c.UncappedTarget.Of(name) == nil {
		return line, false
	}
	var caps []string
	for _, by := range c.CappedBy {
		if by.Resource == name {
			caps = append(caps, by.Reason)
		}
	}
	return sizeLine{
		Container: c.ContainerName, Resource: string(name), Target: quantity(c.Target.Of(name)), ByUse: quantity(c.UncappedTarget.Of(name)),
		Lower: quantity(c.LowerBound.Of(name)), Upper: quantity(c.UpperBound.Of(name)), CappedBy: strings.Join(caps, ", "),
	}, true
}

func quantity(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return q.String()
}
