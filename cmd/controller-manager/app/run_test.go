// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
)

// What is cached must be enough to tell an object that has lost its mode from one that was switched.
func TestSlim(t *testing.T) {
	bySpec := metav1.ManagedFieldsEntry{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: &metav1.FieldsV1{}}
	bySpec.FieldsV1.SetRawBytes([]byte(`{"f:spec":{"f:federatedHPAAssignment":{"f:federatedHPAAssignmentType":{}}}}`))
	byStatus := metav1.ManagedFieldsEntry{Manager: program, Subresource: "status", FieldsV1: &metav1.FieldsV1{}}
	bound := func(f *v1alpha1.FederatedHPA) { f.Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer} }
	distributed := func(f *v1alpha1.FederatedHPA) {
		bound(f)
		f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{}
	}
	tests := map[string]struct {
		change  func(*v1alpha1.FederatedHPA)
		entries []string
		lost    []string
	}{
		"central":     {func(*v1alpha1.FederatedHPA) {}, []string{program}, nil},
		"distributed": {distributed, []string{program}, nil},
		"cut":         {bound, []string{"kubectl", program}, []string{"federatedHPAAssignment"}},
		"central, and cut": {func(f *v1alpha1.FederatedHPA) {
			f.Annotations = map[string]string{v1alpha1.SpecAnnotation: `{"federatedHPAAssignment":{}}`}
		}, []string{"kubectl", program}, []string{"federatedHPAAssignment"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Generation: 2, ManagedFields: []metav1.ManagedFieldsEntry{bySpec, byStatus}}}
			tc.change(f)
			kept, err := slim(f)
			if err != nil {
				t.Fatal(err)
			}
			f = kept.(*v1alpha1.FederatedHPA)
			var entries []string
			for _, entry := range f.ManagedFields {
				entries = append(entries, entry.Manager)
			}
			if lost := served.Cut(f); !slices.Equal(entries, tc.entries) || !slices.Equal(lost, tc.lost) {
				t.Errorf("kept the entries of %q, and lost %q, want %q and %q", entries, lost, tc.entries, tc.lost)
			}
		})
	}
}
