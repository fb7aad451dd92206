// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Keeper keeps FederatedHPAs whole: live is the hub itself. One that observes writes nothing.
func (r *Recorder) Keeper(live client.Reader, now time.Time, observes bool) *restore.Keeper[v1alpha1.FederatedHPA, *v1alpha1.FederatedHPA] {
	return &restore.Keeper[v1alpha1.FederatedHPA, *v1alpha1.FederatedHPA]{
		Hub: r.hub, Live: live, Manager: FieldManager, Kind: v1alpha1.FederatedHPAKind, Resource: resource,
		Rests:    "Nothing is scaled, and the HorizontalPodAutoscalers in the clusters are left unchanged",
		Observes: observes,
		Saw:      r.Saw,
		Told: func(object *v1alpha1.FederatedHPA) bool {
			return summary.Condition(&object.Status, autoscalingv2.AbleToScale).Reason == restore.ReasonSpecCut
		},
		Tell: func(ctx context.Context, object *v1alpha1.FederatedHPA, message string) error {
			return r.Refuse(ctx, object, restore.ReasonSpecCut, message, restore.Action, now)
		},
		Restored: func(object *v1alpha1.FederatedHPA, message string) {
			r.Event(object, Event{Type: corev1.EventTypeNormal, Reason: restore.EventSpecRestored, Message: message}, restore.Action)
		},
	}
}
