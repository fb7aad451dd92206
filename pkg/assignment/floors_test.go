// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"k8s.io/utils/ptr"
)

// Whatever the silent ones hold: each that is in sight has at least what it runs of its share, and at least one of it; the
// excess is at most the silent part, and said.
func TestFloorsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 14))
	policies := []Policy{StaticWeighted, DynamicWeighted, Aggregated, Prioritized}
	for range fleettest.Rounds(20_000, 10) {
		s, all := anyEdit(r, policies[r.IntN(len(policies))])
		s.ScalingToZero = s.Min == 0
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
			scale := ptr.Deref(step.Sites[one.Name].Scale, 0)
			begins := one.Max == 0 && one.Current == 0 && most > 0
			if begins && (s.ScalingToZero != (scale == 0) || int64(scale) > most) {
				t.Fatalf("%s begins with %d: %s of %s", one.Name, scale, told(step), describe(s))
			}
			share := shares[one.Name].Max
			if least := min(share, max(1, min(one.Current, share))); most < int64(least) {
				t.Fatalf("%s runs %d, its share is %d, and it gets %d: %s of %s", one.Name, one.Current, share, most, told(step), describe(s))
			}
		}
		excess := max(0, visible+silent-int64(s.Max))
		if excess > silent || excess != int64(ptr.Deref(step.Memory.UnreachableMax, 0)) {
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
