// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// Where priorities are strict, a cluster shrinks by the load alone only once those below it are at their minima, at all
// times; and they do get there (see county.checkOrder, and settles).
func TestSimulationOfStrictPriorities(t *testing.T) {
	t.Parallel()
	kept, drained := 0, 0
	for seed := range fleettest.Rounds(120, 5) {
		c := story(t, seed, func(c *county) {
			r := rand.New(rand.NewPCG(seed, 9))
			c.s.Policy, c.s.ScaleDownOrder = Prioritized, v1alpha1.ScaleDownStrict
			for i, w := range c.members {
				w.Priority = int32(i) * r.Int32N(2)
			}
		})
		kept, drained = kept+c.kept, drained+c.actions[Drained]
	}
	if uint64(kept) < fleettest.Rounds(120, 5) || uint64(drained) < fleettest.Rounds(30, 5) {
		t.Errorf("clusters were held back %d times, and drained %d times: too few to say anything", kept, drained)
	}
}

// recalled is the snapshot as one who knew nothing could make it: what the last step said is taken from the status, as
// it is stored, and all else from the clusters.
func recalled(t *testing.T, s Snapshot) Snapshot {
	t.Helper()
	status := v1alpha1.FederatedHPAStatus{Assignment: &s.Memory}
	for _, site := range s.Sites {
		c := v1alpha1.ClusterStatus{Name: site.Name, State: site.State, AssignedMin: &site.Min, AssignedMax: &site.Max}
		if !site.Since.IsZero() {
			c.Since = new(metav1.NewTime(site.Since))
		}
		if site.SchedulableSince != nil {
			c.SchedulableSince = new(metav1.NewTime(*site.SchedulableSince))
		}
		status.Clusters = append(status.Clusters, c)
	}
	stored := v1alpha1.FederatedHPAStatus{}
	if text, err := json.Marshal(status); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	again := s
	again.Memory, again.Sites = *stored.Assignment, nil
	for i, site := range s.Sites {
		c := stored.Clusters[i]
		fresh := Site{Name: site.Name, Preference: site.Preference, Presence: site.Presence, State: c.State, Min: *c.AssignedMin,
			Max:     *c.AssignedMax,
			Current: site.Current, Unschedulable: site.Unschedulable, UnschedulableSince: site.UnschedulableSince, Additional: site.Additional,
			Autoscaler: site.Autoscaler}
		if c.Since != nil {
			fresh.Since = c.Since.Time
		}
		if c.SchedulableSince != nil {
			fresh.SchedulableSince = &c.SchedulableSince.Time
		}
		again.Sites = append(again.Sites, fresh)
	}
	return again
}

// rest returns how a fleet is in the end.
func (c *county) rest() (lines []string) {
	for _, w := range c.members {
		lines = append(lines, fmt.Sprintf("%s %d/%d runs %d, %s", w.Name, w.Min, w.Max, w.Current, w.State))
	}
	return lines
}

// A hub that forgets everything at every reconcile, but what the status keeps, does what one does that never forgets. A hub
// that begins now and then does not know at first whether autoscalers are steady: that costs it a reconcile, and changes
// neither a fleet at rest nor what a fleet comes to.
func TestSimulationOfRestarts(t *testing.T) {
	t.Parallel()
	late := func(c *county) { c.now = c.now.Add(700 * time.Millisecond) } // the status keeps whole seconds
	for seed := range fleettest.Rounds(25, 5) {
		want := story(t, seed, late)
		forgetful := story(t, seed, late, func(c *county) {
			c.recall = func(s Snapshot) Snapshot { return recalled(t, s) }
		})
		if diff := fleettest.Diff(append(want.log, want.rest()...), append(forgetful.log, forgetful.rest()...)); diff != "" {
			t.Fatalf("seed %d (-with memory +without):\n%s", seed, diff)
		}
		r := rand.New(rand.NewPCG(seed, 10))
		restarted := story(t, seed, late, func(c *county) {
			c.recall = func(s Snapshot) Snapshot {
				if r.IntN(10) > 0 {
					return s
				}
				s = recalled(t, s)
				for i := range s.Sites {
					s.Sites[i].Steady = false
				}
				return s
			}
		})
		if diff := fleettest.Diff(want.rest(), restarted.rest()); diff != "" {
			t.Errorf("seed %d (-without restarts +with):\n%s", seed, diff)
		}
	}
}

// However long the load and what clusters can host stay as they are, nothing moves back and forth: see settles for the bound.
func TestSimulationOfConstantLoad(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range fleettest.Rounds(100, 5) {
		c := newCounty(t, seed+9000)
		c.settles(200)
		r := rand.New(rand.NewPCG(seed, 11))
		c.load = c.anyLoad(r)
		for _, w := range c.members {
			w.room = r.Int32N(25)
		}
		before := c.writes
		c.settles(1000)
		moved += c.writes - before
	}
	if uint64(moved) < fleettest.Rounds(100, 5) {
		t.Errorf("only %d writes: too few to say anything", moved)
	}
}
