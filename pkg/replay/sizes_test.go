// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

func unchangedSizes(as *v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
	return as.DeepCopy(), nil
}

// changedSizes changes a copy of each spec.
func changedSizes(change func(*v1alpha1.MultidimPodAutoscalerSpec)) replay.Options {
	return replay.Options{ChangeSizes: func(as *v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
		spec := as.DeepCopy()
		change(spec)
		return spec, nil
	}}
}

func withMargin(percent int32) func(*v1alpha1.MultidimPodAutoscalerSpec) {
	return func(spec *v1alpha1.MultidimPodAutoscalerSpec) {
		spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: v1alpha1.AnyContainer, MarginPercent: new(percent)}}
	}
}

// By the same spec all is as it was, whatever happens; by one that says the same, so are both sides.
func TestSizesByTheSameSpec(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 41))
		records := recordingtest.RandomSized(r).Run(r, 40)
		for name, change := range map[string]func(*v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error){
			"none": nil, "one that changes nothing": unchangedSizes} {
			result, err := replay.Run(records, replay.Options{ChangeSizes: change})
			if err != nil || result.Differences != 0 || len(result.Points) != 40 {
				t.Fatalf("seed %d, %s: %d differences of %d, %v", seed, name, result.Differences, len(result.Points), err)
			}
			for i := range result.Points {
				fleettest.Same(t, "would", *result.Points[i].Was.Sizes, *result.Points[i].Would.Sizes)
			}
		}
	}
}

// A record that says something else than is decided is a difference.
func TestADifferenceOfSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	records := recordingtest.NewSized(2, 1).Run(r, 3)
	records[1].Sizes.Said.In[1][0].Target[sizes.CPU]++
	result, err := replay.Run(records, replay.Options{})
	if err != nil || result.Differences != 1 {
		t.Errorf("%d differences, %v", result.Differences, err)
	}
}

// calm is of one cluster with two Pods, which use 200 m and 400 MiB for an hour after they did for a day.
func calm(happen func(step int, use *sizes.Amounts, used *recording.Used, silent *bool)) []*recording.Record {
	r := rand.New(rand.NewPCG(1, 1))
	s := recordingtest.NewSized(1, 1)
	from := 24 * 60
	s.Happen = func(step, _, _ int, use *sizes.Amounts, used *recording.Used, silent *bool) {
		*use = sizes.Amounts{200, 400 << 20}
		if step -= from; step >= 0 && happen != nil {
			happen(step, use, used, silent)
		}
	}
	return s.Run(r, from+61)[from:]
}

// A larger margin takes more, and less is used above it; what Pods requested in fact is neither.
func TestSizesByAnotherMargin(t *testing.T) {
	records := calm(func(step int, use *sizes.Amounts, _ *recording.Used, _ *bool) {
		if step >= 10 && step < 20 {
			use[sizes.CPU] = 300
		}
	})
	result, err := replay.Run(records, changedSizes(withMargin(100)))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Summarize(0)
	near := func(what string, want, got float64) {
		if got < want*0.95 || got > want*1.05 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("core-hours", 0.494, s.Was.Sizes.CoreHours) // a bucket's end is up to a twentieth above what is used
	near("core-hours with the margin", 0.494*2/1.15, s.Would.Sizes.CoreHours)
	near("GiB-hours with the margin", s.Was.Sizes.GiBHours*2/1.15, s.Would.Sizes.GiBHours)
	near("core-hours in fact", 2, s.InFact.CoreHours)
	near("GiB-hours in fact", 4, s.InFact.GiBHours)
	fleettest.Same(t, "above", []time.Duration{10 * time.Minute, 0}, []time.Duration{s.Was.Sizes.AboveCPU, s.Would.Sizes.AboveCPU})
	fleettest.Same(t, "memory above", time.Duration(0), s.Was.Sizes.AboveMemory)
	fleettest.Same(t, "Pods", int32(2), s.Was.Most)
	fleettest.Same(t, "changes", []int{0, 0}, []int{s.Was.Sizes.Changes, s.Would.Sizes.Changes})
}

// Of kills those are not covered that had as much as they would have had; what is killed is changed, if more is recommended.
func TestKillsThatAreNotCovered(t *testing.T) {
	records := calm(func(step int, use *sizes.Amounts, used *recording.Used, _ *bool) {
		switch step {
		case 5:
			used.Kills, used.Had = 1, 500<<20
		case 6:
			used.Kills, used.Had = 2, 800<<20
		}
	})
	result, err := replay.Run(records, changedSizes(withMargin(50)))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Summarize(0)
	fleettest.Same(t, "kills", 3, s.Kills)
	fleettest.Same(t, "not covered", []int{3, 2}, []int{s.Was.Sizes.Uncovered, s.Would.Sizes.Uncovered})
}

// Pods are changed once their request is out of bounds.
func TestSizesAreChanged(t *testing.T) {
	records := calm(nil)
	for _, r := range records[30:] { // as if much more were recommended since
		for k := range r.Sizes.Question.Known[0].Fleet.Reached[sizes.CPU] {
			r.Sizes.Question.Known[0].Fleet.Reached[sizes.CPU][k] += 40
		}
	}
	result, err := replay.Run(records, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "changes", 2, result.Summarize(0).Was.Sizes.Changes)
	fleettest.Same(t, "in which decision", 2, result.Points[30].Was.Sizes.Changes)
}

func TestWhenSizesAreNotKnown(t *testing.T) {
	silent := calm(func(step int, _ *sizes.Amounts, used *recording.Used, silent *bool) {
		*silent = step == 3
		if step == 4 {
			used.OfLimit = 95
		}
	})
	result, err := replay.Run(silent, replay.Options{CutOff: 95})
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "unknown", []replay.Unknown{"", replay.Unseen, replay.CutOff, ""}, []replay.Unknown{result.Points[2].Unknown,
		result.Points[3].Unknown, result.Points[4].Unknown, result.Points[5].Unknown})
	unknown := *silent[0]
	none := *unknown.Sizes
	none.Question.Known = nil
	spec := none.Question.Spec.DeepCopy()
	spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: v1alpha1.AnyContainer, Mode: v1alpha1.ContainerOff}}
	none.Question.Spec, unknown.Sizes = spec, &none
	if result, err = replay.Run([]*recording.Record{&unknown}, replay.Options{}); err != nil || result.Points[0].Unknown != replay.NotTold {
		t.Errorf("%+v, %v", result.Points, err)
	}
}

// What was not recorded is refused, and not guessed.
func TestSizesThatAreRefused(t *testing.T) {
	records := calm(nil)[:2]
	off := func(spec *v1alpha1.MultidimPodAutoscalerSpec) {
		spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: v1alpha1.AnyContainer, Mode: v1alpha1.ContainerOff}}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.MultidimPodAutoscalerSpec)
		want   string
	}{
		"another workload": {func(s *v1alpha1.MultidimPodAutoscalerSpec) { s.ScaleTargetRef.Name = "other" }, "spec.scaleTargetRef: "},
		"goals":            {func(s *v1alpha1.MultidimPodAutoscalerSpec) { s.Goals = &v1alpha1.Goals{} }, "spec.goals: "},
		"each its own": {func(s *v1alpha1.MultidimPodAutoscalerSpec) { s.Scope = v1alpha1.ScopePerCluster },
			"what container app-0 used in each cluster is not known"},
	} {
		if _, err := replay.Run(records, changedSizes(tc.change)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := replay.Run(records, changedSizes(off)); err != nil {
		t.Errorf("sizing nothing: %v", err)
	}
}

// A picture has the most of each part of the time, and leaves the points as they are.
func TestThinSizes(t *testing.T) {
	records := calm(func(step int, use *sizes.Amounts, used *recording.Used, _ *bool) {
		if step == 1 {
			use[sizes.CPU], used.Kills, used.Had = 900, 1, 8<<30
		}
	})
	result, err := replay.Run(records, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first := *result.Points[0].Was.Sizes
	thin := replay.Thin(result.Points, 2)
	if s := thin[0].Was.Sizes; len(thin) != 2 || !s.AboveCPU || s.Uncovered != 1 || thin[0].InFact.Kills != 1 {
		t.Errorf("%d points, %+v", len(thin), s)
	}
	fleettest.Same(t, "the first of all", first, *result.Points[0].Was.Sizes)
}
