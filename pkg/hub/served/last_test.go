// SPDX-License-Identifier: Apache-2.0

package served

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWroteLast(t *testing.T) {
	const us, karmada = "fleetscale-federatedhpa", "karmada-controller-manager"
	start := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	wrote := func(manager, subresource string, after time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: new(metav1.NewTime(start.Add(after)))}
	}
	untimed := wrote(us, "status", 0)
	untimed.Time = nil
	tests := map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"nobody wrote":               {nil, false},
		"we alone":                   {[]metav1.ManagedFieldsEntry{wrote(us, "status", 0)}, true},
		"another alone":              {[]metav1.ManagedFieldsEntry{wrote(karmada, "status", 0)}, false},
		"we after another":           {[]metav1.ManagedFieldsEntry{wrote(us, "status", time.Second), wrote(karmada, "status", 0)}, true},
		"another after us":           {[]metav1.ManagedFieldsEntry{wrote(us, "status", 0), wrote(karmada, "status", time.Second)}, false},
		"both in one second":         {[]metav1.ManagedFieldsEntry{wrote(us, "status", 0), wrote(karmada, "status", 0)}, false},
		"another wrote the spec":     {[]metav1.ManagedFieldsEntry{wrote(us, "status", 0), wrote("kubectl", "", time.Hour)}, true},
		"we wrote something else":    {[]metav1.ManagedFieldsEntry{wrote(us, "", time.Hour), wrote(karmada, "status", 0)}, false},
		"nobody knows when we wrote": {[]metav1.ManagedFieldsEntry{untimed}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := WroteLast(tc.fields, us); got != tc.want {
				t.Errorf("WroteLast() = %v, want %v", got, tc.want)
			}
		})
	}
}
