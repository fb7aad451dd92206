// SPDX-License-Identifier: Apache-2.0

package central

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// anySituation is one of many; of one seed it is always the same.
func anySituation(seed uint64) situation {
	r := rand.New(rand.NewPCG(seed, 0))
	object := federatedhpatest.NewObject("web")
	object.Spec.HorizontalPodAutoscalerSpec = federatedhpatest.RandomSpec(r)
	object.Spec.AutoscaleMultiClusterDelay = new(int32(60))
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{
		Type: []v1alpha1.ReplicaDistributionType{v1alpha1.DistributionStaticWeighted, v1alpha1.DistributionDynamicWeighted,
			v1alpha1.DistributionAggregated, v1alpha1.DistributionPrioritized, v1alpha1.DistributionLoadWeighted}[r.IntN(5)],
		Rebalance: new(r.IntN(2) == 0),
	}
	in := situation{Sight: sight.Sight{Object: object, Now: start}, options: replicas.Options{StabilizationWindow: 5 * time.Minute,
		Tolerance: 0.1}}
	in.metrics = []replicas.Metric{{Values: []int64{r.Int64N(40_000)}}}
	states := []v1alpha1.ClusterState{v1alpha1.ClusterActive, v1alpha1.ClusterActive, v1alpha1.ClusterSaturated, v1alpha1.ClusterUnreachable,
		v1alpha1.ClusterConflict}
	for i := range 1 + r.IntN(4) {
		told := r.Int32N(9)
		c := &selection.Cluster{
			Candidate:  selection.Candidate{Facts: assignment.ClusterFacts{Name: fmt.Sprint("c", i)}, Selected: true},
			Preference: assignment.Preference{Weight: 1 + r.Int64N(3)},
			Scale: &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: told},
				Status: autoscalingv1.ScaleStatus{Replicas: told, Selector: "app=web"}},
		}
		c.Before = v1alpha1.ClusterStatus{Name: c.Facts.Name, State: states[r.IntN(len(states))],
			Since: &metav1.Time{Time: start.Add(-time.Hour)}, AssignedReplicas: &told}
		c.Pods = pods.Listing{Known: true, Unschedulable: r.IntN(4), UnschedulableSince: start.Add(-time.Duration(r.IntN(100)) * time.Second)}
		if r.IntN(2) == 0 {
			c.Additional = new(r.Int32N(9))
		}
		in.Clusters = append(in.Clusters, *c)
		in.parts = append(in.parts, part{Cluster: c, state: v1alpha1.ClusterActive, assigned: &told, moved: r.Int32N(2)})
		in.scale.Replicas += told
	}
	in.inMembers = true
	in.scale.StatusReplicas, in.scale.Selector = in.scale.Replicas, "app=web"
	return in
}

// A decision reads what was gathered, and changes nothing of it.
func TestDecideLeavesItsInputAlone(t *testing.T) {
	full, moves := 0, 0
	for seed := range uint64(2000) {
		in := anySituation(seed)
		p := decide(in)
		if before := anySituation(seed); !reflect.DeepEqual(before, in) {
			t.Fatalf("seed %d: before\n%+v\nafter\n%+v", seed, before, in)
		}
		for i := range p.parts {
			if p.parts[i].state == v1alpha1.ClusterSaturated {
				full++
			}
		}
		moves += len(p.division.changed)
	}
	if full == 0 || moves == 0 {
		t.Errorf("%d clusters were full, and %d got other replicas: the situations say nothing", full, moves)
	}
}
