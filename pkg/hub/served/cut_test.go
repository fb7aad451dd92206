// SPDX-License-Identifier: Apache-2.0

package served

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What API servers store of who set what.
const (
	byApplying = `{"f:spec":{"f:clusterAffinity":{"f:clusterNames":{}},"f:federatedHPAAssignment":{"f:federatedHPAAssignmentType":{}},"f:maxReplicas":{}}}`
	byUpdating = `{"f:metadata":{"f:annotations":{".":{}}},"f:spec":{".":{},"f:clusterAffinity":{".":{},"f:clusterNames":{".":{},"v:\"a\"":{}}},` +
		`"f:federatedHPAAssignment":{".":{},"f:distributionOrder":{},"f:federatedHPAAssignmentType":{}},"f:maxReplicas":{},"f:metrics":{},"f:scaleTargetRef":{".":{},"f:name":{}}}}`
	others    = `{"f:spec":{"f:maxReplicas":{}}}`
	leftovers = `{"f:spec":{"f:federatedHPAAssignment":{"f:clusterAutoscalingPreference":{}},"f:maxReplicas":{}}}`
)

func TestCut(t *testing.T) {
	wrote := func(operation metav1.ManagedFieldsOperationType, subresource, text string) metav1.ManagedFieldsEntry {
		entry := metav1.ManagedFieldsEntry{Operation: operation, Subresource: subresource, FieldsV1: &metav1.FieldsV1{}}
		entry.FieldsV1.SetRawBytes([]byte(text))
		return entry
	}
	const applied, updated = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	all := []string{"clusterAffinity", "federatedHPAAssignment"}
	tests := map[string]struct {
		fields []metav1.ManagedFieldsEntry
		change func(*v1alpha1.FederatedHPA)
		want   []string
	}{
		"it never was distributed": {nil, func(f *v1alpha1.FederatedHPA) { f.Finalizers = []string{"somebody.else/waits"} }, nil},
		"it is distributed": {[]metav1.ManagedFieldsEntry{wrote(updated, "", byUpdating)}, func(f *v1alpha1.FederatedHPA) {
			f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
		}, nil},
		"cut, of one who updates": {[]metav1.ManagedFieldsEntry{wrote(updated, "", byUpdating)}, nil, all},
		"cut, of one who applies": {[]metav1.ManagedFieldsEntry{wrote(applied, "", byApplying)}, nil, all},
		"cut, of several": {[]metav1.ManagedFieldsEntry{wrote(applied, "", byApplying), wrote(updated, "", byUpdating)}, nil,
			all},
		"cut, and what else was cut set again": {[]metav1.ManagedFieldsEntry{wrote(applied, "", byApplying)},
			func(f *v1alpha1.FederatedHPA) { f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{} }, []string{"federatedHPAAssignment"}},
		"cut, with its status": {[]metav1.ManagedFieldsEntry{wrote(applied, "", byApplying)},
			func(f *v1alpha1.FederatedHPA) { f.Status = v1alpha1.FederatedHPAStatus{} }, all},
		"cut, and edited by others": {[]metav1.ManagedFieldsEntry{wrote(updated, "", byUpdating), wrote(updated, "", others)},
			func(f *v1alpha1.FederatedHPA) { f.Generation = 9 }, all},
		"cut, and nobody knows who set what": {nil, nil, []string{"federatedHPAAssignment"}},
		"cut, and switched to what excludes it": {[]metav1.ManagedFieldsEntry{wrote(applied, "", byApplying)},
			func(f *v1alpha1.FederatedHPA) { f.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{} }, nil},
		"switched": {[]metav1.ManagedFieldsEntry{wrote(updated, "", others)},
			func(f *v1alpha1.FederatedHPA) { f.Generation = 4 }, nil},
		"cut, set by another, and switched": {[]metav1.ManagedFieldsEntry{wrote(updated, "", leftovers)},
			func(f *v1alpha1.FederatedHPA) { f.Generation = 5 }, nil},
		"switched before it was split": {[]metav1.ManagedFieldsEntry{wrote(updated, "", others)},
			func(f *v1alpha1.FederatedHPA) { f.Status.ObservedGeneration = nil }, nil},
		"what is in a status is no spec": {[]metav1.ManagedFieldsEntry{wrote(updated, "status", byUpdating)},
			func(f *v1alpha1.FederatedHPA) { f.Generation = 4 }, nil},
		"what cannot be read says nothing": {[]metav1.ManagedFieldsEntry{wrote(updated, "", "{"), {Operation: updated}},
			func(f *v1alpha1.FederatedHPA) { f.Generation = 4 }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{
				Generation: 3, Finalizers: []string{v1alpha1.MemberAutoscalersFinalizer}, ManagedFields: tc.fields,
			}}
			object.Spec.HorizontalPodAutoscalerSpec = autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 10,
				Metrics: []autoscalingv2.MetricSpec{{}}}
			object.Status.ObservedGeneration = new(int64(3))
			if tc.change != nil {
				tc.change(object)
			}
			fleettest.Same(t, "lost", tc.want, Cut(object))
		})
	}
}
