// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
)

// scaledBy names another autoscaler that sets the replicas or the bounds of what
// the rules set, or returns "".
func scaledBy(ctx context.Context, hub client.Reader, object *v1alpha1.CronFederatedHPA) (string, error) {
	ref := object.Spec.ScaleTargetRef
	for _, list := range []client.ObjectList{
		&v1alpha1.FederatedHPAList{}, &v1alpha1.MultidimPodAutoscalerList{}, &autoscalingv2.HorizontalPodAutoscalerList{},
	} {
		if err := hub.List(ctx, list, client.InNamespace(object.Namespace), client.MatchingFields{index.ByName: ref.Name}); err != nil {
			return "", fmt.Errorf("listing other autoscalers of %s %s: %w", ref.Kind, ref.Name, err)
		}
		var found []claims.Claim
		_ = meta.EachListItem(list, func(other runtime.Object) error {
			found = append(found, claims.On(claims.Of(object), other.(client.Object))...)
			return nil
		})
		if len(found) > 0 {
			return found[0].AtWork(), nil
		}
	}
	return "", nil
}
