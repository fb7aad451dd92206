// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

// answered is what a record answers to a question for what has come since, which is told in whole seconds.
func answered(records []*recording.Record, since time.Time) []byte {
	since = since.Truncate(time.Second)
	older := func(r *recording.Record) bool { return r.Question.Now.Before(since) }
	return recordingtest.Stream(slices.DeleteFunc(slices.Clone(records), older)...)
}

func takeAll(t *testing.T, to *tail, stream []byte) {
	t.Helper()
	if err := to.take(bytes.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
}

func kept(t *testing.T, to *tail) []*recording.Record {
	t.Helper()
	_, segments := to.past()
	all, err := io.ReadAll(reading(segments))
	if err != nil {
		t.Fatal(err)
	}
	return recordsOf(t, all)
}

func timesOf(records []*recording.Record) (all []int64) {
	for _, r := range records {
		all = append(all, r.Question.Now.UnixMilli())
	}
	return all
}

// However often a growing record is asked, and in whichever mode, what is known is what it says at once; and only what is new is read.
func TestTailFollows(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		stream := recordingtest.Hour(noon.Add(time.Duration(r.IntN(1e9))), "cart")
		if seed%2 == 1 {
			stream = recordingtest.SplitHour(noon.Add(time.Duration(r.IntN(1e9))), 2)
		}
		records := recordsOf(t, stream)
		whole, followed := new(newTail(ownRoom)), new(newTail(ownRoom))
		takeAll(t, whole, stream)
		for n := 0; n < len(records); {
			before := n
			n = min(len(records), n+r.IntN(60))
			answer := answered(records[:n], followed.since())
			if got := len(recordsOf(t, answer)); before > 0 && got > n-before+1 {
				t.Fatalf("seed %d: %d decisions are read where %d are new", seed, got, n-before)
			}
			takeAll(t, followed, answer)
		}
		want, _ := whole.past()
		got, _ := followed.past()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(recorded{})); diff != "" {
			t.Fatalf("seed %d (-at once +followed):\n%s", seed, diff)
		}
		if diff := cmp.Diff(timesOf(records), timesOf(kept(t, followed))); diff != "" || got.Restarted != 0 {
			t.Fatalf("seed %d: restarted %d (-recorded +kept):\n%s", seed, got.Restarted, diff)
		}
	}
}

// A record that does not have the last decision was restarted: what is known stays, and what is between is marked. One that is merely empty
// says nothing yet.
func TestTailOfARestart(t *testing.T) {
	first := recordsOf(t, recordingtest.Hour(noon, "cart"))
	later := recordsOf(t, recordingtest.Hour(noon.Add(time.Hour+2*time.Minute), "cart"))
	other := recordsOf(t, recordingtest.Hour(noon.Add(time.Hour), "cart"))
	for _, r := range other {
		r.Object.UID = "2" // which was made again
	}
	ended := noon.Add(time.Hour).UnixMilli()
	at := func(r *recording.Record) int64 { return r.Question.Now.UnixMilli() }
	for name, tc := range map[string]struct {
		second    []*recording.Record
		restarted int64
		gaps      []span
	}{
		"it continues":    {slices.Concat(first, later), 0, nil},
		"later":           {later, at(later[0]), []span{{ended, at(later[0]), afterRestart}}},
		"at once":         {other, at(other[1]), []span{{ended, at(other[1]), afterRestart}}},
		"nothing is new":  {first, 0, nil},
		"nothing is left": {nil, 0, nil},
	} {
		to := new(newTail(ownRoom))
		takeAll(t, to, recordingtest.Stream(first...))
		takeAll(t, to, answered(nil, to.since())) // there may be nothing in between
		takeAll(t, to, answered(tc.second, to.since()))
		takeAll(t, to, answered(tc.second, to.since()))
		got, _ := to.past()
		if got.Restarted != tc.restarted || got.From != noon.UnixMilli() {
			t.Errorf("%s: restarted %d, want %d; from %d", name, got.Restarted, tc.restarted, got.From)
		}
		fleettest.Same(t, name, tc.gaps, got.gaps)
	}
}

// What is kept is bounded, and is the latest; what was read of it before stays as it was.
func TestTailIsBounded(t *testing.T) {
	const steps, most = 300, 16 << 10
	r := rand.New(rand.NewPCG(1, 9))
	f := recordingtest.NewFleet(r, 10, steps)
	f.Happen = recordingtest.Anything(r)
	records := f.Run(steps)
	to := new(newTail(room{bytes: most, values: mostValues}))
	takeAll(t, to, recordingtest.Stream(records[:5]...))
	_, before := to.past()
	early := recordsOf(t, slices.Concat(before...))
	takeAll(t, to, recordingtest.Stream(records[4:]...))
	all := kept(t, to)
	size := 0
	for _, one := range to.segments {
		size += len(one)
	}
	if len(all) == len(records) || size > most+2*most/parts || size < most/2 {
		t.Errorf("%d of %d decisions are kept, of %d bytes", len(all), len(records), size)
	}
	fleettest.Same(t, "", timesOf(records[len(records)-len(all):]), timesOf(all))
	if diff := cmp.Diff(timesOf(early), timesOf(recordsOf(t, slices.Concat(before...)))); diff != "" || len(early) != 5 {
		t.Errorf("%d (-before +after):\n%s", len(early), diff)
	}
}

// What came before an answer broke off counts, and the rest is read later.
func TestTailOfAnAnswerThatBreaksOff(t *testing.T) {
	records := recordsOf(t, recordingtest.Hour(noon, "cart"))
	stream := recordingtest.Stream(records...)
	to := new(newTail(ownRoom))
	if err := to.take(bytes.NewReader(stream[:len(stream)/2])); err == nil {
		t.Error("half an answer is taken for whole")
	}
	if n := to.Decisions; n < 10 || n > 230 {
		t.Errorf("%d decisions are known", n)
	}
	takeAll(t, to, answered(records, to.since()))
	if diff := cmp.Diff(timesOf(records), timesOf(kept(t, to))); diff != "" || to.Restarted != 0 {
		t.Errorf("restarted %d (-want +got):\n%s", to.Restarted, diff)
	}
}
