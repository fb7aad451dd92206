// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// A run gives a cordoned cluster no more and has a drained one give what it runs; a silent one counts, and is awaited, unless it is
// drained.
func TestRunsFollowCordonAndDrain(t *testing.T) {
	cluster := func(name string, standing taints.Standing, replicas int32) selection.Cluster {
		c := selection.Cluster{Candidate: selection.Candidate{
			Facts: assignment.ClusterFacts{Name: name}, Standing: taints.Verdict{Standing: standing},
		}}
		if replicas < 0 {
			c.Silence = fleet.Silencef(fleet.ReasonTimeout, "it hangs")
			return c
		}
		c.Scale = &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		return c
	}
	const silent = -1
	target := inMembers{
		memory: &fleetMemory{replicas: map[string]int32{"silent": 3, "silent-drained": 5}},
		clusters: []selection.Cluster{
			cluster("cordoned", taints.Cordoned, 4), cluster("drained", taints.Drained, 2), cluster("free", taints.Free, 4),
			cluster("silent", taints.Cordoned, silent), cluster("silent-drained", taints.Drained, silent),
		},
	}
	got := assignment.InProportion(20, target.parts())
	want := assignment.Distribution{Replicas: map[string]int32{"cordoned": 4, "drained": 0, "free": 13, "silent": 3}}
	if diff := cmp.Diff(want.Replicas, got.Replicas); diff != "" || got.Unplaced != 0 {
		t.Errorf("replicas (-want +got), %d unplaced:\n%s", got.Unplaced, diff)
	}
	follow := followers(target.clusters)
	if diff := cmp.Diff([]string{"silent"}, follow.Silent); diff != "" || follow.Selected != 5 || len(follow.Replicas) != 3 {
		t.Errorf("of %d clusters %v follow, and these are awaited (-want +got):\n%s", follow.Selected, follow.Replicas, diff)
	}
}
