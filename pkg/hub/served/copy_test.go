// SPDX-License-Identifier: Apache-2.0

package served

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Any field of ours may be lost, in any mode: the copy says what there was, and who set what whether somebody removed it
// past the webhook.
func TestCutByCopy(t *testing.T) {
	const copied = `{"mode":"Observe","replicaDistribution":{"rebalance":true,"type":"StaticWeighted"}}`
	whole := v1alpha1.FederatedHPASpec{Mode: v1alpha1.ModeObserve,
		ReplicaDistribution: &v1alpha1.ReplicaDistribution{Type: v1alpha1.DistributionStaticWeighted, Rebalance: new(true)}}
	edited := whole
	edited.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: v1alpha1.DistributionAggregated, Rebalance: new(true)}
	nested := whole
	nested.ReplicaDistribution = &v1alpha1.ReplicaDistribution{Type: v1alpha1.DistributionStaticWeighted}
	const ownsAll = `{"f:spec":{"f:mode":{},"f:replicaDistribution":{".":{},"f:rebalance":{},"f:type":{}}}}`
	tests := map[string]struct {
		spec    v1alpha1.FederatedHPASpec
		owned   string
		want    []string
		missing []string
	}{
		"whole":                              {whole, ownsAll, nil, nil},
		"changed past the webhook":           {edited, ownsAll, nil, nil},
		"cut":                                {v1alpha1.FederatedHPASpec{}, ownsAll, []string{"mode", "replicaDistribution"}, nil},
		"cut, and nobody knows who set what": {v1alpha1.FederatedHPASpec{}, "", []string{"mode", "replicaDistribution"}, nil},
		"cut, by an older schema of ours":    {nested, ownsAll, []string{"replicaDistribution.rebalance"}, nil},
		"one removed past the webhook, one cut": {v1alpha1.FederatedHPASpec{}, `{"f:spec":{"f:mode":{},"f:maxReplicas":{}}}`,
			[]string{"mode"}, nil},
		"all removed past the webhook": {v1alpha1.FederatedHPASpec{}, `{"f:spec":{"f:maxReplicas":{}}}`, nil, nil},
		"a part removed past the webhook": {nested, `{"f:spec":{"f:mode":{},"f:replicaDistribution":{".":{},"f:type":{}}}}`,
			nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &v1alpha1.FederatedHPA{Spec: *tc.spec.DeepCopy()}
			object.Annotations = map[string]string{v1alpha1.SpecAnnotation: copied}
			if tc.owned != "" {
				object.ManagedFields = []metav1.ManagedFieldsEntry{{
					Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(tc.owned),
				}}
			}
			if len(tc.want) > 0 && !MayBeCut(object) {
				t.Error("who set what is not kept in the cache")
			}
			fleettest.Same(t, "lost", tc.want, Cut(object))
			fleettest.Same(t, "missing", tc.missing, Restore(object))
			fleettest.Same(t, "lost after it was restored", []string(nil), Cut(object))
		})
	}
}

// Who sets the one of two fields that exclude each other, past the webhook too, does without the other.
func TestWhatIsExcludedIsNotLost(t *testing.T) {
	object := &v1alpha1.FederatedHPA{}
	object.Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer}
	object.Annotations = map[string]string{v1alpha1.SpecAnnotation: `{"federatedHPAAssignment":{}}`}
	fleettest.Same(t, "lost", []string{"federatedHPAAssignment"}, Cut(object))
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
	fleettest.Same(t, "lost where it is replaced", []string(nil), Cut(object))
}

// Of an object from before there were copies, what is lost is known, and what it was is not.
func TestRestoreWithoutCopy(t *testing.T) {
	object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1alpha1.MemberAutoscalersFinalizer}}}
	object.Status.ObservedGeneration = new(int64)
	fleettest.Same(t, "missing", []string{"federatedHPAAssignment"}, Restore(object))
}
