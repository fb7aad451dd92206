// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// busyInTwo is before the first case.
func (s *stage) busyInTwo() {
	s.uses(map[string]string{"member1": "200m", "member2": "50m", "member3": "10m"})
	s.runIn(2, allMembers()...)
}

// Every member has the bounds of the fleet, and each follows its own load.
func (s *stage) sameBoundsEverywhere() {
	s.autoscale("minReplicas: 1, maxReplicas: 4, metrics: [" + byCPU + "], federatedHPAAssignment: {}")
	s.isSplit("member1 1-4, member2 1-4, member3 1-4")
	s.runs("member1 4, member2 2, member3 1")
	s.comes("it says what they do", isIn(v1alpha1.StateLimited), hasClusters("member1 Active 4, member2 Active 2, member3 Active 1"),
		says(able+"=True/ReadyForNewScale", "split among 3 clusters"), says(active+"=True/ValidMetricFound"),
		says(limited+"=True/TooManyReplicas", "member1"), says(visible+"=True/AllClustersVisible"))
	s.shows(`web +Deployment +web +cpu: \d+%/50% +1 +4 +7 +7 +3/3 +Limited +\S+`)
	s.describes("Assigned Max: 4", "Hpa Version: autoscaling/v2", "Name: member1")
}

// Bounds by weights; a member that lacks the workload gets it from the hub.
func (s *stage) boundsByWeight() {
	s.queues(map[string]string{"member1": "10", "member2": "40", "member3": "10"})
	s.apply("hub", webOf(s.kind, 0, false)) // none of its Pods run on the hub
	s.runIn(1, "member1")
	s.runIn(4, "member2")
	s.distribute("minReplicas: 2, maxReplicas: 10", weights123, "")
	f := s.isSplit("member1 1-1, member2 1-4, member3 1-5")
	s.runs("member1 1, member2 4, member3 1")
	s.hasEvent("Normal", "BoundsSplit", "member1: 0-0 to 1-1", "member2: 0-0 to 1-4", "member3: 0-0 to 1-5")
	s.hasEvent("Normal", "WorkloadCreated", `Deployment "web"`, "member3")

	s.queues(map[string]string{"member1": "90", "member2": "10", "member3": "90"})
	s.runs("member1 1, member2 1, member3 5")
	s.comes("it says what they do", isIn(v1alpha1.StateLimited), isWeighted("1 2 3"),
		says(limited+"=True/TooManyReplicas", "member1, member3"))
	s.shows(`web +Deployment +web +dist-weights-queue: \S+/10 \(avg\) +2 +10 +7 +7 +3/3 +Limited +\S+`)
	s.neverAbove(10, f.UID)
}

func isWeighted(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		got := ""
		for i, c := range f.Status.Clusters {
			if i > 0 {
				got += " "
			}
			if c.Weight != nil {
				got += fmt.Sprint(*c.Weight)
			}
		}
		if got != want {
			return fmt.Errorf("weights are %q, want %q", got, want)
		}
		return nil
	}
}

// Bounds by what members can host, of a workload that runs nothing yet.
func (s *stage) boundsByRoom() {
	s.queues(map[string]string{"member1": "10", "member2": "10", "member3": "10"})
	s.slots(map[string]int{"member1": 1, "member2": 5, "member3": 2})
	s.runInSlots(map[string]int{"member1": 0, "member2": 0, "member3": 0})
	s.distribute("minReplicas: 8, maxReplicas: 24", "federatedHPAAssignmentType: DynamicWeighted, rebalance: {strategy: None}", "")
	f := s.isSplit("member1 1-3, member2 5-15, member3 2-6")
	s.runs("member1 1, member2 5, member3 2")

	s.slots(map[string]int{"member1": 20, "member2": 20, "member3": 20})
	s.queues(map[string]string{"member1": "300", "member2": "120", "member3": "300"})
	s.runs("member1 3, member2 12, member3 6")
	s.shows(`web +Deployment +web +dist-room-queue: \S+/10 \(avg\) +8 +24 +21 +21 +3/3 +Limited +\S+`)
	s.isSplit("member1 1-3, member2 5-15, member3 2-6")
	s.neverAbove(24, f.UID)
}

// Bounds in the member with most room; what none can host for sure is there, too.
func (s *stage) boundsInFewClusters() {
	s.queues(map[string]string{"member1": "10", "member2": "10", "member3": "10"})
	s.slots(map[string]int{"member1": 8, "member2": 2, "member3": 2})
	s.runInSlots(map[string]int{"member1": 0, "member2": 0, "member3": 0})
	s.distribute("minReplicas: 8, maxReplicas: 24", "federatedHPAAssignmentType: Aggregated, rebalance: {strategy: None}", "")
	f := s.isSplit("member1 8-20, member2 1-2, member3 1-2")
	s.runs("member1 8, member2 1, member3 1")

	s.slots(map[string]int{"member1": 20})
	s.queues(map[string]string{"member1": "110", "member2": "20", "member3": "90"})
	s.runs("member1 11, member2 2, member3 2")
	s.shows(`web +Deployment +web +dist-few-queue: \S+/10 \(avg\) +8 +24 +15 +15 +3/3 +Limited +\S+`)
	s.neverAbove(24, f.UID)
}

// priorities21 leave member3 out.
const priorities21 = "federatedHPAAssignmentType: Prioritized, rebalance: {strategy: None}, clusterAutoscalingPreference: [" +
	"{targetCluster: {clusterNames: [member1]}, priority: 2}, {targetCluster: {clusterNames: [member2]}, priority: 1}]"

// Bounds go to the member of the highest priority. When it cannot host what it
// is told, the next one gets the part that waits, after the delay; no Pod that
// runs is ended for it.
func (s *stage) boundsByPriorityAndSpill() {
	s.queues(map[string]string{"member1": "150", "member2": "10", "member3": "10"})
	s.slots(map[string]int{"member1": 20, "member2": 1, "member3": 20})
	s.runInSlots(map[string]int{"member1": 15, "member2": 0, "member3": 0})
	s.distribute("minReplicas: 8, maxReplicas: 24", priorities21, ", autoscaleMultiClusterDelay: 4")
	f := s.isSplit("member1 8-23, member2 1-1, member3 none")
	s.runs("member1 15, member2 1, member3 0")
	s.comes("it says who takes part", areIn("member1 Active, member2 Active, member3 Excluded"),
		because("member3", "NotPreferred", "clusterAutoscalingPreference"))
	s.queues(map[string]string{"member1": "80"})
	s.runs("member1 8, member2 1, member3 0")

	s.slots(map[string]int{"member1": 10, "member2": 20})
	ended := s.watchLosses(allMembers()...)
	s.queues(map[string]string{"member1": "160"})
	s.isSplit("member1 8-10, member2 1-14, member3 none")
	s.hasEvent("Normal", "MaximumSpilled", "member1: 8-23 to 8-10", "member2: 1-1 to 1-14")
	s.runs("member1 10, member2 1, member3 0")
	s.queues(map[string]string{"member2": "70"})
	s.runs("member1 10, member2 7, member3 0")
	s.comes("it says where it is full", areIn("member1 Saturated, member2 Active, member3 Excluded"), because("member1", "Unschedulable"),
		isIn(v1alpha1.StateLimited))
	ended.none(s, "by the spill")
	s.shows(`web +Deployment +web +dist-spill-queue: \S+/10 \(avg\) +8 +24 +17 +17 +2/2 +Limited +\S+`)
	s.neverAbove(24, f.UID)
}
