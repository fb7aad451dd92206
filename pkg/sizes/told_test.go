// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// randomUse is of several containers over hours or weeks, with pauses, kills and, now and then, nothing of one resource.
func randomUse(r *rand.Rand) *Use {
	u := &Use{}
	instances := make([]Instance, r.IntN(4))
	at := noon
	for range r.IntN(120) {
		at = at.Add(time.Duration(r.Int64N(int64(6 * time.Hour))))
		for i := range instances {
			s := Sample{Amounts: Amounts{r.Int64N(3000), r.Int64N(8 * gi)}, At: at}
			if r.IntN(5) == 0 {
				s.Amounts[r.IntN(2)] = None
			}
			if instances[i].Add(u, s); r.IntN(20) == 0 {
				instances[i].OOM(u, s.Amounts[Memory], at)
			}
		}
	}
	return u
}

// What a use tells makes its advice, whatever is asked for, alone and with others, some of whom are silent.
func TestToldAdvises(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 31))
		parts := []Part{{"east", randomUse(r), r.IntN(3) == 0}, {"west", randomUse(r), r.IntN(3) == 0}}
		o := Options{Percentile: [2]int{LeastPercentile + r.IntN(50), LeastPercentile + r.IntN(50)}, Margin: r.IntN(101),
			PodMinimum: Amounts{r.Int64N(100), r.Int64N(gi)}, Containers: r.IntN(3)}
		var last Advice
		if r.IntN(3) > 0 {
			last = randomUse(r).Advise(o)
		}
		together, silent := Together(parts)
		told := together.Tell()
		want, got := AdviseFleet(parts, o, last), told.AdviseFleet(o, silent, last)
		if diff := cmp.Diff(want, got); diff != "" || !told.Sound() {
			t.Fatalf("seed %d: the fleet's by %+v (-use +told):\n%s", seed, o, diff)
		}
		for _, p := range parts {
			told := p.Use.Tell()
			if diff := cmp.Diff(AdviseCluster(p, o, want, last), told.AdviseCluster(o, p.Silent, got, last)); diff != "" {
				t.Fatalf("seed %d: %s's by %+v (-use +told):\n%s", seed, p.Cluster, o, diff)
			}
		}
	}
}

// What cannot be of a use is told.
func TestWhatIsNotTold(t *testing.T) {
	whole := steady(500, gi, noon, time.Hour).Tell()
	beyond, fewer := whole, whole
	beyond.Reached[Memory][3], fewer.Samples = buckets+1, -1
	if !whole.Sound() || beyond.Sound() || fewer.Sound() {
		t.Errorf("sound: %t, %t, %t", whole.Sound(), beyond.Sound(), fewer.Sound())
	}
}

// What telling costs, of a use with a month of samples.
func BenchmarkTell(b *testing.B) {
	u := randomUse(rand.New(rand.NewPCG(2, 31)))
	for b.Loop() {
		u.Tell()
	}
}
