// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"math/rand/v2"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// FuzzSettle holds settle to a definition that takes each field by itself,
// and to what must be true whatever the runs are.
func FuzzSettle(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		has := Values{MinReplicas: maybe(random, 0), MaxReplicas: new(1 + random.Int32N(6))}
		runs := randomRuns(random)
		wanted, outcomes := settle(has, false, runs)
		if misfit(has, Values{}, true) == "" && misfit(wanted, Values{}, true) != "" {
			t.Fatalf("a target that fits is made one that does not: %v to %v", has, wanted)
		}
		fits := func(o settled) bool { return o.misfit == "" }
		for f := range fields {
			if want := lastSet(f, has, outcomes, fits); !ptr.Equal(wanted[f], want) {
				t.Errorf("field %d is %v, by definition %v", f, ptr.Deref(wanted[f], -1), ptr.Deref(want, -1))
			}
		}
		for i, o := range outcomes {
			said := 0
			for _, is := range []bool{o.misfit != "", o.by != nil, !o.applied.Empty()} {
				if is {
					said++
				}
			}
			if said != 1 {
				t.Errorf("run %d: %d things are said of it, want 1: %+v", i, said, o)
			}
			for f := range fields {
				applied := o.applied[f]
				if applied != nil && applied != runs[i].sets()[f] || applied != nil && *applied != *wanted[f] {
					t.Errorf("run %d is credited with what it did not do in field %d", i, f)
				}
			}
			if o.by != nil && o.by.of == o.of {
				t.Errorf("run %d supersedes itself", i)
			}
		}
		if has.with(wanted.without(has)) != wanted && misfit(has, wanted, true) == "" {
			for f := range fields {
				if !ptr.Equal(has.with(wanted.without(has))[f], wanted[f]) {
					t.Errorf("what is to be set, %v, does not lead from %v to %v", wanted.without(has), has, wanted)
				}
			}
		}
	})
}

// lastSet is a field after all runs that fit.
func lastSet(f int, has Values, outcomes []settled, fits func(settled) bool) *int32 {
	for i := len(outcomes) - 1; i >= 0; i-- {
		if set := outcomes[i].sets()[f]; set != nil && fits(outcomes[i]) {
			return set
		}
	}
	return has[f]
}

func randomRuns(random *rand.Rand) []run {
	var runs []run
	for range 1 + random.IntN(5) {
		spec := &v1alpha1.CronFederatedHPARule{TargetMinReplicas: maybe(random, 0), TargetMaxReplicas: maybe(random, 1)}
		if spec.TargetMinReplicas == nil && spec.TargetMaxReplicas == nil {
			spec.TargetMaxReplicas = new(1 + random.Int32N(6))
		}
		runs = append(runs, run{of: &history{rule: rule{spec: spec}}})
	}
	return runs
}

func maybe(random *rand.Rand, least int32) *int32 {
	if random.IntN(2) == 0 {
		return nil
	}
	return new(least + random.Int32N(6))
}
