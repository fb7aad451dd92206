// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/explanation"
)

// splitCart is cart in two clusters, of which east weighs twice what west does.
func splitCart() *v1alpha1.FederatedHPA {
	f := cart()
	f.UID, f.Spec.MinReplicas, f.Spec.MaxReplicas, f.Status.Summary = "uid", new(int32(4)), 12, nil
	a := &v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: "StaticWeighted"}
	s := assignment.Snapshot{Policy: assignment.StaticWeighted, UID: "uid", Min: 4, Max: 12, Changed: true, Now: now.Add(-time.Hour)}
	for i, name := range []string{"east", "west"} {
		weight, runs := int32(2-i), int32(6-4*i)
		a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, v1alpha1.TargetClusterAutoscalingPreference{
			TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{name}}, StaticWeight: &weight})
		s.Sites = append(s.Sites, assignment.Site{Name: name, Current: runs, Ready: runs,
			Preference: assignment.Preference{Weight: int64(weight), Ceiling: math.MaxInt32}})
	}
	f.Spec.FederatedHPAAssignment = a
	entries := func(cluster string) []int32 {
		return assignment.Selecting(a.ClusterAutoscalingPreference, assignment.ClusterFacts{Name: cluster})
	}
	step := assignment.Next(s)
	e := explanation.OfSplit(&explanation.Split{Snapshot: s, Step: step, Current: 8, Desired: 8, Entries: entries})
	for i := range s.Sites {
		site := &s.Sites[i]
		next := step.Sites[site.Name]
		site.Min, site.Max, site.Stands, site.State, site.Since = next.Min, next.Max, next.Max, next.State, next.Since
		f.Status.Clusters = append(f.Status.Clusters, v1alpha1.ClusterStatus{Name: site.Name, State: next.State, AssignedMin: &next.Min,
			AssignedMax: &next.Max, CurrentReplicas: &site.Current, ReadyReplicas: &site.Ready, Weight: &site.Weight,
			HPA: &autoscalingv2.HorizontalPodAutoscalerStatus{DesiredReplicas: site.Current}})
	}
	s.Changed, s.Now = false, now.Add(-6*time.Second)
	f.Status.Explanation = explanation.OfSplit(&explanation.Split{
		Snapshot: s, Step: assignment.Next(s), Current: 8, Desired: 8, Entries: entries, Before: e,
	})
	return f
}

func TestDistributedExplained(t *testing.T) {
	got, err := textOf(splitCart(), cronplan.Target{}, now)
	if err != nil {
		t.Fatal(err)
	}
	same(t, `
FederatedHPA shop/cart: 4..12 replicas, split by StaticWeighted
    CLUSTER   MIN   MAX   RUNS   READY   WANTS   ROOM   WEIGHT   PRIORITY   STATE    WHY
    east      3     8     6      6       6       -      2        -          Active
    west      1     4     2      2       2       -      1        -          Active
  MIN and MAX are the bounds of each cluster's own HorizontalPodAutoscaler, which decides within them, and says WANTS.
  ROOM is how many replicas the cluster can host. The bounds are split by WEIGHT or PRIORITY, where the split goes by them.
  why, 6s ago: bounds moved last 60m ago, by BoundsSplit; nothing calls for another split
    budget     max(12 - 0, 0, 0) = 12                         maxReplicas, which is split
  east: min 3, max 8, runs 6, 6 Ready, weight 2
    share      12 * 2 // 3 = 8
    max        8 = 8                                          8 by weight
    share      4 * 2 // 3 + 1 = 3                             rounding left some, of which the heaviest get 1 each
    min        3 = 3                                          3 by weight
  west: min 1, max 4, runs 2, 2 Ready, weight 1
    share      12 * 1 // 3 = 4
    max        4 = 4                                          4 by weight
    share      4 * 1 // 3 = 1
    min        1 = 1                                          1 by weight
  all clusters that can be told
    all max    8 + 4 = 12
    all min    3 + 1 = 4                                      minReplicas is 4
    unassigned max(0, 12 - 12) = 0                            what thresholds leave to nobody
`, got)
}

func TestWhatIfOfASplit(t *testing.T) {
	out := &bytes.Buffer{}
	o := WhatIfOptions{Set: []string{"spec.federatedHPAAssignment.clusterAutoscalingPreference[1].staticWeight=2"}, Format: "text"}
	if err := o.print(out, splitCart(), now); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(out.String(), "then:\n")
	same(t, `
FederatedHPA shop/cart: 4..12 by StaticWeighted, and then 4..12 by StaticWeighted, by what was known 6s ago
    CLUSTER   RUNS   NOW    THEN
    east      6      3..8   2..6   changes
    west      2      1..4   2..6   changes
  An edit of the spec has the bounds split again. What runs within them is for the clusters' own autoscalers to say.
`, before)
}

func TestWhatIfOfASplitRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"spec.scaleTargetRef.name=basket": "spec.scaleTargetRef: how bounds would be split by another one is not known",
		"spec.federatedHPAAssignment.clusterAutoscalingPreference[1].targetCluster={labelSelector: {matchLabels: {a: b}}}": "give clusterNames",
	} {
		if _, err := compare(splitCart(), []string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", set, err, want)
		}
	}
}
