// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// records are those of a world, as they are read again. Each is decided again, in every test: it comes out as it was.
type records struct {
	t   testing.TB
	mu  sync.Mutex
	all []*recording.Record
}

func (r *records) Record(record *recording.Record) {
	r.t.Helper()
	again := recordingtest.Again(r.t, record)
	if diff := cmp.Diff(record.Split.Said, assignment.Next(again.Split.Snapshot)); diff != "" {
		r.t.Errorf("decided again (-first +again):\n%s", diff)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, again)
}

// A record tells how bounds were split: of a day with a cluster that cannot be seen, an edit, another leader and one who observes. By other
// weights they would have been split otherwise.
func TestWhatIsRecordedOfASplit(t *testing.T) {
	w := fleetOf(t, v1alpha1.AssignmentStaticWeighted, map[string]int32{"east": 2, "west": 2}, bounds(2, 12),
		weighs(map[string]int32{"east": 1, "west": 1}))
	w.mustReconcile(1)
	w.members["west"].Silent = federatedhpatest.Silence()
	w.mustReconcile(1)
	w.members["west"].Silent = nil
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.MaxReplicas = 20 })
	w.mustReconcile(1)
	w.restart()
	w.edit(func(f *v1alpha1.FederatedHPA) { f.Spec.Mode = v1alpha1.ModeObserve })
	w.mustReconcile(1)
	all := w.records.all
	if last := all[len(all)-1]; last.Outcome != recording.Observed || last.Object.UID == "" || last.Object.Kind != recording.Splits {
		t.Errorf("%v, of %+v", last.Outcome, last.Object)
	}
	result, err := replay.Run(all, replay.Options{Change: func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
		spec := before.DeepCopy()
		for i := range spec.FederatedHPAAssignment.ClusterAutoscalingPreference {
			p := &spec.FederatedHPAAssignment.ClusterAutoscalingPreference[i]
			if p.TargetCluster.ClusterNames[0] == "east" {
				p.StaticWeight = new(int32(3))
			}
		}
		return spec, nil
	}})
	if err != nil || result.Differences != 0 {
		t.Fatalf("%d differences, %v", result.Differences, err)
	}
	var got [][4]int32
	unseen := 0
	for _, p := range result.Points {
		if p.Unknown == replay.Unseen {
			unseen++
		}
		got = append(got, [4]int32{p.Clusters[0].Was.Max, p.Clusters[1].Was.Max, p.Clusters[0].Would.Max, p.Clusters[1].Would.Max})
	}
	fleettest.Same(t, "maxima of east and west, as they were and as they would be", [][4]int32{
		{6, 6, 9, 3}, {6, 6, 9, 3}, {10, 10, 15, 5}, {10, 10, 15, 5},
	}, got)
	fleettest.Same(t, "unseen", 1, unseen)
}
