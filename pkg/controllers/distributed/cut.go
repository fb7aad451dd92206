// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/served"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// Keep leaves an object and its autoscalers as they are that has lost its mode, as [served.Cut] says, and says so in the
// status, in an Event and in the log. It goes on by itself once the field is there again.
func (r *Reconciler) Keep(ctx context.Context, object *v1alpha1.FederatedHPA) error {
	if err := r.reread(ctx, object); err != nil { // a cache may show what the hub hid for a while
		return err
	}
	lost := served.Cut(object)
	if len(lost) == 0 {
		return conflict(object, "it is whole by now")
	}
	message := cutMessage(lost)
	if summary.Condition(&object.Status, autoscalingv2.AbleToScale).Message != message {
		klog.FromContext(ctx).Info("FederatedHPA has lost fields without an edit, so its autoscalers stay as they are", "lost", lost)
	}
	return r.rest(ctx, object, reasonSpecCut, message)
}

func cutMessage(lost []string) string {
	return fmt.Sprintf("lost without an edit: spec.%s. The hub drops fields where a schema is in place that lacks them, such as Karmada's. "+
		"The HorizontalPodAutoscalers in the clusters stay as they are. Apply the manifest of this FederatedHPA again; "+
		"for central mode, set spec.federatedHPAAssignment once more and then remove it", strings.Join(lost, ", spec."))
}
