// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// A FederatedHPA that observes says what it would do, in both modes, and neither the workload nor a member is written until
// it acts.
func (s *stage) observesFirst() {
	const asItWas = "hub 3, member1 1, member2 1, member3 1"
	s.uses(map[string]string{"member1": "100m", "member2": "100m", "member3": "100m"})
	s.propagate(3, allMembers()...)
	s.autoscale("mode: Observe, minReplicas: 3, maxReplicas: 12, metrics: [" + byCPU + "]")
	s.comes("it says how many it would run", isIn(v1alpha1.StateObserving), says("Acting=False/Observe", "from 3 to 6 replicas"))
	s.comes("it says why", explains(3, 6, 3))
	s.stays(2*syncPeriod, asItWas)

	s.change(`{"spec":{"federatedHPAAssignment":{"federatedHPAAssignmentType":"StaticWeighted"}}}`)
	s.comes("it says which bounds it would write", isIn(v1alpha1.StateObserving), says("Acting=False/Observe",
		"member1 from 0-0 to 1-4, member2 from 0-0 to 1-4, member3 from 0-0 to 1-4"))
	s.comes("no member has an autoscaler", s.isWhole(0))
	s.comes("nothing keeps it", func(f *v1alpha1.FederatedHPA) error {
		if len(f.Finalizers) > 0 {
			return fmt.Errorf("it has finalizers: %v", f.Finalizers)
		}
		return nil
	})
	s.change(`{"spec":{"federatedHPAAssignment":null}}`)
	s.comes("it says how many it would run again", says("Acting=False/Observe", "from 3 to 6 replicas"))

	s.change(`{"spec":{"mode":"Paused"}}`)
	s.comes("it is paused", isIn(v1alpha1.StatePaused), says(active+"=False/Paused"))
	s.stays(2*syncPeriod, asItWas)
	s.change(`{"spec":{"mode":"Active"}}`)
	s.runs("hub 12, member1 4, member2 4, member3 4")
	s.readsItsPast()
}
