// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/restore"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// rests reports whether neither mode reconciles the object: it is paused, or observes, and to leave distributed mode takes
// writes to members.
func rests(object *v1alpha1.FederatedHPA) bool {
	leaves := record.Bound(object) && !object.Distributed()
	return object.Spec.Mode == v1alpha1.ModePaused || object.Spec.Mode == v1alpha1.ModeObserve && leaves
}

// rest reports in the status that nothing is done. What else the status says is from before.
func (r *Reconciler) rest(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	status, now := object.Status.DeepCopy(), r.Clock.Now()
	acting := record.Acting(object.Spec.Mode, "its HorizontalPodAutoscalers in the clusters would be deleted, and the hub would scale")
	if summary.Condition(status, autoscalingv2.AbleToScale).Reason == restore.ReasonSpecCut { // it is whole again
		status.Conditions = record.Unset(status.Conditions, autoscalingv2.AbleToScale)
	}
	state := v1alpha1.StateObserving
	if object.Spec.Mode == v1alpha1.ModePaused {
		state = v1alpha1.StatePaused
		active := record.Condition{Type: autoscalingv2.ScalingActive, Reason: acting.Reason, Message: acting.Message}
		status.Conditions = active.Set(status.Conditions, now)
	}
	status.Conditions = acting.Set(status.Conditions, now)
	if status.Summary == nil {
		status.Summary = &v1alpha1.FederatedHPASummary{}
	}
	status.Summary.State = state
	if !record.Bound(object) && !object.Distributed() { // there it says which spec the bounds were split for
		status.ObservedGeneration = &object.Generation
	}
	if equality.Semantic.DeepEqual(&object.Status, status) {
		return nil
	}
	return r.Recorder.Status(ctx, object, "Autoscale", *status)
}
