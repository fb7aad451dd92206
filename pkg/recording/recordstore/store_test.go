// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/replicas/replicastest"
)

// record is of an object at some time.
func record(name string, at time.Time) *recording.Record {
	q := replicastest.Question(rand.New(rand.NewPCG(7, 7)))
	q.Now = at
	d := replicas.Decide(q)
	object := recording.Object{Namespace: "shop", Name: name, UID: "1"}
	return recording.New(object, &v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: q.Spec}, &q, &d)
}

func newStore(dir string, most int64) *Store {
	return New(Options{Dir: dir, Most: most, Age: 7 * 24 * time.Hour, Clock: clock.RealClock{}, Metrics: NewMetrics(prometheus.NewRegistry())})
}

// running runs the store until the test, or stop, ends it.
func running(t *testing.T, s *Store) func() {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// write has what was recorded written.
func write() {
	time.Sleep(period)
	synctest.Wait()
}

// times are those of the records of an object.
func times(t *testing.T, s *Store, name string) (all []time.Time) {
	t.Helper()
	var out bytes.Buffer
	if err := s.Copy(t.Context(), &out, func(o recording.Object) bool { return o.Name == name }, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return decoded(t, out.Bytes())
}

func decoded(t *testing.T, stream []byte) (all []time.Time) {
	t.Helper()
	for _, r := range recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(stream))) {
		all = append(all, r.Question.Now)
	}
	return all
}

// each runs a test in memory and in a directory.
func each(t *testing.T, test func(t *testing.T, dir string)) {
	for _, in := range []string{"memory", "files"} {
		t.Run(in, func(t *testing.T) {
			dir := ""
			if in == "files" {
				dir = filepath.Join(t.TempDir(), "records")
			}
			synctest.Test(t, func(t *testing.T) { test(t, dir) })
		})
	}
}

func TestWhatIsRecordedCanBeRead(t *testing.T) {
	each(t, func(t *testing.T, dir string) {
		s := newStore(dir, 1<<20)
		defer running(t, s)()
		var want []time.Time
		for i := range 50 {
			at := time.Now().UTC().Add(time.Duration(i) * 15 * time.Second)
			s.Record(record("cart", at))
			s.Record(record("other", at))
			want = append(want, at)
			write()
		}
		fleettest.Same(t, "", want, times(t, s, "cart"))
		if got := testutil.ToFloat64(s.Metrics.records); got != 100 {
			t.Errorf("%v records were counted", got)
		}
	})
}

// Whatever is recorded, no more is kept than the bound and a segment, and it is the latest.
func TestTheOldestGoes(t *testing.T) {
	few := func(int) int { return 40 }
	t.Run("few objects", func(t *testing.T) { testTheOldestGoes(t, 4*leastSegment, few) })
	t.Run("many at the end", func(t *testing.T) {
		testTheOldestGoes(t, 16*leastSegment, func(n int) int { // which fill a segment by being recorded once
			if n < 10_000 {
				return few(n)
			}
			return 4000
		})
	})
}

func testTheOldestGoes(t *testing.T, most int64, objects func(n int) int) {
	each(t, func(t *testing.T, dir string) {
		s := newStore(dir, most)
		defer running(t, s)()
		start := time.Now().UTC()
		n := 0
		one := record("", start)
		for ; n < 20_000; n++ {
			r := *one
			r.Object.Name, r.Question.Now = fmt.Sprint("cart-", n%objects(n)), start.Add(time.Duration(n)*time.Hour)
			if s.Record(&r); n%50 == 49 {
				write()
				if got := int64(testutil.ToFloat64(s.Metrics.bytes)); got > most+leastSegment/2 {
					t.Fatalf("%d bytes are kept; the bound is %d", got, most)
				}
			}
		}
		size := int64(0)
		openers, err := s.kept.readers(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, open := range openers {
			in, err := open()
			if err != nil {
				t.Fatal(err)
			}
			part, err := io.Copy(io.Discard, in)
			size += part
			if in.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if size > most+4096 || size < most/2 {
			t.Errorf("%d bytes are kept; the bound is %d", size, most)
		}
		if got := int64(testutil.ToFloat64(s.Metrics.bytes)); got != size {
			t.Errorf("%d bytes are told, and %d kept", got, size)
		}
		got := times(t, s, fmt.Sprint("cart-", (n-1)%objects(n-1)))
		if last := start.Add(time.Duration(n-1) * time.Hour); len(got) == 0 || !got[len(got)-1].Equal(last) {
			t.Errorf("the last record is missing: %v", got)
		}
	})
}

// Of so many objects that to say all of each fills a segment's share, a segment says mostly what differs, and the bound holds.
func TestSegmentsOfManyObjects(t *testing.T) {
	each(t, func(t *testing.T, dir string) {
		const most, objects, rounds = 16 * leastSegment, 400, 25
		s := newStore(dir, most)
		defer running(t, s)()
		start, one := time.Now().UTC(), record("", time.Now())
		first := 0.0
		for round := range rounds {
			for i := range objects {
				r := *one
				r.Object.Name, r.Question.Now = fmt.Sprint("cart-", i), start.Add(time.Duration(round)*15*time.Second)
				if s.Record(&r); i%200 == 199 {
					write()
				}
			}
			kept := testutil.ToFloat64(s.Metrics.bytes)
			if round == 0 {
				first = kept
			}
			if kept > most+leastSegment/4 {
				t.Fatalf("%v bytes are kept; the bound is %d", kept, most)
			}
		}
		if first < leastSegment {
			t.Fatalf("the first records are %v bytes, less than a share of %d: nothing is tried", first, leastSegment)
		}
		if got, all := testutil.ToFloat64(s.Metrics.bytes), rounds*first; got > all/2 {
			t.Errorf("%v bytes are kept of %d rounds, of which the first took %v", got, rounds, first)
		}
		if got := len(times(t, s, "cart-7")); got != rounds {
			t.Errorf("%d decisions are kept, want all %d", got, rounds)
		}
	})
}

// sizes are media that keep the sizes of segments, and nothing else.
type sizes struct {
	media
	of []int
}

func (m *sizes) begin(time.Time) error                 { m.of = append(m.of, 0); return nil }
func (m *sizes) prune(int64, time.Time) (int64, error) { return 0, nil }
func (m *sizes) append(b []byte) error                 { m.of[len(m.of)-1] += len(b); return nil }

// Where hardly anything is written twice, a segment ends before a reader would have to keep more of it than it does: long before its share.
func TestSegmentsThatCanBeRead(t *testing.T) {
	const mib = 1 << 20
	s, kept := newStore("", 2*recording.Most), &sizes{}
	s.kept = kept
	one, long := record("", time.Now()), strings.Repeat("x", mib)
	const each = recording.Most / 4 / mib
	for i := range each * 3 / 2 {
		r := *one
		r.Object.Name, r.Question.Scale.Selector = fmt.Sprint("cart-", i), fmt.Sprint(i, long)
		if n, err := s.append(time.Now(), []*recording.Record{&r}); n != 1 || err != nil {
			t.Fatalf("%d records are appended: %v", n, err)
		}
	}
	if len(kept.of) != 2 || kept.of[0] < each*mib-2*mib || kept.of[0] > each*mib+2*mib {
		t.Errorf("segments of %d bytes, want a first one of %d MiB", kept.of, each)
	}
}

// Who wants the latest does not have all that is older read.
func TestOlderSegmentsAreNotRead(t *testing.T) {
	each(t, func(t *testing.T, dir string) {
		s := newStore(dir, 1<<20)
		defer running(t, s)()
		start := time.Now()
		for range 6 { // each begins a segment, which holds 10 hours
			s.Record(record("cart", time.Now()))
			write()
			time.Sleep(12 * time.Hour)
		}
		for after, want := range map[time.Duration]int{
			-time.Hour: 6, 0: 6, time.Hour: 6, 13 * time.Hour: 5, 61 * time.Hour: 1, 99 * time.Hour: 1,
		} {
			if openers, err := s.kept.readers(start.Add(after)); err != nil || len(openers) != want {
				t.Errorf("since %v: %d are read, want %d: %v", after, len(openers), want, err)
			}
		}
	})
}

func TestTheAgedGoes(t *testing.T) {
	each(t, func(t *testing.T, dir string) {
		s := newStore(dir, 1<<20)
		defer running(t, s)()
		for range 30 {
			s.Record(record("cart", time.Now()))
			write()
			time.Sleep(24 * time.Hour)
		}
		got := times(t, s, "cart")
		if len(got) < 7 || len(got) > 9 {
			t.Errorf("%d days are kept: %v", len(got), got)
		}
	})
}

// The next program reads what the last one wrote, up to where its last write was torn off, and continues.
func TestARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(dir, 1<<20)
		stop := running(t, s)
		for i := range 10 {
			s.Record(record("cart", time.Unix(int64(i+1), 0)))
		}
		write()
		stop()
		all, err := filepath.Glob(filepath.Join(dir, "*.fsr"))
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		written, err := os.ReadFile(all[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(all[0], written[:len(written)-3], 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		next := newStore(dir, 1<<20)
		defer running(t, next)()
		next.Record(record("cart", time.Unix(11, 0)))
		write()
		got := times(t, next, "cart")
		if len(got) != 10 || !got[8].Equal(time.Unix(9, 0)) || !got[9].Equal(time.Unix(11, 0)) {
			t.Errorf("%v", got)
		}
	})
}

// Files of others, who may be later, and of more bytes than there is room for, do not have it remove the one that it writes.
func TestItKeepsTheFileThatItWrites(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(dir, 16*leastSegment)
		defer running(t, s)()
		s.Record(record("cart", time.Now()))
		write()
		other := filepath.Join(dir, fmt.Sprintf("%s%020d%s", prefix, time.Now().Add(time.Hour).UnixNano(), suffix))
		if err := os.WriteFile(other, make([]byte, 20*leastSegment), 0o600); err != nil {
			t.Fatal(err)
		}
		if left, err := s.kept.prune(15*leastSegment, time.Time{}); err != nil || left >= leastSegment {
			t.Fatalf("%d bytes are left: %v", left, err)
		}
		s.Record(record("cart", time.Now().Add(time.Second)))
		write()
		if got := times(t, s, "cart"); len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

// A directory that cannot be written costs records, and nothing else; once it can, they go on.
func TestAnUnwritableDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // it is no directory
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStore(dir, 1<<20)
		defer running(t, s)()
		for range 3 {
			s.Record(record("cart", time.Now()))
			write()
		}
		if got := testutil.ToFloat64(s.Metrics.dropped.WithLabelValues(reasonUnwritable)); got != 3 {
			t.Errorf("%v were left out", got)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(retryAfter)
		s.Record(record("cart", time.Now()))
		write()
		if got := times(t, s, "cart"); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
}

// What could not be written to the file counts as left out, and not as recorded.
func TestAFullVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t.TempDir(), 1<<20)
		defer running(t, s)()
		for i := range 3 {
			if i == 1 {
				s.kept.(*files).close() // so that writing fails
				s.kept.(*files).now, _ = os.Open(os.DevNull)
			}
			s.Record(record("cart", time.Now()))
			write()
			time.Sleep(retryAfter)
		}
		if got := testutil.ToFloat64(s.Metrics.records); got != 2 {
			t.Errorf("%v count as recorded", got)
		}
		if got := testutil.ToFloat64(s.Metrics.dropped.WithLabelValues(reasonUnwritable)); got != 1 {
			t.Errorf("%v were left out", got)
		}
		if got := times(t, s, "cart"); len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

// Who decides does not wait for who writes.
func TestNobodyWaits(t *testing.T) {
	s := newStore("", 1<<20)
	r := record("cart", time.Now())
	for range waiting + 5 {
		s.Record(r)
	}
	if got := testutil.ToFloat64(s.Metrics.dropped.WithLabelValues(reasonBusy)); got != 5 {
		t.Errorf("%v were left out", got)
	}
}

// Who writes is not woken up for each record: they wait for a while, or until they are many.
func TestTheyAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore("", 1<<20)
		defer running(t, s)()
		r := record("cart", time.Now())
		want := func(written int) {
			t.Helper()
			synctest.Wait()
			if got := testutil.ToFloat64(s.Metrics.records); got != float64(written) {
				t.Errorf("%v are written, want %d", got, written)
			}
		}
		for range waiting/2 - 1 {
			s.Record(r)
		}
		want(0)
		s.Record(r)
		want(waiting / 2)
		s.Record(r)
		want(waiting / 2)
		time.Sleep(period)
		want(waiting/2 + 1)
	})
}

// What cannot be read is not taken for a whole record.
func TestCopyFails(t *testing.T) {
	s := newStore("", 1<<20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &memory{all: []segment{{bytes: []byte("no record")}}}
	s.kept = m
	if err := s.Copy(t.Context(), io.Discard, func(recording.Object) bool { return true }, time.Time{}); err == nil ||
		!strings.Contains(err.Error(), "no record of decisions") {
		t.Error(err)
	}
	if err := s.Copy(ctx, io.Discard, func(recording.Object) bool { return true }, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
