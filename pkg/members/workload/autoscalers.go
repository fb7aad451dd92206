// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

func newAutoscalers(scope tenancy.Scope) *mirror.Mirror[*autoscalingv2.HorizontalPodAutoscaler, record] {
	return mirror.New(mirror.Options[*autoscalingv2.HorizontalPodAutoscaler, record]{
		Resource: current.WithResource(autoscalerResource),
		Keep:     recordOf,
		Scope:    scope,
	})
}

// record is what is kept of a HorizontalPodAutoscaler.
type record struct {
	*autoscalingv2.HorizontalPodAutoscaler
}

func (r record) Key() mirror.Key { return mirror.Key{Namespace: r.Namespace, Name: r.Name} }

func (r record) Bytes() int64 { return compact.Bytes(r.HorizontalPodAutoscaler) }

func recordOf(hpa *autoscalingv2.HorizontalPodAutoscaler) record {
	if hpa.Labels[v1alpha1.ManagedByLabel] == "" {
		kept := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: hpa.Namespace, Name: hpa.Name, UID: hpa.UID, Annotations: hpa.Annotations},
		}
		kept.Spec.ScaleTargetRef = hpa.Spec.ScaleTargetRef
		return record{kept}
	}
	kept := hpa.DeepCopy()
	kept.TypeMeta, kept.ManagedFields = metav1.TypeMeta{}, nil // it may have come in either version
	return record{kept}
}

// Autoscalers implements [Cluster]: from what is watched, or else, where the version is an old one, from a list.
func (c memberCluster) Autoscalers(ctx context.Context, namespace string) Autoscalers {
	if c.Silence() != nil {
		return c.watched(ctx, namespace)
	}
	version, err := c.version(ctx)
	switch {
	case err != nil:
		return Autoscalers{Silence: fleet.Unanswered(err)}
	case version == old:
		return c.listed(ctx, namespace)
	}
	seen := c.watched(ctx, namespace)
	seen.Version = version.String()
	return seen
}

// watched returns those that the mirror has, which asks no silent cluster.
func (c memberCluster) watched(ctx context.Context, namespace string) Autoscalers {
	answer := c.all.autoscalers.Ask(ctx, c.Member, namespace)
	seen := Autoscalers{Known: answer.Known, Silence: answer.Silence}
	for _, r := range answer.Objects {
		seen.Objects = append(seen.Objects, r.HorizontalPodAutoscaler)
	}
	if seen.Known {
		seen.Version = current.String()
	}
	return seen
}
