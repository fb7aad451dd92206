// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is said to come is what is then decided, rule by rule.
func TestNextIsWhatIsDecided(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		var rules []ruleSpec
		for n := range 1 + r.IntN(4) {
			name, schedule := fmt.Sprintf("r%d", n), fmt.Sprintf("%d %d * * *", 30*r.IntN(2), 8+r.IntN(2))
			rule := []ruleSpec{setsMin(name, schedule, r.Int32N(12)), setsMax(name, schedule, r.Int32N(12)+1),
				setsBoth(name, schedule, 2, r.Int32N(9)+2)}[r.IntN(3)]
			rule.Suspend = new(r.IntN(6) == 0)
			rules = append(rules, rule)
		}
		s := tell(t, federated, rules...)
		at := fmt.Sprintf("%02d:%02d", 7+r.IntN(3), r.IntN(60))
		s.goes(at)
		next := Next(s.situation(at))
		if next.At.IsZero() {
			seen["never"]++
			continue
		}
		in := s.situation(at)
		if in.Now = next.At; r.IntN(2) == 0 { // it is due, and said to be
			if now := Next(in); !cmp.Equal(now, next) {
				t.Fatalf("seed %d: %+v is to come, and then %+v is due", seed, next, now)
			}
		}
		d := Decide(in)
		if !cmp.Equal(d.Set, next.Sets) {
			t.Fatalf("seed %d: %v is to be set, and %v is", seed, next.Sets, d.Set)
		}
		if len(d.News) != len(next.Runs) {
			t.Fatalf("seed %d: %d runs are to come, and %d are done", seed, len(next.Runs), len(d.News))
		}
		for _, run := range next.Runs {
			want := Succeeded
			switch {
			case run.By != "":
				want = Superseded
			case run.Misfit != "":
				want = Failed
			}
			seen[string(want)]++
			for _, record := range d.News {
				if record.Rule == run.Rule && (record.Result != want || !cmp.Equal(record.Applied, run.Applied)) {
					t.Errorf("seed %d: %+v is to come, and becomes %+v", seed, run, record)
				}
			}
		}
	}
	for _, want := range []string{"never", string(Succeeded), string(Superseded), string(Failed)} {
		if seen[want] == 0 {
			t.Errorf("nothing was %s: %v", want, seen)
		}
	}
}
