// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// onTarget is before the last case.
func (s *stage) onTarget() {
	s.uses(map[string]string{"member1": "50m", "member2": "50m", "member3": "50m"})
	s.runIn(2, allMembers()...)
}

// A FederatedHPA goes from one mode to the other, and back. No Pod is ended by
// that alone, however uneven they are.
func (s *stage) switchedByParts() {
	s.kind = "StatefulSet"
	onTarget := map[string]string{"member1": "10", "member2": "10", "member3": "10"}
	s.tells("rps", onTarget)
	s.runIn(4, "member1")
	s.runIn(1, "member2", "member3")
	s.autoscale("minReplicas: 3, maxReplicas: 9, metrics: [" + byRPS + "], replicaDistribution: {}")
	s.comes("it is central", isIn(v1alpha1.StateActive), hasClusters("member1 Active 4, member2 Active 1, member3 Active 1"))
	ended := s.watchLosses(allMembers()...)
	s.change(`{"spec":{"replicaDistribution":null,"federatedHPAAssignment":{"federatedHPAAssignmentType":"StaticWeighted"}}}`)
	f := s.comes("it is distributed", s.isWhole(9), isIn(v1alpha1.StateActive))
	s.stays(2*syncPeriod, "member1 4, member2 1, member3 1")
	s.quiet(f.UID)
	s.neverAbove(9, f.UID)

	s.change(`{"spec":{"replicaDistribution":{},"federatedHPAAssignment":null}}`)
	s.comes("it is central again", s.isWhole(0), isIn(v1alpha1.StateActive),
		hasClusters("member1 Active 4, member2 Active 1, member3 Active 1"))
	s.stays(2*syncPeriod, "member1 4, member2 1, member3 1")
	ended.none(s, "by a change of the mode")
}

// isWhole wants that the maxima that members store are so much together.
func (s *stage) isWhole(most int32) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		sum := int32(0)
		for _, member := range allMembers() {
			own, err := s.ownIn(s.t.Context(), member, f.UID)
			if err != nil {
				return err
			}
			for _, hpa := range own {
				sum += hpa.Spec.MaxReplicas
			}
		}
		if sum != most {
			return fmt.Errorf("the maxima are %d together, want %d", sum, most)
		}
		return nil
	}
}

// The same where the hub is told: back in central mode it first learns what
// runs by now.
func (s *stage) switchedByTheHub() {
	s.propagate(6, allMembers()...)
	s.autoscale("minReplicas: 6, maxReplicas: 12, metrics: [" + byCPU + "]")
	s.comes("it is central", isIn(v1alpha1.StateActive), hasClusters("member1 Active 2, member2 Active 2, member3 Active 2"))
	ended := s.watchLosses(allMembers()...)
	s.change(`{"spec":{"federatedHPAAssignment":{"federatedHPAAssignmentType":"StaticWeighted"}}}`)
	f := s.isSplit("member1 2-4, member2 2-4, member3 2-4")
	s.stays(2*syncPeriod, "hub 6, member1 2, member2 2, member3 2")
	s.change(`{"spec":{"minReplicas":9}}`)
	s.runs("hub 6, member1 3, member2 3, member3 3")
	s.change(`{"spec":{"minReplicas":6}}`)
	s.isSplit("member1 2-4, member2 2-4, member3 2-4")
	s.comes("it sees them", hasClusters("member1 Active 3, member2 Active 3, member3 Active 3"))
	s.neverAbove(12, f.UID)

	s.change(`{"spec":{"federatedHPAAssignment":null}}`)
	s.runs("hub 9, member1 3, member2 3, member3 3")
	s.comes("it is central again", s.isWhole(0), isIn(v1alpha1.StateActive))
	s.lasts(2*syncPeriod, "it runs what it ran", func(ctx context.Context) error {
		got, err := s.told(ctx, "hub", "member1", "member2", "member3")
		if want := "hub 9, member1 3, member2 3, member3 3"; err == nil && got != want {
			err = fmt.Errorf("it runs %s", got)
		}
		return err
	})
	ended.none(s, "by a change of the mode")
}
