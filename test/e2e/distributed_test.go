// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"testing"
)

// Distributed FederatedHPAs, each with a workload in a namespace of its own,
// whose replicas are changed by the members' own autoscalers. Those that need
// the fleet to be whole are checked side by side; then it is broken, in one
// way after another. Beside them is what docs/ shows of FederatedHPAs and
// CronFederatedHPAs, in whichever mode.
//
// There is no member here that serves no newer version of autoscaling than
// v2beta2: no Kubernetes of the lab's version does. Package workload has one in
// its tests, as a server that answers like it.
func TestDistributed(t *testing.T) {
	f := launchDistributed(t, whole(t))
	cases := map[string]func(*stage){
		"dist-copies":   (*stage).sameBoundsEverywhere,
		"dist-weights":  (*stage).boundsByWeight,
		"dist-spill":    (*stage).boundsByPriorityAndSpill,
		"dist-zero":     (*stage).oneClusterToZero,
		"dist-asleep":   (*stage).wokenByTheHub,
		"dist-adopt":    (*stage).memberAutoscalerIsAdopted,
		"dist-typo":     (*stage).clustersLeave,
		"dist-missing":  (*stage).noTemplate,
		"dist-delete":   (*stage).deleted,
		"dist-switch":   (*stage).switchedByParts,
		"dist-handover": (*stage).switchedByTheHub,
		"dist-types":    (*stage).dividedByType,
		"dist-minima":   (*stage).minimaFirst,
		"dist-native":   (*stage).membersGoToZero,
		"dist-waits":    (*stage).higherPriorityWaits,
		"dist-drain":    (*stage).lowPriorityFirst,
		"dist-setback":  (*stage).boundsAreSetBack,
	}
	maps.Copy(cases, f.documented(t))
	f.sideBySide(t, cases)
	// By what clusters can host, which must be known when bounds are first split: not while all else begins.
	f.sideBySide(t, map[string]func(*stage){
		"dist-room": (*stage).boundsByRoom,
		"dist-few":  (*stage).boundsInFewClusters,
	})
	f.sideBySide(t, map[string]func(*stage){
		"dist-lost":   (*stage).memberLost,
		"dist-leader": (*stage).leaderDiesHalfway,
	})
	f.sideBySide(t, map[string]func(*stage){"dist-refused": (*stage).memberRefuses})
	f.sideBySide(t, map[string]func(*stage){"dist-tainted": (*stage).memberIsCordonedAndDrained})
	f.sideBySide(t, map[string]func(*stage){"dist-away": (*stage).hubAway})
	if testing.Short() {
		t.Log("only in `make test-full PARTS=e2e`: bounds that follow capacity and demand, replicas that move, kinds of Karmada")
		return
	}
	f.sideBySide(t, map[string]func(*stage){
		"dist-moves":  (*stage).replicasMove,
		"dist-follow": (*stage).maximaFollowCapacity,
		"dist-demand": (*stage).maximaFollowDemand,
	})
	f.sideBySide(t, map[string]func(*stage){"dist-schema": (*stage).modeIsDropped})
}
