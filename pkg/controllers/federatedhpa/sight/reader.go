// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// Reader reads the fleet.
type Reader struct {
	selection.Reader

	Clock clock.PassiveClock
}

// ReadAutoscalers reads the HorizontalPodAutoscalers of the namespace.
func (c *Cluster) ReadAutoscalers(ctx context.Context, object *v1alpha1.FederatedHPA) {
	c.Autoscalers = c.Member.Autoscalers(ctx, object.Namespace)
}

// ReadScale reads the workload's scale.
func (c *Cluster) ReadScale(ctx context.Context, object *v1alpha1.FederatedHPA) {
	scale, err := c.Member.Scale(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	if err == nil {
		c.Scale = scale
		return
	}
	silence, absent := fleet.Classify(err)
	if absent || meta.IsNoMatchError(err) {
		c.Absent = err
		return
	}
	if c.Silence == nil {
		c.Silence = silence
	}
}

// ReadPods reads the Pods that the selector matches.
func (c *Cluster) ReadPods(ctx context.Context, object *v1alpha1.FederatedHPA, selector labels.Selector) {
	c.Pods = c.Member.Pods(ctx, object.Namespace, selector)
}

// ReadRoom reads how many more replicas there is room for, with the nodes that there are and that the registration promises; the
// template is the workload as it would be made where there is none.
func (c *Cluster) ReadRoom(ctx context.Context, object *v1alpha1.FederatedHPA, template *unstructured.Unstructured) {
	c.Additional, c.Promised = workload.Room(ctx, c.Member, object.Namespace, object.Spec.ScaleTargetRef, template)
}
