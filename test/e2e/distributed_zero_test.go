// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// At low load one member runs nothing, as far as the others run the fleet's
// minimum; a burst in them wakes it.
func (s *stage) oneClusterToZero() {
	s.queues(map[string]string{"member1": "5", "member2": "5", "member3": "5"})
	s.runIn(1, allMembers()...)
	s.distribute("minReplicas: 2, maxReplicas: 10", weights123, ", scalingToZero: true")
	f := s.isSplit("member1 1-1, member2 1-4, member3 1-5")
	s.runs("member1 0, member2 1, member3 1")
	s.comes("it says so", areIn("member1 ScaledToZero, member2 Active, member3 Active"), isIn(v1alpha1.StateActive))
	s.hasEvent("Normal", "ScaledToZero", "member1: 1 to 0 replicas")
	s.stays(2*downWindow, "member1 0, member2 1, member3 1")
	s.shows(`web +Deployment +web +dist-zero-queue: 5/10 \(avg\) +2 +10 +2 +2 +3/3 +Active +\S+`)

	s.queues(map[string]string{"member2": "40", "member3": "40"})
	s.runs("member1 1, member2 4, member3 4")
	s.hasEvent("Normal", "ScaledFromZero", "member1: 0 to 1 replicas")
	s.comes("it says so", areIn("member1 Active, member2 Active, member3 Active"))
	s.isSplit("member1 1-1, member2 1-4, member3 1-5")
	s.neverAbove(10, f.UID)
}

// Where nothing runs at all no autoscaler of a member acts, so the hub does.
func (s *stage) wokenByTheHub() {
	s.queue("0")
	s.runIn(0, "member1", "member2")
	s.distribute("minReplicas: 0, maxReplicas: 6", equally, ", scalingToZero: true, clusterAffinity: {clusterNames: [member1, member2]}")
	f := s.isSplit("member1 1-3, member2 1-3, member3 none")
	s.comes("it says so", isIn(v1alpha1.StatePaused), areIn("member1 ScaledToZero, member2 ScaledToZero"))
	s.stays(3*time.Second, "member1 0, member2 0")
	s.queue("25")
	s.runs("member1 3, member2 3")
	s.comes("it is awake", isIn(v1alpha1.StateActive), areIn("member1 Active, member2 Active"))
	s.neverAbove(6, f.UID)
}
