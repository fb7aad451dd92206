// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// 50,000 decisions on sizes, of workloads to which anything happens: what was recorded, written and read is what was told, and is decided
// as it was first, of what was used itself.
func TestSizesRecordsAreDecidedAsTheyWere(t *testing.T) {
	const each = 50
	for seed := range fleettest.Rounds(1000, 50) {
		r := rand.New(rand.NewPCG(seed, 21))
		records := recordingtest.RandomSized(r).Run(r, each)
		again := recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(recordingtest.Stream(records...))))
		if len(again) != each {
			t.Fatalf("seed %d: %d of %d records", seed, len(again), each)
		}
		for i, r := range again {
			if seed < 20 && !equality.Semantic.DeepEqual(records[i].Sizes, r.Sizes) { // to ask what differs takes much longer
				t.Fatalf("seed %d, record %d (-told +read):\n%s", seed, i, cmp.Diff(records[i].Sizes, r.Sizes, cmpopts.EquateEmpty()))
			}
			d, err := recommendation.Decide(&r.Sizes.Question)
			if err != nil {
				t.Fatal(err)
			}
			if got := recording.SaidOf(&d); !got.Same(&records[i].Sizes.Said) {
				t.Fatalf("seed %d, record %d (-first +again):\n%s", seed, i, cmp.Diff(records[i].Sizes.Said, got))
			}
		}
	}
}

// What cannot be decided on is left out and counted; what follows is read.
func TestWhatAreNoSizes(t *testing.T) {
	for name, change := range map[string]func(*recording.Sizes){
		"of a container that is not there": func(s *recording.Sizes) { s.Question.Known[0].Container = "other" },
		"a bucket that is none":            func(s *recording.Sizes) { s.Question.Known[0].Fleet.Reached[0][0] = 200 },
		"fewer samples than none":          func(s *recording.Sizes) { s.Question.Known[0].Fleet.Samples = -1 },
		"used in no cluster":               func(s *recording.Sizes) { s.Used = nil },
		"used by no container":             func(s *recording.Sizes) { s.Used[0] = nil },
		"said of no container":             func(s *recording.Sizes) { s.Said.Fleet = nil },
		"said in no cluster":               func(s *recording.Sizes) { s.Said.In = nil },
		"more than a Pod has":              func(s *recording.Sizes) { s.Question.PodMinimum[0] = recommendation.Most + 1 },
		"less than none":                   func(s *recording.Sizes) { s.Question.Clusters[0].Rooms[0].Pod.MaxRatio[1] = -2 },
		"more headroom than a node":        func(s *recording.Sizes) { s.Question.Clusters[0].Rooms[0].Headroom = 101 },
		"a percentile that is none": func(s *recording.Sizes) {
			spec := s.Question.Spec.DeepCopy()
			recordingtest.RandomSizes(rand.New(rand.NewPCG(1, 1)), spec)
			spec.Constraints.Container[0].TargetPercentile.CPU = new(int32(100))
			s.Question.Spec = spec
		},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		bad, good := recordingtest.NewSized(2, 1).Run(r, 1)[0], recordingtest.NewSized(2, 1).Run(r, 1)[0]
		change(bad.Sizes)
		good.Question.Generation++ // so its own spec is written
		d := recording.NewDecoder(bytes.NewReader(recordingtest.Stream(bad, good)))
		if got := recordingtest.Read(t, d); len(got) != 1 || got[0].Question.Generation != 2 || d.Skipped != 1 {
			t.Errorf("%s: %d records are read, and %d left out", name, len(got), d.Skipped)
		}
	}
}

// A template that cannot be read again is left out by who writes.
func TestTooManyContainers(t *testing.T) {
	r := recordingtest.NewSized(1, 1).Run(rand.New(rand.NewPCG(1, 1)), 1)[0]
	r.Sizes.Question.Template.Initial = make([]recommendation.Container, 1001)
	if _, err := recording.NewEncoder().Append(nil, r); !errors.Is(err, recording.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// After a day a decision takes some tens of bytes for each cluster, since little is another than a minute before.
func TestSizesAreSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := recordingtest.NewSized(3, 1)
	s.Run(r, 24*60)
	records := s.Run(r, 200)
	whole, rest := recordingtest.Stream(records...), recordingtest.Stream(records[:100]...)
	if each := (len(whole) - len(rest)) / 100; each > 100 {
		t.Errorf("%d bytes each", each)
	}
}

// BenchmarkAppendSizes is what it takes to write one decision on sizes down, and how many bytes, after a day of use.
func BenchmarkAppendSizes(b *testing.B) {
	for _, size := range []struct {
		clusters, containers int
		scope                v1alpha1.VerticalScope
	}{{1, 1, v1alpha1.ScopeFleet}, {3, 2, v1alpha1.ScopeFleet}, {10, 2, v1alpha1.ScopeFleet}, {10, 2, v1alpha1.ScopePerCluster}} {
		b.Run(fmt.Sprintf("clusters=%d/containers=%d/scope=%s", size.clusters, size.containers, size.scope), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			s := recordingtest.NewSized(size.clusters, size.containers)
			s.Spec.Scope = size.scope
			s.Run(r, 24*60)
			records := s.Run(r, 200)
			encoder := recording.NewEncoder()
			var stream []byte
			total, n := 0, 0
			for b.Loop() {
				var err error
				if stream, err = encoder.Append(stream[:0], records[n%len(records)]); err != nil {
					b.Fatal(err)
				}
				if n++; n > 1 { // the first has the spec, and all texts
					total += len(stream)
				}
			}
			b.ReportMetric(float64(total)/float64(max(1, n-1)), "bytes/record")
		})
	}
}
