// SPDX-License-Identifier: Apache-2.0

package served

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestRival(t *testing.T) {
	const us, karmada = "fleetscale-controller-manager", "karmada-controller-manager"
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	wrote := func(manager, subresource string, after time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, Time: new(metav1.NewTime(start.Add(after))),
		}
	}
	untimed := wrote(karmada, "status", 0)
	untimed.Time = nil
	tests := map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   string
	}{
		"nobody wrote": {nil, ""},
		"we alone":     {[]metav1.ManagedFieldsEntry{wrote(us, "status", time.Second)}, ""},
		"another, after we began": {[]metav1.ManagedFieldsEntry{wrote(us, "status", time.Minute),
			wrote(karmada, "status", time.Second)}, karmada},
		"another, before we began":             {[]metav1.ManagedFieldsEntry{wrote(karmada, "status", -time.Second)}, ""},
		"another, in the second when we began": {[]metav1.ManagedFieldsEntry{wrote(karmada, "status", 0)}, ""},
		"somebody wrote the spec":              {[]metav1.ManagedFieldsEntry{wrote("kubectl", "", time.Minute)}, ""},
		"or another subresource":               {[]metav1.ManagedFieldsEntry{wrote("kubectl", "scale", time.Minute)}, ""},
		"nobody knows when":                    {[]metav1.ManagedFieldsEntry{untimed}, ""},
		"of several the last": {[]metav1.ManagedFieldsEntry{
			wrote("a", "status", time.Minute), wrote(karmada, "status", time.Hour), wrote("b", "status", time.Second)}, karmada},
		"of several in one second the lesser name": {[]metav1.ManagedFieldsEntry{
			wrote(karmada, "status", time.Minute), wrote("a", "status", time.Minute), wrote("z", "status", time.Minute)}, "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := Rival(tc.fields, us, start)
			if got != tc.want || found != (tc.want != "") {
				t.Errorf("Rival() = %q, %v, want %q", got, found, tc.want)
			}
		})
	}
}

// A rival counts for five minutes after its last write, and never for one before we began.
func TestRivals(t *testing.T) {
	began := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		wrote, now time.Duration // since we began
		manager    string
		want       string
	}{
		"before we began": {-time.Second, time.Minute, "other", ""},
		"a moment ago": {59 * time.Second, time.Minute, "other",
			`"other" writes the status too, and nothing is reconciled while it does: switch one of the two off`},
		"ourselves":        {59 * time.Second, time.Minute, "ours", ""},
		"five minutes ago": {time.Minute, 6 * time.Minute, "other", ""},
		"less than five of them": {time.Minute + time.Second, 6 * time.Minute, "other",
			`"other" writes the status too, and nothing is reconciled while it does: switch one of the two off`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := clocktesting.NewFakePassiveClock(began)
			r := NewRivals("ours", now)
			now.SetTime(began.Add(tc.now))
			at := metav1.NewTime(began.Add(tc.wrote))
			object := &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: tc.manager, Subresource: "status", Time: &at}}}
			got := ""
			if err := r.Of(object); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
