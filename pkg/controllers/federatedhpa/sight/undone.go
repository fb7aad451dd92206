// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// RetainReplicas, on a workload of a Karmada hub with the value "true", makes Karmada keep the replicas that the clusters have.
const RetainReplicas = "resourcetemplate.karmada.io/retain-replicas"

// Why replicas are not set: whoever brings the workload to the clusters would undo it.
const (
	// ReasonDividedPlacement: clusters would lose the workload as its replicas change.
	ReasonDividedPlacement = "DividedPlacement"
	// ReasonRetainReplicasMissing: the replicas of clusters would be set back to those of the hub.
	ReasonRetainReplicasMissing = "RetainReplicasMissing"
	// ReasonRetainReplicasSet: the replicas of the hub would be set back to those of the clusters, or reach none.
	ReasonRetainReplicasSet = "RetainReplicasSet"
)

// Undone is why replicas must not be set as they would be undone each time, and what to do about it. The zero value: nobody undoes it.
type Undone struct{ Reason, Message string }

// Undone returns who sets replicas inMembers, or otherwise on the hub, where the workload is as it is onHub; nil: it is not there, and
// then only one that was placed from there is set back.
func (s *Sight) Undone(onHub *unstructured.Unstructured, inMembers bool) Undone {
	retained := onHub != nil && onHub.GetLabels()[RetainReplicas] == "true"
	target := workload.Describe(s.Object.Spec.ScaleTargetRef)
	switch {
	case !s.Rule.ByOthers():
		return Undone{}
	case inMembers && s.Rule == placement.Divided:
		return Undone{ReasonDividedPlacement, fmt.Sprintf("Karmada divides the replicas of %s, and removes it from clusters that get none: set "+
			"replicaSchedulingType: Duplicated in its PropagationPolicy, with the label %s=true on the workload, so that its clusters do not "+
			"depend on its replicas", target, RetainReplicas)}
	case inMembers && !retained && (onHub != nil || s.Rule.Names()):
		return Undone{ReasonRetainReplicasMissing, fmt.Sprintf(
			"label %s on the hub with %s=true, otherwise Karmada reverts the replicas that the clusters are given; if it had the label, Karmada's "+
				"hpaScaleTargetMarker took it away as a HorizontalPodAutoscaler of the workload was deleted on the hub: set it once more",
			target, RetainReplicas)}
	case !inMembers && retained:
		return Undone{ReasonRetainReplicasSet, fmt.Sprintf("remove the label %s from %s on the hub, otherwise Karmada keeps the replicas of "+
			"the clusters, and reverts those on the hub; or keep it, and set spec.replicaDistribution to have each cluster scaled",
			RetainReplicas, target)}
	}
	return Undone{}
}

// OnHub is the workload on the hub, as live reads it; nil if there is none.
func OnHub(ctx context.Context, live client.Reader, object *v1alpha1.FederatedHPA) (*unstructured.Unstructured, error) {
	ref := object.Spec.ScaleTargetRef
	found := &unstructured.Unstructured{}
	found.SetAPIVersion(ref.APIVersion)
	found.SetKind(ref.Kind)
	err := live.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: ref.Name}, found)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil //nolint:nilnil // none is an answer
	case err != nil:
		return nil, fmt.Errorf("reading %s on the hub: %w", workload.Describe(ref), err)
	}
	return found, nil
}
