// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// divide makes a FederatedHPA whose replicas are divided as replicaDistribution says, each taking 10 of the queue.
func (s *stage) divide(bounds, distribution, rest string) {
	s.t.Helper()
	s.autoscale(fmt.Sprintf("%s, metrics: [%s], replicaDistribution: {%s}%s", bounds, s.byQueue(10), distribution, rest))
}

// Each type of replicaDistribution, side by side in namespaces of their own. What runs is the same at first, but where the type goes by
// that.
func (s *stage) dividedByType() {
	weighted, roomy, few, first := s.beside("weighted"), s.beside("roomy"), s.beside("few"), s.beside("first")
	for _, each := range []*stage{weighted, roomy, few, first} {
		each.queue("60")
	}
	roomy.slots(map[string]int{"member1": 2, "member2": 6, "member3": 4})
	few.slots(map[string]int{"member1": 8, "member2": 2, "member3": 2})
	first.slots(map[string]int{"member1": 4, "member2": 20, "member3": 20})
	s.kind = "StatefulSet"
	s.tells("rps", map[string]string{"member1": "30", "member2": "10", "member3": "10"})
	s.runIn(2, allMembers()...)
	weighted.runIn(1, allMembers()...)
	roomy.runInSlots(map[string]int{"member1": 1, "member2": 1, "member3": 1})
	few.runInSlots(map[string]int{"member1": 1, "member2": 0, "member3": 0})
	first.runInSlots(map[string]int{"member1": 0, "member2": 1, "member3": 0})
	s.runs("member1 2, member2 2, member3 2")

	const bounds = "minReplicas: 1, maxReplicas: 20"
	weighted.divide(bounds, "type: StaticWeighted, "+preferred("staticWeight: 1", "staticWeight: 2", "staticWeight: 3"), "")
	roomy.divide(bounds, "type: DynamicWeighted", "")
	few.divide(bounds, "type: Aggregated", "")
	first.divide(bounds, "type: Prioritized, "+preferred("priority: 2", "priority: 1"), "")
	s.autoscale("minReplicas: 1, maxReplicas: 10, metrics: [" + byRPS + "], replicaDistribution: {type: LoadWeighted}")
	weighted.runs("member1 1, member2 2, member3 3")
	roomy.runs("member1 1, member2 3, member3 2")
	few.runs("member1 6, member2 0, member3 0")
	first.runs("member1 4, member2 2, member3 0")
	s.runs("member1 6, member2 2, member3 2")

	weighted.queue("100")
	few.queue("120")
	first.queue("30")
	weighted.runs("member1 1, member2 4, member3 5")
	few.runs("member1 8, member2 2, member3 2")
	first.runs("member1 3, member2 0, member3 0") // the lowest priority is emptied first
	first.comes("it says who takes part", areIn("member1 Active, member2 Active, member3 Excluded"))
}

// preferred has an entry for each member, the first for the first.
func preferred(entries ...string) string {
	all := ""
	for i, entry := range entries {
		if i > 0 {
			all += ", "
		}
		all += fmt.Sprintf("{targetCluster: {clusterNames: [%s]}, %s}", allMembers()[i], entry)
	}
	return "clusterAutoscalingPreference: [" + all + "]"
}

// moveInterval is how long replicas must be in the wrong place before some of them move, and a minute, by when they have.
const moveInterval = 6 * time.Minute

// Replicas that run where they do not belong move, a tenth of them at a time, and none ends before another one is Ready.
func (s *stage) replicasMove() {
	s.queue("100")
	s.runIn(10, "member1")
	s.runIn(0, "member2")
	s.divide("minReplicas: 1, maxReplicas: 20", "type: StaticWeighted, rebalance: true",
		", clusterAffinity: {clusterNames: [member1, member2]}")
	s.runs("member1 10, member2 0")
	if err := fixture.Await(s.t.Context(), moveInterval, func(ctx context.Context) error {
		told, err := s.told(ctx, "member1", "member2")
		if err == nil && told == "member1 10, member2 0" {
			err = errors.New("nothing has moved")
		}
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	s.runs("member1 9, member2 1")
}

// Minima first: a member without a part of the minimum has none of the maximum either.
func (s *stage) minimaFirst() {
	s.queue("20")
	s.runIn(2, allMembers()...)
	s.distribute("minReplicas: 2, maxReplicas: 10", weights123+", distributionOrder: MinFirst", "")
	f := s.isSplit("member1 none, member2 1-4, member3 1-6")
	s.comes("it says so", areIn("member1 Excluded, member2 Active, member3 Active"), because("member1", "NoShare"))
	s.change(`{"spec":{"minReplicas":6}}`)
	s.isSplit("member1 1-1, member2 2-4, member3 3-5")
	s.runs("member1 1, member2 2, member3 3")
	s.neverAbove(10, f.UID)
}

// Members take themselves to zero and back, and the hub has no hand in it.
func (s *stage) membersGoToZero() {
	s.queues(map[string]string{"member1": "20", "member2": "0"})
	s.runIn(2, "member1", "member2")
	s.distribute("minReplicas: 0, maxReplicas: 6", equally,
		", scalingToZero: true, scalingToZeroMode: Native, clusterAffinity: {clusterNames: [member1, member2]}")
	f := s.isSplitIn("member1 0-3, member2 0-3")
	s.runs("member1 2, member2 0")
	s.queues(map[string]string{"member2": "30"})
	s.runs("member1 2, member2 3")
	s.queues(map[string]string{"member1": "0", "member2": "0"})
	s.runs("member1 0, member2 0")
	s.queues(map[string]string{"member1": "10"})
	s.runs("member1 1, member2 0")
	for _, reason := range []string{"ScaledToZero", "ScaledFromZero"} {
		if notes, err := s.notes(s.t.Context(), "FederatedHPA", "Normal", reason); err != nil || len(notes) > 0 {
			s.t.Errorf("%s: the hub says %s: %q (%v)", s.ns, reason, notes, err)
		}
	}
	s.neverAbove(6, f.UID)
}

// With BestEffort nobody is held: the member of the higher priority waits longer.
func (s *stage) higherPriorityWaits() {
	s.queues(map[string]string{"member1": "60", "member2": "40"})
	s.slots(map[string]int{"member1": 6, "member2": 10})
	s.runInSlots(map[string]int{"member1": 6, "member2": 4})
	s.distribute("minReplicas: 2, maxReplicas: 16", priorities21+", scaleDownOrder: BestEffort", "")
	f := s.isSplit("member1 2-6, member2 1-10, member3 none")
	s.waitToShrink(f, map[string]time.Duration{"member1": downWindow + 2*time.Minute, "member2": downWindow})
	first := s.watchLosses("member1")
	s.queues(map[string]string{"member1": "20", "member2": "5"})
	s.runs("member1 6, member2 1")
	first.none(s, "before its turn")
	s.neverAbove(16, f.UID)
}

// waitToShrink wants how long members' autoscalers wait before they scale down, and that none of them is held.
func (s *stage) waitToShrink(f *v1alpha1.FederatedHPA, windows map[string]time.Duration) {
	s.t.Helper()
	eventually(s.t, s.ns+": members wait before they shrink", func(ctx context.Context) error {
		for member, want := range windows {
			own, err := s.ownIn(ctx, member, f.UID)
			if err != nil || len(own) != 1 {
				return fmt.Errorf("%s has %d autoscalers: %w", member, len(own), err)
			}
			rules, got := own[0].Spec.Behavior, downWindow
			if rules != nil && rules.ScaleDown != nil && rules.ScaleDown.StabilizationWindowSeconds != nil {
				got = time.Duration(*rules.ScaleDown.StabilizationWindowSeconds) * time.Second
			}
			held := rules != nil && rules.ScaleDown != nil && rules.ScaleDown.SelectPolicy != nil &&
				*rules.ScaleDown.SelectPolicy == autoscalingv2.DisabledPolicySelect
			if got != want || held {
				return fmt.Errorf("%s waits for %v, held %t, want %v", member, got, held, want)
			}
		}
		return nil
	})
}

// A member is cordoned, and gets no more; then it is drained, and the others run the minimum before it gives anything up; then it
// gets its part again. Who tolerates that does not mind.
func (s *stage) memberIsCordonedAndDrained() {
	tolerant := s.beside("tolerant")
	for _, each := range []*stage{s, tolerant} {
		each.queue("20")
		each.runIn(2, allMembers()...)
	}
	const tolerates = ", clusterTolerations: [{key: fleetscale.io/cordon, operator: Exists}, {key: fleetscale.io/drain, operator: Exists}]"
	tolerant.distribute("minReplicas: 6, maxReplicas: 12", equally, tolerates)
	s.distribute("minReplicas: 6, maxReplicas: 12", equally, "")
	f := s.isSplit("member1 2-4, member2 2-4, member3 2-4")
	calm := tolerant.isSplit("member1 2-4, member2 2-4, member3 2-4")
	tolerant.quiet(calm.UID)
	begin := time.Now()

	s.registration("member3", "annotate", "fleetscale.io/cordon=true")
	s.t.Cleanup(func() { s.registration("member3", "annotate", "fleetscale.io/cordon-") })
	s.comes("it is cordoned", because("member3", "Cordoned", "it gets no more"))
	s.change(`{"spec":{"maxReplicas":20}}`)
	s.isSplit("member1 2-8, member2 2-8, member3 2-4")
	s.change(`{"spec":{"maxReplicas":12}}`)
	s.isSplit("member1 2-4, member2 2-4, member3 2-4")

	ended := s.watchLosses("member1", "member2")
	s.registration("member3", "annotate", "fleetscale.io/drain=true")
	s.t.Cleanup(func() { s.registration("member3", "annotate", "fleetscale.io/drain-") })
	s.runs("member1 3, member2 3, member3 0")
	s.isSplit("member1 3-6, member2 3-6, member3 none")
	s.comes("it is drained", areIn("member1 Active, member2 Active, member3 Excluded"), because("member3", "Drained"))
	ended.none(s, "as member3 was drained")

	s.registration("member3", "annotate", "fleetscale.io/drain-")
	s.comes("it is cordoned only", because("member3", "Cordoned"))
	s.registration("member3", "annotate", "fleetscale.io/cordon-")
	s.isSplit("member1 2-4, member2 2-4, member3 2-4")
	s.runs("member1 2, member2 2, member3 2")
	s.neverAbove(20, f.UID)
	tolerant.nothingWritten(calm.UID, begin)
}
