// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// Containers that have an entry of their own are tried with the others, and keep what else it says.
func TestSweepSizesOfAllContainers(t *testing.T) {
	records := calm(nil)
	most := changedSizes(func(spec *v1alpha1.MultidimPodAutoscalerSpec) {
		spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "app-0", MarginPercent: new(int32(0))}}
	})
	trials, err := replay.SweepSizes(records, most, replay.TargetPercentile, []int32{50, 99})
	if err != nil || len(trials) != 2 {
		t.Fatal(err, trials)
	}
	result, err := replay.Run(records, most)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trials { // what is used is the same all the time, and so is each percentile
		fleettest.Same(t, "core-hours", result.Summarize(0).Would.Sizes, trials[i].Would.Sizes)
	}
	if trials, err = replay.SweepSizes(records, most, replay.MarginPercent, []int32{0, 100}); err != nil {
		t.Fatal(err)
	}
	if without, with := trials[0].Would.Sizes.CoreHours, trials[1].Would.Sizes.CoreHours; with < 1.9*without || with > 2.1*without {
		t.Errorf("%v core-hours without a margin, %v with as much again", without, with)
	}
}

// The least that does is advised, for each resource, in whatever order values were tried.
func TestAdviseSizes(t *testing.T) {
	trial := func(value int32, cpu, memory time.Duration, uncovered int, unknown ...replay.Unknown) replay.SizeTrial {
		s := replay.Summary{Lasts: 100 * time.Minute, Unknown: map[replay.Unknown]time.Duration{}}
		s.Would.Sizes = replay.SizeSums{AboveCPU: cpu, AboveMemory: memory, Uncovered: uncovered}
		for _, u := range unknown {
			s.Unknown[u] = time.Minute
		}
		return replay.SizeTrial{Value: value, Summary: s}
	}
	for name, tc := range map[string]struct {
		trials []replay.SizeTrial
		want   replay.SizeAdvice
	}{
		"none":   {nil, replay.SizeAdvice{}},
		"one":    {[]replay.SizeTrial{trial(90, time.Minute, 0, 0)}, replay.SizeAdvice{CPU: new(int32(90)), Memory: new(int32(90))}},
		"no cpu": {[]replay.SizeTrial{trial(90, time.Minute+1, 0, 0)}, replay.SizeAdvice{Memory: new(int32(90))}},
		"the least, in any order": {
			[]replay.SizeTrial{trial(99, 0, 0, 0), trial(80, 0, time.Hour, 0), trial(90, 0, 0, 0), trial(70, time.Hour, 0, 1)},
			replay.SizeAdvice{CPU: new(int32(80)), Memory: new(int32(90))},
		},
		"as many kills as with any": {[]replay.SizeTrial{trial(80, 0, 0, 3), trial(90, 0, 0, 2), trial(99, 0, 0, 2)},
			replay.SizeAdvice{CPU: new(int32(80)), Memory: new(int32(90))}},
		"not known": {[]replay.SizeTrial{trial(80, 0, 0, 0, replay.CutOff)},
			replay.SizeAdvice{CPU: new(int32(80)), Memory: new(int32(80)), AtLeast: true}},
	} {
		t.Run(name, func(t *testing.T) { fleettest.Same(t, "advice", tc.want, replay.AdviseSizes(tc.trials, 0.01)) })
	}
}
