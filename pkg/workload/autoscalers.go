// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/mirror"
)

func newAutoscalers() *mirror.Mirror[*autoscalingv2.HorizontalPodAutoscaler, record] {
	return mirror.New(mirror.Options[*autoscalingv2.HorizontalPodAutoscaler, record]{
		Resource: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"),
		Keep:     recordOf,
	})
}

// record is what is kept of a HorizontalPodAutoscaler.
type record struct {
	*autoscalingv2.HorizontalPodAutoscaler
}

func (r record) Key() mirror.Key { return mirror.Key{Namespace: r.Namespace, Name: r.Name} }

func recordOf(hpa *autoscalingv2.HorizontalPodAutoscaler) record {
	if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
		kept := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: hpa.Namespace, Name: hpa.Name, UID: hpa.UID, Annotations: hpa.Annotations},
		}
		kept.Spec.ScaleTargetRef = hpa.Spec.ScaleTargetRef
		return record{kept}
	}
	kept := hpa.DeepCopy()
	kept.ManagedFields = nil
	return record{kept}
}

// Autoscalers implements [Cluster]. It does not wait for long: that it can not know is no reason to stop.
func (c memberCluster) Autoscalers(ctx context.Context, namespace string) Autoscalers {
	answer := c.all.autoscalers.Ask(ctx, c.Member, namespace)
	seen := Autoscalers{Version: autoscalingv2.SchemeGroupVersion.String(), Known: answer.Known, Silence: answer.Silence}
	for _, r := range answer.Objects {
		seen.Objects = append(seen.Objects, r.HorizontalPodAutoscaler)
	}
	return seen
}

func (c memberCluster) Apply(context.Context, *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	panic("being written")
}

func (c memberCluster) Delete(context.Context, *autoscalingv2.HorizontalPodAutoscaler) error {
	panic("being written")
}
