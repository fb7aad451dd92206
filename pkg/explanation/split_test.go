// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// 4,000 random decisions, or 400 with -short: what is printed re-evaluates to the bounds of each cluster, line by line, each bound takes
// up what its parts came to, and those of all clusters come to what is to be split.
func TestSplitCanBeRedone(t *testing.T) {
	seen := map[string]int{}
	for seed := range fleettest.Rounds(400, 10) {
		w := newSplits(rand.New(rand.NewPCG(seed, 5)), 1+int(seed%10))
		for round := range 10 {
			if round == 6 {
				w.edit(&w.object.Spec)
				w.read(&w.s, w.object)
				w.s.Changed = true
			}
			d, e := w.decide()
			redoSplit(t, d, e)
			for _, c := range e.Split.Clusters {
				for _, term := range append(c.MaxTerms, c.MinTerms...) {
					seen[term.From]++
				}
			}
			seen[e.LimitedBy]++
			if t.Failed() {
				t.Fatalf("seed %d, round %d", seed, round)
			}
		}
	}
	t.Log(seen)
	often := []assignment.Source{
		assignment.Whole, assignment.Before, assignment.Running, assignment.Threshold, assignment.ByWeight,
		assignment.Hosted, assignment.ToFirst, assignment.AtLeastOne, assignment.Kept,
		assignment.Source(assignment.FailedOver), assignment.Source(assignment.Spilled), assignment.Source(assignment.CapacityFollowed),
		LimitAway, LimitThresholds, LimitNothing,
	}
	if !testing.Short() {
		often = append(often, assignment.Equally, sourceWithdrawn, LimitAllSaturated)
	}
	for _, want := range often {
		if seen[string(want)] == 0 {
			t.Errorf("nothing came of %s", want)
		}
	}
}

var header = regexp.MustCompile(`^  (m\d\d): `)

// redoSplit does the arithmetic of a text again.
func redoSplit(t *testing.T, d *Split, e *v1alpha1.DecisionExplanation) {
	t.Helper()
	text := Text(e)
	cluster, got := "", map[string]string{}
	var parts []string // of the bound that comes next
	for _, written := range strings.Split(text, "\n") {
		if found := header.FindStringSubmatch(written); found != nil {
			cluster = found[1]
			continue
		}
		is := line.FindStringSubmatch(written)
		if is == nil {
			if strings.HasPrefix(written, "    ") {
				t.Fatalf("%q is no calculation", written)
			}
			continue
		}
		value, _, err := evaluate(is[2])
		if err != nil || value.String() != is[4] {
			t.Fatalf("%s\ncomes to %s, %v, in\n%s", written, value, err, text)
		}
		switch name := strings.TrimSpace(is[1]); name {
		case "share", "fill":
			parts = append(parts, is[4])
		case "max", "min":
			for _, part := range parts {
				if !takesUp(is[2], part) {
					t.Fatalf("%s\ndoes not take up %s in\n%s", written, part, text)
				}
			}
			got[cluster+" "+name], parts = is[4], nil
		default:
			got[name] = is[4]
		}
	}
	named := map[string]bool{}
	for _, c := range e.Split.Clusters {
		named[c.Name] = true
	}
	least, most := int64(0), int64(0)
	want := map[string]string{}
	for _, s := range d.Snapshot.Sites {
		next := d.Step.Sites[s.Name]
		if next.Max > 0 && named[s.Name] {
			want[s.Name+" max"] = fmt.Sprint(next.Max)
		}
		if next.Min > 0 && named[s.Name] {
			want[s.Name+" min"] = fmt.Sprint(next.Min)
		}
		if s.Presence == assignment.Present {
			least, most = least+int64(next.Min), most+int64(next.Max)
		}
	}
	want["all min"], want["all max"] = fmt.Sprint(least), fmt.Sprint(most)
	if d.Snapshot.Policy != assignment.Duplicated {
		want["budget"], want["unassigned"] = fmt.Sprint(e.Split.Budget), fmt.Sprint(max(0, e.Split.Budget-most))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-decided +printed):\n%s\nin\n%s", diff, text)
	}
}

// Whatever is split among however many clusters, its explanation has at most 8 KiB, and its sums are those of all.
func FuzzSplitBound(f *testing.F) {
	for seed := range fleettest.Rounds(40, 4) {
		f.Add(seed, 60)
	}
	f.Fuzz(func(t *testing.T, seed uint64, clusters int) {
		w := newSplits(rand.New(rand.NewPCG(seed, 6)), 1+max(0, clusters%100))
		for i := range w.s.Sites {
			w.s.Sites[i].Name = strings.Repeat("m", 60) + fmt.Sprintf("%03d", i)
		}
		w.read(&w.s, w.object)
		for range 5 {
			d, _ := w.decide()
			d.Why = func(string) string { return strings.Repeat("<", 1000) }
			e := OfSplit(d)
			encoded, err := json.Marshal(e)
			if err != nil || len(encoded) > mostBytes {
				t.Fatalf("%d bytes, %v", len(encoded), err)
			}
			all, want := int64(0), int64(0) // of those that can be told
			for _, c := range e.Split.Clusters {
				if c.Part == "" {
					all += int64(c.Max)
				}
			}
			if o := e.Split.Others; o != nil {
				all += o.Max
			}
			for _, s := range d.Snapshot.Sites {
				if s.Presence == assignment.Present {
					want += int64(d.Step.Sites[s.Name].Max)
				}
			}
			if all != want {
				t.Errorf("the clusters come to %d, want %d", all, want)
			}
		}
	})
}

// What is split again by another spec is what would be decided for it.
func FuzzAgainSplit(f *testing.F) {
	for seed := range fleettest.Rounds(2000, 10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := newSplits(rand.New(rand.NewPCG(seed, 7)), 1+int(seed%8))
		for range 1 + seed%4 {
			w.decide()
		}
		before := w.object.Spec.DeepCopy()
		changed := w.object.DeepCopy()
		w.edit(&changed.Spec)
		again, caveats, err := AgainSplit(changed, before)
		if err != nil {
			if !strings.Contains(err.Error(), "would take part then") {
				t.Fatal(err)
			}
			return
		}
		if len(caveats) > 0 {
			return
		}
		s := w.s
		s.Changed = true
		w.read(&s, changed)
		preferences := changed.Spec.FederatedHPAAssignment.ClusterAutoscalingPreference
		for i := range s.Sites {
			selected := assignment.Selecting(preferences, assignment.ClusterFacts{Name: s.Sites[i].Name})
			if p := s.Policy; len(preferences) > 0 && len(selected) == 0 && (p == assignment.StaticWeighted || p == assignment.Prioritized) {
				s.Sites[i].Presence = assignment.Leaving
			}
		}
		step := assignment.Next(s)
		for _, c := range again.Split.Clusters {
			if next := step.Sites[c.Name]; next.Min != c.Min || next.Max != c.Max {
				t.Errorf("%s gets %d..%d, and again %d..%d\n%s\n%s", c.Name, next.Min, next.Max, c.Min, c.Max, Text(w.object.Status.Explanation),
					Text(again))
			}
		}
	})
}

// What is not told is said.
func TestAgainSplitSaysWhatIsNotKnown(t *testing.T) {
	w := newSplits(rand.New(rand.NewPCG(1, 1)), 3)
	w.decide()
	many := newSplits(rand.New(rand.NewPCG(1, 1)), 9)
	many.decide()
	tests := map[string]struct {
		of     *splits
		change func(*v1alpha1.FederatedHPA)
		want   string
	}{
		"no explanation": {w, func(o *v1alpha1.FederatedHPA) { o.Status.Explanation = nil },
			"status.explanation says nothing of bounds"},
		"nine clusters": {many, func(*v1alpha1.FederatedHPA) {}, "9 clusters take part, and the explanation names 8 of them"},
		"central mode": {w, func(o *v1alpha1.FederatedHPA) { o.Spec.FederatedHPAAssignment = nil },
			"what central mode would decide is not known"},
		"another workload": {w, func(o *v1alpha1.FederatedHPA) { o.Spec.ScaleTargetRef.Name = "basket" },
			"spec.scaleTargetRef: how bounds would be split by another one is not known"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := tc.of.object.DeepCopy()
			before := object.Spec.DeepCopy()
			tc.change(object)
			if _, _, err := AgainSplit(object, before); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
