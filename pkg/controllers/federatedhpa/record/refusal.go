// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Refuse reports that nothing is done for the object, and why: in the condition AbleToScale, and once in an Event. What else the
// status says is from before.
func (r *Recorder) Refuse(ctx context.Context, object *v1alpha1.FederatedHPA, reason, message, action string, now time.Time) error {
	known := summary.Condition(&object.Status, autoscalingv2.AbleToScale).Reason == reason
	status := object.Status.DeepCopy()
	status.Conditions = Condition{Type: autoscalingv2.AbleToScale, Reason: reason, Message: message}.Set(status.Conditions, now)
	if status.Summary == nil {
		status.Summary = &v1alpha1.FederatedHPASummary{}
	}
	status.Summary.State = v1alpha1.StateFailing
	if equality.Semantic.DeepEqual(&object.Status, status) {
		return nil
	}
	if err := r.Status(ctx, object, action, *status); err != nil || known {
		return err
	}
	r.Event(object, Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}, action)
	return nil
}
