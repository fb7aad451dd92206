// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// A member cannot be seen while its load is high. Nothing is scaled in, and
// others grow by what they show themselves. Once it is taken out, the rest goes
// on without it; when it is back, it counts again.
func (s *stage) frozenAtHighLoad() {
	s.kind = "StatefulSet"
	s.tells("rps", map[string]string{"member1": "10", "member2": "10", "member3": "10"})
	s.runIn(2, allMembers()...)
	s.autoscale("minReplicas: 6, maxReplicas: 12, metrics: [" + byRPS + "], replicaDistribution: {}")
	s.comes("it has seen the fleet", isIn(v1alpha1.StateActive), hasClusters("member1 Active 2, member2 Active 2, member3 Active 2"))
	s.tells("rps", map[string]string{"member2": "40"})
	s.runs("member1 4, member2 4, member3 4")
	s.comes("all Pods are Ready", hasClusters("member1 Active 4, member2 Active 4, member3 Active 4"))

	s.freeze(s.t, "member2")
	s.tells("rps", map[string]string{"member1": "1", "member3": "1"})
	s.comes("it holds what it cannot see", isIn(v1alpha1.StateHeld), hasClusters("member1 Active 4, member2 Unreachable 4, member3 Active 4"),
		says(visible+"=False/ClusterUnreachable", "nothing is scaled down while clusters cannot be seen: member2: "),
		says(active+"=True/ValidMetricFound"))
	s.shows(`web +StatefulSet +web +rps: \S+/10 \(avg\) +6 +12 +12 +12 +2/3 +Held +\S+`)
	s.hasEvent("Warning", "ClusterUnreachable", "nothing is scaled down while clusters cannot be seen: member2: ")
	s.hasEvent("Warning", "ClusterUnreachable", "holding 12 replicas, where what can be seen calls for ", "member2: ")
	s.stays(2*downWindow, "member1 4, member3 4")

	s.change(`{"spec":{"maxReplicas":16}}`)
	s.tells("rps", map[string]string{"member1": "100", "member3": "100"})
	s.runs("member1 6, member3 6")
	s.comes("the silent one keeps its part", isAssigned("6 4 6"))

	s.tells("rps", map[string]string{"member1": "1", "member2": "1", "member3": "1"})
	s.leave(s.t, "member2")
	s.runs("member1 3, member3 3")
	s.comes("it is out", hasClusters("member1 Active 3, member3 Active 3"), says(visible+"=True/AllClustersVisible"),
		isIn(v1alpha1.StateLimited))

	s.thaw(s.t, "member2")
	if err := s.JoinToScale(s.t.Context(), s.member(s.t, "member2")); err != nil {
		s.t.Fatal(err)
	}
	s.runs("member1 2, member2 2, member3 2")
	s.comes("it is back", hasClusters("member1 Active 2, member2 Active 2, member3 Active 2"))
	s.recovers(s.t)
}

// stays checks for some time that clusters run so many replicas.
func (s *stage) stays(long time.Duration, want string) {
	s.t.Helper()
	end := time.Now().Add(long)
	eventually(s.t, "it stays so", func(context.Context) error {
		s.runs(want)
		if left := time.Until(end); left > 0 {
			return fmt.Errorf("%v are left", left)
		}
		return nil
	})
}

// The leader dies in the middle of a stabilization window. The next one does not
// scale in before its end, and does so at its end. member2 may be broken meanwhile.
func (s *stage) leaderDies() {
	const window = 24 * time.Second
	s.queue("60")
	s.runIn(3, "member1", "member3")
	s.autoscale(fmt.Sprintf("minReplicas: 2, maxReplicas: 10, metrics: [%s], clusterAffinity: {clusterNames: [member1, member3]}, "+
		"replicaDistribution: {}, behavior: {scaleDown: {stabilizationWindowSeconds: %d}}",
		s.byQueue(10), int(window.Seconds())))
	s.comes("it has seen the queue", says(able+"=True/ReadyForNewScale"), recommends(6))
	s.queue("20")
	lowered := time.Now()
	s.comes("fewer are wanted", recommends(2), says(able+"=True/ScaleDownStabilized"))
	eventually(s.t, "the window is half over", func(context.Context) error {
		if past := time.Since(lowered); past < window/2 {
			return fmt.Errorf("%v are", past)
		}
		return nil
	})
	dead := s.leader(s.t)
	if err := dead.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.runs("member1 1, member3 1")
	after := s.comes("it says so", isAssigned("1 1")).Status.LastScaleTime.Sub(lowered)
	// The last high recommendation is of about when the queue became shorter.
	if least, most := window-syncPeriod-time.Second, window+3*syncPeriod+answerTTL; after < least || after > most {
		s.t.Errorf("it scaled in %v after fewer were wanted first, want %v to %v", after, least, most)
	}
	s.t.Logf("it scaled in %v after fewer were wanted first", after)
	s.restartAll(s.t)
}

// recommends wants the last remembered recommendation.
func recommends(replicas int32) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		memory := f.Status.Stabilization
		if memory == nil || len(memory.ScaleDownRecommendations) == 0 {
			return errors.New("it remembers nothing")
		}
		if last := memory.ScaleDownRecommendations[len(memory.ScaleDownRecommendations)-1].Replicas; last != replicas {
			return fmt.Errorf("its last recommendation is %d, want %d", last, replicas)
		}
		return nil
	}
}

// restartAll does what a kubelet does for those that have ended.
func (f *federated) restartAll(t *testing.T) {
	t.Helper()
	for _, r := range f.pair {
		if state, _, err := r.State(); err != nil || state == "running" {
			continue
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// The hub's API server is away for a while. What it did not hear of is made up
// for once it is back.
func (s *stage) hubRestarts() {
	s.queue("20")
	s.runIn(1, "member1", "member2")
	s.autoscale("minReplicas: 2, maxReplicas: 10, metrics: [" + s.byQueue(10) +
		"], clusterAffinity: {clusterNames: [member1, member2]}, replicaDistribution: {}")
	s.comes("it has seen the queue", says(active+"=True/ValidMetricFound"))
	if err := s.Hub().Stop(); err != nil {
		s.t.Fatal(err)
	}
	s.queue("40")
	if err := s.Hub().Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.restartAll(s.t)
	s.runs("member1 2, member2 2")
	s.comes("it sees all again", isIn(v1alpha1.StateActive), hasClusters("member1 Active 2, member2 Active 2"))
	s.recovers(s.t)
	s.restartAll(s.t)
}
