// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// A silent cluster that holds on to more than a new maximum leaves the others what they run of their shares.
func TestNextLowersTheMaximumWhileOneIsSilent(t *testing.T) {
	tests := map[string]struct {
		s      Snapshot
		want   string
		beyond int32
	}{
		"the silent part is all":           {snapshot(StaticWeighted, 1, 6, site("a", 1, 6, 3), site("b", 1, 6, 3, silent(15))), "BoundsSplit: a 1/3, b 1/6 Unreachable", 3},
		"it is more":                       {snapshot(StaticWeighted, 1, 4, site("a", 1, 6, 1), site("b", 1, 6, 3, silent(15))), "BoundsSplit: a 1/2, b 1/6 Unreachable", 4},
		"it is less than a share":          {snapshot(StaticWeighted, 1, 8, site("a", 1, 6, 3), site("b", 1, 2, 1, silent(15))), "BoundsSplit: a 1/6, b 1/2 Unreachable", 0},
		"the share is one":                 {snapshot(StaticWeighted, 1, 2, site("a", 1, 6, 3), site("b", 1, 6, 3, silent(15))), "BoundsSplit: a 1/1, b 1/6 Unreachable", 5},
		"there is no share":                {snapshot(Prioritized, 1, 2, site("a", 1, 3, 3, priority(1)), site("b", 1, 6, 3, priority(2), silent(15))), "BoundsSplit: a 0/0 Excluded, b 1/6 Unreachable", 4},
		"what is left goes beyond a floor": {snapshot(StaticWeighted, 1, 12, site("a", 1, 2, 2), site("b", 1, 6, 2), site("c", 1, 6, 3, silent(15))), "BoundsSplit: a 1/2, b 1/4, c 1/6 Unreachable", 0},
		"a new cluster has its one":        {snapshot(StaticWeighted, 1, 6, site("a", 0, 0, 0), site("b", 1, 9, 3, silent(15))), "BoundsSplit: a 1/1 run 1, b 1/9 Unreachable", 4},
		"a new cluster may stay at zero":   {snapshot(StaticWeighted, 1, 6, site("a", 0, 0, 0), site("b", 1, 9, 3, silent(15))).change(toZero), "BoundsSplit: a 1/1 ScaledToZero, b 1/9 Unreachable", 4},
		"all run what the maximum allows": {snapshot(Prioritized, 9, 10, site("a", 3, 3, 3, priority(1)), site("b", 6, 6, 6, priority(3)), site("c", 1, 4, 1, priority(2), silent(15))),
			"BoundsSplit: a 2/3, b 6/6 hold, c 1/4 Unreachable", 3},
		"after the grace all is theirs": {snapshot(StaticWeighted, 1, 6, site("a", 1, 6, 3), site("b", 1, 6, 3, silent(300))), "BoundsSplit: a 1/6, b 1/6 Unreachable", 6},
		"one that refuses is like a silent one": {snapshot(StaticWeighted, 1, 6, site("a", 1, 6, 3), site("b", 1, 6, 3, refusing, stands(6))),
			"BoundsSplit: a 1/3, b 1/6", 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Next(tc.s.change(changed))
			if told(got) != tc.want {
				t.Errorf("got  %s\nwant %s", told(got), tc.want)
			}
			if beyond := or(got.Memory.UnreachableMax, 0); beyond != tc.beyond {
				t.Errorf("%d beyond the maximum, not %d", beyond, tc.beyond)
			}
		})
	}
}

// A cluster that is back costs the others what they have too much, while another one is silent: not their autoscalers. What was
// added to their minima goes as well.
func TestNextTakesBackWhatIsTooMuch(t *testing.T) {
	tests := map[string]struct {
		s    Snapshot
		want string
	}{
		"minima that stood in": {snapshot(Prioritized, 12, 43, site("a", 12, 43, 12, priority(2)), site("b", 12, 23, 12, priority(1), back)), "BoundsTakenOver: a 12/31 hold, b 1/12"},
		"no more than that":    {snapshot(Prioritized, 12, 43, site("a", 11, 43, 12, priority(2)), site("b", 1, 23, 12, priority(1), back)), "BoundsTakenOver: a 11/31 hold, b 1/12"},
		"floors":               {snapshot(DynamicWeighted, 1, 6, site("a", 1, 6, 2), site("b", 1, 6, 2, back), site("c", 1, 6, 2, silent(7))), "BoundsTakenOver: a 1/2, b 1/2, c 1/6 Unreachable"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := told(Next(tc.s)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// Whatever the silent ones hold: each that is in sight has at least what it runs of its share, and at least one of it; the
// excess is at most the silent part, and said.
func TestFloorsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 14))
	policies := []Policy{StaticWeighted, DynamicWeighted, Aggregated, Prioritized}
	for range 20_000 {
		s, all := anyEdit(r, policies[r.IntN(len(policies))])
		step := Next(s)
		shares, visible, silent := Assign(all).Bounds, int64(0), int64(0)
		for _, one := range s.Sites {
			most := int64(step.Sites[one.Name].Max)
			if one.Presence == Silent {
				silent += most
				continue
			}
			visible += most
			if least := step.Sites[one.Name].Min; int64(least) > most || (least == 0) != (most == 0) {
				t.Fatalf("%s gets %d to %d: %s of %s", one.Name, least, most, told(step), describe(s))
			}
			share := shares[one.Name].Max
			if least := min(share, max(1, min(one.Current, share))); most < int64(least) {
				t.Fatalf("%s runs %d, its share is %d, and it gets %d: %s of %s", one.Name, one.Current, share, most, told(step), describe(s))
			}
		}
		excess := max(0, visible+silent-int64(s.Max))
		if excess > silent || excess != int64(or(step.Memory.UnreachableMax, 0)) {
			t.Fatalf("%d beyond the maximum, of %d silent, said: %v: %s of %s", excess, silent, step.Memory.UnreachableMax, told(step), describe(s))
		}
	}
}

// anyEdit is a fleet with new bounds, some of which is silent, and how they would be split if all were in sight.
func anyEdit(r *rand.Rand, policy Policy) (Snapshot, AssignQuestion) {
	most := 1 + r.Int32N(30)
	least := r.Int32N(most + 1)
	s := snapshot(policy, least, most).change(changed)
	if r.IntN(3) == 0 {
		s.Order = v1alpha1.DistributionMinFirst
	}
	q := AssignQuestion{Policy: policy, Min: least, Max: most, Order: s.Order, Keep: policy != StaticWeighted}
	for i := range 2 + r.IntN(4) {
		upper := r.Int32N(20)
		one := site(fmt.Sprintf("m%d", i), min(1, upper), upper, r.Int32N(upper+1), weight(r.Int64N(4)), priority(r.Int32N(3)))
		if r.IntN(3) == 0 {
			silent(r.IntN(200))(&one)
		} else if r.IntN(2) == 0 {
			hosts(r.Int32N(9))(&one)
		}
		if r.IntN(4) == 0 {
			one.Floor = r.Int32N(3)
			ceiling(max(one.Floor, 1+r.Int32N(9)))(&one)
		}
		s.Sites = append(s.Sites, one)
		q.Clusters = append(q.Clusters, Cluster{Name: one.Name, Preference: one.Preference, Current: one.Current, Capacity: capacityOf(one)})
	}
	return s, q
}

func capacityOf(s Site) *int32 {
	if s.Additional == nil {
		return nil
	}
	return new(s.Current + *s.Additional)
}

func describe(s Snapshot) string {
	text := fmt.Sprintf("%s %s %d-%d:", s.Policy, s.Order, s.Min, s.Max)
	for _, one := range s.Sites {
		text += fmt.Sprintf(" %s %d-%d runs %d (presence %d, since %v, floor %d, ceiling %d)", one.Name, one.Min, one.Max, one.Current,
			one.Presence, s.Now.Sub(one.Since)/time.Second, one.Floor, one.Ceiling)
	}
	return text
}
