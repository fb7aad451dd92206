// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
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
	d, err := recommendation.Decide(&again.Sizes.Question)
	if err != nil {
		r.t.Fatal(err)
	}
	if said := recording.SaidOf(&d); !said.Same(&record.Sizes.Said) {
		r.t.Errorf("decided again (-first +again):\n%s", cmp.Diff(record.Sizes.Said, said))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, again)
}

// A record tells how sizes were decided, of a day with a cluster that cannot be seen, edits, kills, another leader and one who observes;
// by another percentile and margin the decision is another.
func TestWhatIsRecordedOfSizes(t *testing.T) {
	w := newWorld(t, object())
	w.pass(30)
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout}
	w.pass(5)
	w.clusters["west"].silence = nil
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Scope = v1alpha1.ScopePerCluster
		m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "app", MarginPercent: new(int32(40))}}
	})
	w.pass(5)
	w.clusters["east"].pods[0].killed = true
	w.pass(5)
	w.clusters["east"].pods[0].killed = false // else another process counts it again
	w.restart()
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeObserve })
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout}
	w.pass(5)
	all := w.records.all
	same(t, "records", 50, len(all))
	held, kills, last := 0, int32(0), all[len(all)-1]
	for _, r := range all {
		s := r.Sizes
		if s.Question.Known[0].Fleet.Silent {
			held++
		}
		for _, used := range s.Used {
			kills += used[0].Kills
		}
	}
	same(t, "held", 10, held)
	same(t, "kills", int32(1), kills)
	same(t, "outcome", recording.Observed, last.Outcome)
	same(t, "object", recording.Object{Namespace: "shop", Name: "web", UID: "uid-of-mpa", Kind: recording.SizesKind}, last.Object)
	east := recording.Used{Pods: 2, Requested: sizes.Amounts{2000, 4 * gi}, Peak: sizes.Amounts{100, 200 * mi}}
	same(t, "used", east, all[0].Sizes.Used[0][0])

	q := all[20].Sizes.Question
	q.Spec = q.Spec.DeepCopy()
	q.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: v1alpha1.AnyContainer, MarginPercent: new(int32(100))}}
	d, err := recommendation.Decide(&q)
	if err != nil {
		t.Fatal(err)
	}
	was, would := all[20].Sizes.Said.Fleet[0].Target[sizes.CPU], d.Fleet[0].Target[sizes.CPU]
	if was <= 0 || would < was*17/10 || would > was*18/10 {
		t.Errorf("with a margin of 100 %% it is %d, and with 15 %% it was %d", would, was)
	}
}

// What Pods use of what they may is told of each container.
func TestWhatIsRecordedOfUse(t *testing.T) {
	w := newWorld(t, object())
	w.clusters["east"].pods[0].cpu, w.clusters["east"].pods[1].memory = 1200, 3*gi
	w.pass(1)
	same(t, "used", recording.Used{Pods: 2, Requested: sizes.Amounts{2000, 4 * gi}, Peak: sizes.Amounts{1200, 3 * gi}, Above: [2]int32{1, 1}},
		w.records.all[0].Sizes.Used[0][0])
}

// What another recommends is not recorded, nor is anything while it is paused.
func TestWhatIsNotRecordedOfSizes(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.MultidimPodAutoscaler){
		"of another": func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.Recommenders = []v1alpha1.RecommenderReference{{Name: "queueing-model"}}
		},
		"paused": func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModePaused },
	} {
		w := newWorld(t, object(change))
		w.pass(3)
		same(t, name, 0, len(w.records.all))
	}
}
