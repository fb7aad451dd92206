// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// byTarget finds autoscalers by the name of what they scale.
const byTarget = "spec.scaleTargetRef.name"

// scaleTargetOf is what an autoscaler names.
func scaleTargetOf(object client.Object) autoscalingv2.CrossVersionObjectReference {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		return o.Spec.ScaleTargetRef
	case *v1alpha1.CronFederatedHPA:
		return o.Spec.ScaleTargetRef
	case *autoscalingv2.HorizontalPodAutoscaler:
		return o.Spec.ScaleTargetRef
	}
	return autoscalingv2.CrossVersionObjectReference{}
}

// governor tells of another autoscaler that sets the replicas of what the
// rules set, or "".
func governor(ctx context.Context, hub client.Reader, object *v1alpha1.CronFederatedHPA) (string, error) {
	ref := object.Spec.ScaleTargetRef
	around := []client.ListOption{client.InNamespace(object.Namespace), client.MatchingFields{byTarget: ref.Name}}
	var federated v1alpha1.FederatedHPAList
	if err := hub.List(ctx, &federated, around...); err != nil {
		return "", fmt.Errorf("looking for other autoscalers of %s %s: %w", ref.Kind, ref.Name, err)
	}
	for i := range federated.Items {
		if other := &federated.Items[i]; governs(other, ref) {
			return fmt.Sprintf("%s %q is scaled by FederatedHPA %q: name that FederatedHPA in scaleTargetRef, and set its bounds", ref.Kind, ref.Name, other.Name), nil
		}
	}
	var local autoscalingv2.HorizontalPodAutoscalerList
	if err := hub.List(ctx, &local, around...); err != nil {
		return "", fmt.Errorf("looking for other autoscalers of %s %s: %w", ref.Kind, ref.Name, err)
	}
	for i := range local.Items {
		if other := &local.Items[i]; governs(other, ref) {
			return fmt.Sprintf("%s %q is scaled by HorizontalPodAutoscaler %q: delete that, or make a FederatedHPA of it and name that in scaleTargetRef", ref.Kind, ref.Name, other.Name), nil
		}
	}
	return "", nil
}

// governs says whether an autoscaler that is not ours, and is to stay, scales
// this target, be it by another version.
func governs(autoscaler client.Object, ref autoscalingv2.CrossVersionObjectReference) bool {
	other := scaleTargetOf(autoscaler)
	return autoscaler.GetDeletionTimestamp() == nil && autoscaler.GetLabels()[v1alpha1.ManagedByLabel] == "" &&
		other.Kind == ref.Kind && other.Name == ref.Name && groupOf(other) == groupOf(ref)
}

func groupOf(ref autoscalingv2.CrossVersionObjectReference) string {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}
