// SPDX-License-Identifier: Apache-2.0

package e2e

// With Strict a member of high priority keeps what it runs while one of low
// priority runs more than its minimum. That one's own autoscaler stops above it,
// so the hub drains it.
func (s *stage) lowPriorityFirst() {
	s.queues(map[string]string{"member1": "60", "member2": "40"})
	s.slots(map[string]int{"member1": 6, "member2": 10})
	s.runInSlots(map[string]int{"member1": 6, "member2": 4})
	s.distribute("minReplicas: 2, maxReplicas: 16", priorities21, "")
	f := s.isSplit("member1 2-6, member2 1-10, member3 none")
	first := s.watchLosses("member1")
	s.queues(map[string]string{"member1": "20", "member2": "20"})
	s.runs("member1 6, member2 2")
	first.none(s, "while member2 runs more than its minimum")
	s.hasEvent("Normal", "LowPriorityDrained", "member1: 2-6 to 2-15", "member2: 1-10 to 1-1")
	s.runs("member1 2, member2 1")
	s.isSplit("member1 2-15, member2 1-1, member3 none")
	s.neverAbove(16, f.UID)
}

// Bounds follow the room that members have.
func (s *stage) maximaFollowCapacity() {
	s.queue("20")
	s.slots(map[string]int{"member1": 6, "member2": 6})
	s.runInSlots(map[string]int{"member1": 2, "member2": 2})
	s.distribute("minReplicas: 2, maxReplicas: 12", "federatedHPAAssignmentType: DynamicWeighted, rebalance: {intervalSeconds: 15}",
		", clusterAffinity: {clusterNames: [member1, member2]}")
	f := s.isSplit("member1 1-6, member2 1-6, member3 none")
	s.slots(map[string]int{"member1": 2, "member2": 10})
	s.isSplit("member1 1-2, member2 1-10, member3 none")
	s.hasEvent("Normal", "MaximumMovedToCapacity", "member1: 1-6 to 1-2", "member2: 1-6 to 1-10")
	s.quiet(f.UID)
	s.neverAbove(12, f.UID)
}

// Bounds follow what members want, where their autoscalers have not scaled
// lately.
func (s *stage) maximaFollowDemand() {
	s.queues(map[string]string{"member1": "80", "member2": "20"})
	s.runIn(6, "member1")
	s.runIn(2, "member2")
	s.distribute("minReplicas: 2, maxReplicas: 12", equally+", rebalance: {strategy: Demand, intervalSeconds: 15}",
		", clusterAffinity: {clusterNames: [member1, member2]}")
	f := s.isSplit("member1 1-8, member2 1-4, member3 none")
	s.hasEvent("Normal", "BoundsMovedToDemand", "member1: 1-6 to 1-8", "member2: 1-6 to 1-4")
	s.runs("member1 8, member2 2")
	s.neverAbove(12, f.UID)
}
