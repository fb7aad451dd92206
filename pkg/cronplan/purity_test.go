// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// decide is Decide held to purity, in every scenario of this package: the
// situation is as it was before, and decides the same again.
func decide(t testing.TB, in Situation) Decision {
	t.Helper()
	before := copyOf(in)
	d := Decide(in)
	if !reflect.DeepEqual(before, in) {
		t.Errorf("the situation was changed:\n%+v\nbefore:\n%+v", in, before)
	}
	if again := Decide(before); !reflect.DeepEqual(d, again) {
		t.Errorf("decided differently of the same situation:\n%+v\nbefore:\n%+v", again, d)
	}
	return d
}

// copyOf shares nothing with the original that can be changed.
func copyOf(in Situation) Situation {
	in.Object = in.Object.DeepCopy()
	in.Timetables = slices.Clone(in.Timetables)
	in.Target.Has = copyOfValues(in.Target.Has)
	in.Target.Trouble = copyOfPointer(in.Target.Trouble)
	in.Delay = copyOfPointer(in.Delay)
	return in
}

func copyOfValues(v Values) Values {
	for f := range v {
		v[f] = copyOfPointer(v[f])
	}
	return v
}

func copyOfPointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// FuzzDecideIsPure lives through random stories: rules come, go and change, the
// clock steps, the target is there or not, and others set it.
func FuzzDecideIsPure(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 2))
		target := append(autoscalers(), deployment)[random.IntN(3)]
		s, now := tell(t, target), moment(t, "07:00")
		s.object.CreationTimestamp = *stamp(now)
		for range 30 {
			now = now.Add(time.Duration(random.IntN(100)-20) * time.Minute)
			if random.IntN(4) == 0 {
				s.edit(func(spec *v1alpha1.CronFederatedHPASpec) { spec.Rules = randomRules(random) })
			}
			in := s.situation(now.Format(time.DateTime))
			befall(random, &in)
			d := decide(t, in)
			s.has = s.has.with(d.Set)
			s.object.Status, s.delay = d.Status, d.Delay
		}
	})
}

// befall has something happen to the target, or nothing.
func befall(random *rand.Rand, in *Situation) {
	reasons := []string{reasonNotFound, reasonUnreachable, reasonNotSet, reasonRefused}
	switch random.IntN(6) {
	case 0:
		in.Target = Target{}
	case 1:
		in.Target.ScaledBy = "another"
	case 2, 3:
		in.Target.Trouble = &Trouble{Reason: reasons[random.IntN(len(reasons))], Message: "no luck"}
	}
}

// randomRules sometimes have faults, or the names of others.
func randomRules(random *rand.Rand) (rules []ruleSpec) {
	schedules := []string{"0 * * * *", "*/10 * * * *", "30 8 * * *", "61 * * * *"}
	for range random.IntN(5) {
		rules = append(rules, ruleSpec{
			Name: fmt.Sprintf("r%d", random.IntN(5)), Schedule: schedules[random.IntN(len(schedules))],
			TargetReplicas: maybe(random, 0), TargetMinReplicas: maybe(random, 0), TargetMaxReplicas: maybe(random, 1),
			Suspend:                new(random.IntN(5) == 0),
			SuccessfulHistoryLimit: maybe(random, 0), FailedHistoryLimit: maybe(random, 0),
		})
		if limit := maybe(random, 1); limit != nil {
			rules[len(rules)-1].MaxDelaySeconds = new(int64(*limit) * 60)
		}
	}
	return rules
}
