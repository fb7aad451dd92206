// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
)

// pressed has a cluster whose nodes have just become too few.
func pressed(t testing.TB) *world {
	w := fleetOf(t, "Prioritized", map[string]int32{"a": 4, "b": 3}, ranks(map[string]int32{"a": 2, "b": 1}), stays)
	w.settle(2)
	w.member("a").room = 2
	return w
}

func TestSaturatedClusterRecovers(t *testing.T) {
	w := pressed(t)
	w.mustReconcile(6)
	a := func() v1alpha1.ClusterStatus { return w.object().Status.Clusters[0] }
	same(t, "state", v1alpha1.ClusterSaturated, a().State)
	w.member("a").run(2)
	w.mustReconcile(1)
	same(t, "schedulable since", nil, a().SchedulableSince)
	w.member("a").room = 9
	began := w.Clock.Now()
	w.Heard()
	w.mustReconcile(1)
	same(t, "schedulable since", began.Truncate(time.Second).UTC(), a().SchedulableSince.UTC())
	w.mustReconcile(3)
	same(t, "state within the delay", v1alpha1.ClusterSaturated, a().State)
	w.mustReconcile(2)
	same(t, "state after it", v1alpha1.ClusterActive, a().State)
	same(t, "schedulable since", nil, a().SchedulableSince)
	same(t, "heard", []string{"ClusterStateChanged: cluster a is Active"}, w.Heard())
}

func TestSinceWhenPodsWait(t *testing.T) {
	tests := map[string]struct {
		pending func(w *world) time.Time // what the cluster says, by its own clock
		want    func(now time.Time) time.Time
	}{
		"as the cluster says": {func(w *world) time.Time { return w.Clock.Now().Add(-30 * time.Second) },
			func(now time.Time) time.Time { return now.Add(-30 * time.Second) }},
		"not before they were seen": {func(*world) time.Time { return time.Time{} }, func(now time.Time) time.Time { return now }},
		"not in the future": {func(w *world) time.Time { return w.Clock.Now().Add(time.Hour) },
			func(now time.Time) time.Time { return now }},
		"by our clock, not the other's": {func(w *world) time.Time {
			w.member("a").Offset = time.Hour
			return w.Clock.Now().Add(time.Hour - 45*time.Second)
		}, func(now time.Time) time.Time { return now.Add(-45 * time.Second) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := pressed(t)
			since := tc.pending(w)
			w.member("a").pendingAt = &since
			now := w.Clock.Now()
			w.mustReconcile(1)
			want := metav1.NewTime(tc.want(now).Truncate(time.Second))
			got := w.object().Status.Clusters[0].UnschedulableSince
			if got == nil || !got.Equal(&want) {
				t.Errorf("since %v, want %v", got, want)
			}
			w.mustReconcile(1)
			same(t, "later", got, w.object().Status.Clusters[0].UnschedulableSince)
			w.member("a").hidden = federatedhpatest.Silence()
			w.mustReconcile(1)
			same(t, "when it is not seen", got, w.object().Status.Clusters[0].UnschedulableSince)
			w.member("a").hidden, w.member("a").room = nil, 20
			w.mustReconcile(1)
			same(t, "when none waits", nil, w.object().Status.Clusters[0].UnschedulableSince)
		})
	}
}

func TestPressureIsOfThePodsThatCount(t *testing.T) {
	w := pressed(t)
	w.member("a").beyond = 1 // one of the three that wait is of a rollout
	w.mustReconcile(1)
	same(t, "unschedulable", int32(2), ptr.Deref(w.object().Status.Clusters[0].UnschedulableReplicas, 0))
}

// What is told to run and has no Pod yet will take room.
func TestRoomIsNotCountedTwice(t *testing.T) {
	w := fleetOf(t, "Aggregated", map[string]int32{"a": 2})
	w.member("a").room, w.member("a").beyond, w.member("a").scales = 10, -1, false
	w.mustReconcile(1)
	same(t, "available", int32(9), ptr.Deref(w.object().Status.Clusters[0].AvailableReplicas, 0))
}

// A cluster that adds nodes gets what the others cannot host, though its own nodes are full.
func TestAClusterThatAddsNodes(t *testing.T) {
	w := fleetOf(t, "DynamicWeighted", map[string]int32{"a": 4, "b": 4}, bounds(2, 24))
	w.member("a").room, w.member("b").room, w.member("b").Grows = 4, 4, 16
	w.settle(3)
	same(t, "maxima", map[string]string{"a": "web 1-4, runs 4", "b": "web 2-20, runs 4"}, w.has())
	same(t, "b can host", int32(20), ptr.Deref(w.object().Status.Clusters[1].AvailableReplicas, 0))
}
