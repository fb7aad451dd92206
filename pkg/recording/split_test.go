// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// fleetOf is a fleet in which anything happens.
func fleetOf(seed uint64, steps int) *recordingtest.Fleet {
	r := rand.New(rand.NewPCG(seed, 14))
	f := recordingtest.NewFleet(r, r.IntN(6)+1, steps)
	f.Happen = recordingtest.Anything(r)
	return f
}

// 200,000 decisions on bounds, of fleets in which anything happens: what was recorded, written and read is what was told, and is decided as
// it was first.
func TestSplitsAreDecidedAsTheyWere(t *testing.T) {
	const each = 100
	for seed := range fleettest.Rounds(2000, 50) {
		records := fleetOf(seed, each).Run(each)
		again := recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(recordingtest.Stream(records...))))
		if len(again) != each {
			t.Fatalf("seed %d: %d of %d records", seed, len(again), each)
		}
		for i, r := range again {
			if seed < fleettest.Rounds(20, 5) {
				if diff := fleettest.Diff(records[i].Split.Snapshot, r.Split.Snapshot, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, record %d (-told +read):\n%s", seed, i, diff)
				}
			}
			want, got := records[i].Split.Said, assignment.Next(r.Split.Snapshot)
			if diff := fleettest.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, record %d (-first +again):\n%s", seed, i, diff)
			}
		}
	}
}

// A record at rest takes tens of bytes, however many clusters there are.
func TestASplitAtRestIsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	f := recordingtest.NewFleet(r, 50, 200)
	for name := range f.Loads {
		f.Loads[name] = make([]int32, 200)
	}
	records := f.Run(200)
	whole, rest := recordingtest.Stream(records...), recordingtest.Stream(records[:100]...)
	if each := (len(whole) - len(rest)) / 100; each > 30 {
		t.Errorf("%d bytes each", each)
	}
}

// Both kinds of one object are told apart, and a stream of the version before is read.
func TestKindsAndVersions(t *testing.T) {
	splits := fleetOf(1, 9).Run(9)
	old, err := os.ReadFile("testdata/version1.fsr")
	if err != nil {
		t.Fatal(err)
	}
	d := recording.NewDecoder(bytes.NewReader(append(old, recordingtest.Stream(splits...)...)))
	kinds := map[recording.Kind]int{}
	for _, r := range recordingtest.Read(t, d) {
		kinds[r.Object.Kind]++
		if r.Split != nil {
			continue
		}
		if got := replicas.Decide(r.Question).Replicas; r.Question.Scale.Err == nil && got != r.Decided {
			t.Errorf("decided on %d replicas, and it was %d", got, r.Decided)
		}
	}
	fleettest.Same(t, "read", map[recording.Kind]int{recording.Replicas: 6, recording.Splits: 9}, kinds)
	fleettest.Same(t, "skipped", 0, d.Skipped)
}

// Of a kind that a later version has, records are left out and counted; what they bring for others is learned.
func TestAKindOfLater(t *testing.T) {
	records := fleetOf(2, 6).Run(6)
	for _, r := range records[:3] {
		r.Object.Kind = 7
		r.Split = nil // so it is written as one of replicas is
	}
	whole := recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(recordingtest.Stream(records[3:]...))))
	d := recording.NewDecoder(bytes.NewReader(recordingtest.Stream(records...)))
	d.Wanted = func(o recording.Object) bool { return o.Name == "cart" }
	left := recordingtest.Read(t, d)
	fleettest.Same(t, "skipped", 3, d.Skipped)
	if len(left) != len(whole) {
		t.Fatalf("%d records are read, want %d", len(left), len(whole))
	}
	for i := range left {
		fleettest.Same(t, "spec", whole[i].Spec, left[i].Spec)
		fleettest.Same(t, "said", whole[i].Split.Said, left[i].Split.Said)
	}
}

// A split of a spec without one, and of numbers that no cluster has, is left out and counted; what follows is read.
func TestWhatIsNoSplit(t *testing.T) {
	for name, change := range map[string]func(*recording.Record){
		"of central mode":     func(r *recording.Record) { spec := *r.Spec; spec.FederatedHPAAssignment = nil; r.Spec = &spec },
		"a negative maximum":  func(r *recording.Record) { r.Split.Snapshot.Sites[0].Max = -1 },
		"twice the same":      func(r *recording.Record) { r.Split.Snapshot.Sites[1].Name = r.Split.Snapshot.Sites[0].Name },
		"no such presence":    func(r *recording.Record) { r.Split.Snapshot.Sites[0].Presence = 9 },
		"entries of no site":  func(r *recording.Record) { r.Split.Entries = r.Split.Entries[1:] },
		"a negative load":     func(r *recording.Record) { r.Split.Snapshot.Sites[0].Ratios = []int64{1, -1} },
		"room below none":     func(r *recording.Record) { r.Split.Snapshot.Sites[0].Ordered = new(int32(-2)) },
		"a negative fleet":    func(r *recording.Record) { spec := *r.Spec; spec.MaxReplicas = -1; r.Spec = &spec },
		"a floor that is not": func(r *recording.Record) { r.Split.Snapshot.Sites[0].Floor = 2; r.Split.Snapshot.Sites[0].Ceiling = 1 },
	} {
		r := recordingtest.NewFleet(rand.New(rand.NewPCG(1, 1)), 2, 1).Run(1)[0]
		good := *r
		split := *r.Split
		split.Snapshot.Sites = slices.Clone(split.Snapshot.Sites)
		r.Split = &split
		change(r)
		good.Question.Generation++ // so its own spec is written
		d := recording.NewDecoder(bytes.NewReader(recordingtest.Stream(r, &good)))
		if got := recordingtest.Read(t, d); len(got) != 1 || got[0].Question.Generation != 2 || d.Skipped != 1 {
			t.Errorf("%s: %d records are read, and %d left out", name, len(got), d.Skipped)
		}
	}
}
