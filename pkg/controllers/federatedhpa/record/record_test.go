// SPDX-License-Identifier: Apache-2.0

package record

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func TestConditionSet(t *testing.T) {
	type condition = autoscalingv2.HorizontalPodAutoscalerCondition
	kind := autoscalingv2.AbleToScale
	long := metav1.NewTime(noon.Add(-time.Hour))
	stored := []condition{{Type: "Other", Status: corev1.ConditionTrue}, {Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: long,
		Reason: "Old", Message: "old"}}
	set := func(status corev1.ConditionStatus, at metav1.Time, message string) condition {
		return condition{Type: kind, Status: status, LastTransitionTime: at, Reason: "New", Message: message}
	}
	tests := map[string]struct {
		c      Condition
		before []condition
		want   []condition
	}{
		"new": {Condition{Type: kind, Is: true, Reason: "New", Message: "m"}, stored[:1],
			[]condition{stored[0], set(corev1.ConditionTrue, metav1.NewTime(noon), "m")}},
		"new, and as it should be": {Condition{Type: kind, Quiet: true, Reason: "New"}, stored[:1], stored[:1]},
		"the same": {Condition{Type: kind, Is: true, Reason: "New", Message: "m"}, stored,
			[]condition{stored[0], set(corev1.ConditionTrue, long, "m")}},
		"another": {Condition{Type: kind, Reason: "New", Message: "m"}, stored,
			[]condition{stored[0], set(corev1.ConditionFalse, metav1.NewTime(noon), "m")}},
		"as it should be again": {Condition{Type: kind, Quiet: true, Reason: "New"}, stored,
			[]condition{stored[0], set(corev1.ConditionFalse, metav1.NewTime(noon), "")}},
		"too long": {Condition{Type: kind, Is: true, Reason: "New", Message: strings.Repeat("m", summary.LongestCondition+1)}, nil,
			[]condition{set(corev1.ConditionTrue, metav1.NewTime(noon), summary.Brief(strings.Repeat("m", summary.LongestCondition+1),
				summary.LongestCondition))}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.c.Set(append([]condition(nil), tc.before...), noon)
			fleettest.Same(t, "", tc.want, got)
		})
	}
	if got := Unset(append([]condition(nil), stored...), kind); len(got) != 1 || got[0].Type != "Other" {
		t.Errorf("without it there are %v", got)
	}
}

func TestEventsOfOneReasonAreOne(t *testing.T) {
	var all Events
	all.Add("Normal", "A", "one")
	all.Add("Warning", "A", "two")
	all.Add("Normal", "B", "three")
	all.Add("Normal", "A", "four")
	want := Events{{Type: "Normal", Reason: "A", Message: "one; four"}, {Type: "Warning", Reason: "A", Message: "two"},
		{Type: "Normal", Reason: "B", Message: "three"}}
	fleettest.Same(t, "", want, all)
}

func TestStale(t *testing.T) {
	r := New(nil, nil)
	version := func(uid types.UID, version string) *v1alpha1.FederatedHPA {
		return &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: uid, ResourceVersion: version}}
	}
	if r.Stale(version("a", "5")) {
		t.Error("an object of which nothing is known is stale")
	}
	r.Saw(version("a", "10"))
	for v, want := range map[string]bool{"9": true, "10": false, "11": false, "100": false, "odd": false} {
		if got := r.Stale(version("a", v)); got != want {
			t.Errorf("at 10, version %s is stale: %v, want %v", v, got, want)
		}
	}
	if r.Stale(version("b", "9")) {
		t.Error("another object of the name is stale")
	}
}
