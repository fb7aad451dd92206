// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func randomRecords(seed uint64, n int) (all []*Record) {
	r := rand.New(rand.NewPCG(seed, 12))
	for i := range n {
		q := randomQuestion(r)
		record, _ := recorded(q)
		record.Object.Name = []string{"cart", "basket", "web"}[i%3]
		all = append(all, record)
	}
	return all
}

// Cut anywhere, a stream is whole up to the frame that was cut; with any bit turned, up to the frame that has it.
func TestATornStreamIsReadUpToTheTear(t *testing.T) {
	stream := encode(t, randomRecords(1, 9)...)
	last, every := 0, 1 // byte
	if testing.Short() {
		every = 5 // fewer than any frame has
	}
	for cut := len(Magic) + (len(stream)-len(Magic))%every; cut <= len(stream); cut += every {
		all, err := decodeAll(stream[:cut])
		if err != nil && !errors.Is(err, ErrTorn) {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		if len(all) < last || len(all) > last+1 || err == nil && cut < len(stream) && len(all) == 9 {
			t.Fatalf("cut after %d bytes: %d records, and %d before", cut, len(all), last)
		}
		last = len(all)
	}
	if last != 9 {
		t.Errorf("%d records of the whole", last)
	}
	for at := len(Magic); at < len(stream); at += 7 * every {
		damaged := bytes.Clone(stream)
		damaged[at] ^= 4
		if all, err := decodeAll(damaged); err == nil || len(all) >= 9 {
			t.Fatalf("a bit turned at %d: %d records, %v", at, len(all), err)
		}
	}
}

func TestStreamsFollowEachOther(t *testing.T) {
	a, b := encode(t, randomRecords(1, 4)...), encode(t, randomRecords(2, 5)...)
	all, err := decodeAll(append(bytes.Clone(a), b...))
	if err != nil || len(all) != 9 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

func TestOnlyTheWantedAreRead(t *testing.T) {
	d := NewDecoder(bytes.NewReader(encode(t, randomRecords(1, 9)...)))
	d.Wanted = func(o Object) bool { return o.Name == "web" }
	n := 0
	for {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || r.Object.Name != "web" {
			t.Fatalf("%v, %v", r, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

func TestWhatIsNoRecordIsRefused(t *testing.T) {
	for _, text := range []string{"x", "fleetscale record\x03", "fleetscale record\x00", "kind: FederatedHPA\nmetadata: {}\n"} {
		if _, err := decodeAll([]byte(text)); err == nil || errors.Is(err, ErrTorn) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if all, err := decodeAll(nil); err != nil || len(all) != 0 {
		t.Errorf("an empty stream: %d records, %v", len(all), err)
	}
}

// A record that does not fit leaves the stream as it was.
func TestATooLargeRecordIsLeftOut(t *testing.T) {
	records := randomRecords(3, 2)
	large := *records[0]
	large.Question.Scale.Selector = strings.Repeat("x", mostFrame)
	encoder, stream := NewEncoder(), []byte(Magic)
	for _, r := range []*Record{records[0], &large, records[1]} {
		var err error
		if stream, err = encoder.Append(stream, r); (err != nil) != (r == &large) {
			t.Fatal(err)
		}
	}
	all, err := decodeAll(stream)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if got, want := replicas.Decide(all[1].Question).Replicas, replicas.Decide(records[1].Question).Replicas; got != want {
		t.Errorf("decided on %d replicas, want %d", got, want)
	}
}

// What may have been written by anybody is refused, or read: it harms nobody. What is read can be written again.
func FuzzHostile(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(encode(f, randomRecords(seed, 5)...))
	}
	for _, file := range []string{"version1.fsr", "splits.fsr", "sizes.fsr"} {
		stream, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		fixed := fix(stream)
		for _, s := range [][]byte{stream, fixed} {
			all, _ := decodeAll(s)
			for _, r := range all {
				switch {
				case r.Sizes != nil:
					if _, err := recommendation.Decide(&r.Sizes.Question); err != nil {
						t.Fatal(err)
					}
				case r.Split != nil:
					assignment.Next(r.Split.Snapshot)
				default:
					replicas.Decide(r.Question)
				}
			}
			encoder := NewEncoder()
			for _, r := range all {
				if _, err := encoder.Append(nil, r); err != nil && !errors.Is(err, ErrTooLarge) {
					t.Fatal(err)
				}
			}
		}
	})
}

// fix makes the frames of a stream pass their checksums, so that more is tried than the checksum.
func fix(stream []byte) []byte {
	if len(stream) < len(Magic) || !bytes.HasPrefix(stream, []byte(magic)) {
		return nil
	}
	fixed, rest := bytes.Clone(stream[:len(Magic)]), stream[len(Magic):]
	for len(rest) > 0 {
		size, after, err := cutUvarint(rest)
		if err != nil || size > uint64(len(after)) {
			return fixed
		}
		fixed = appendFrame(fixed, after[:size])
		rest = after[min(len(after), int(size)+4):]
	}
	return fixed
}

// history is of an object whose Pods run in so many clusters, and records of it in the order of time.
func history(t testing.TB, clusters, rounds int) (all []*Record) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	var q replicas.Question
	for len(q.Clusters) < 3 || len(q.Metrics) != 1 || q.Spec.Metrics[0].Resource == nil || q.Scale.Replicas == 0 {
		q = randomQuestion(r)
	}
	one := q.Clusters[0]
	q.Clusters, q.State, q.Spec.Behavior = nil, replicas.State{}, nil
	q.Metrics[0] = replicas.Metric{Pods: map[string]map[string]replicas.Sample{}}
	for i := range clusters {
		c := one
		c.Name, c.Silent = "member-"+strings.Repeat("x", i%3)+string(rune('a'+i%26))+string(rune('a'+i/26)), nil
		q.Clusters = append(q.Clusters, c)
	}
	for range rounds {
		for _, c := range q.Clusters {
			samples := map[string]replicas.Sample{}
			for _, p := range c.Pods {
				samples[p.Name] = replicas.Sample{Value: 50 + r.Int64N(20), At: q.Now, Window: 15 * time.Second}
			}
			q.Metrics[0].Pods[c.Name] = samples
		}
		record, d := recorded(q)
		all = append(all, record)
		q.State = d.State
		q.Now = q.Now.Add(15*time.Second + time.Duration(r.Int64N(1e8)))
	}
	return all
}

// BenchmarkAppend is what it takes to write one decision down, and how many bytes.
func BenchmarkAppend(b *testing.B) {
	for name, clusters := range map[string]int{"1 cluster": 1, "3 clusters": 3, "10 clusters": 10, "50 clusters": 50} {
		b.Run(name, func(b *testing.B) {
			records := history(b, clusters, 200)
			encoder := NewEncoder()
			var stream []byte
			total, n := 0, 0
			for b.Loop() {
				var err error
				if stream, err = encoder.Append(stream[:0], records[n%len(records)]); err != nil {
					b.Fatal(err)
				}
				total, n = total+len(stream), n+1
			}
			b.ReportMetric(float64(total)/float64(n), "bytes/record")
		})
	}
}

// A decoder reads on where it was, if that is what it has read, and what it had of objects and texts before is known there.
func TestResume(t *testing.T) {
	all := randomRecords(7, 40)
	stream, encoder := []byte(Magic), NewEncoder()
	for _, r := range all {
		var err error
		if stream, err = encoder.Append(stream, r); err != nil {
			t.Fatal(err)
		}
	}
	d, got := NewDecoder(bytes.NewReader(nil)), 0
	for end := range stream {
		before := d.Offset()
		if end%97 != 0 && end != len(stream)-1 {
			continue
		}
		if !d.Resume(bytes.NewReader(stream[:end+1])) {
			t.Fatalf("%d bytes: it is another", end)
		}
		for {
			_, err := d.Next()
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrTorn) && d.Offset() > 0 {
				t.Fatalf("%d bytes: %v", end, err)
			}
			if err != nil {
				break
			}
			got++
		}
		if d.Offset() < before || d.Offset() > int64(end+1) {
			t.Fatalf("%d bytes, and it is at %d", end+1, d.Offset())
		}
	}
	if got != len(all) || d.Offset() != int64(len(stream)) {
		t.Errorf("%d records of %d, %d bytes of %d", got, len(all), d.Offset(), len(stream))
	}
	empty := NewDecoder(strings.NewReader(Magic))
	if _, err := empty.Next(); !errors.Is(err, io.EOF) || !empty.Resume(bytes.NewReader(stream)) ||
		empty.Resume(strings.NewReader(magic+"\x01 and more")) {
		t.Errorf("of another version it reads on: %v", err)
	}
	for _, other := range [][]byte{stream[:len(stream)-1], nil, append(slices.Clone(stream[:len(stream)-1]), stream[len(stream)-1]+1)} {
		if d.Resume(bytes.NewReader(other)) {
			t.Errorf("it reads on in others, of %d bytes", len(other))
		}
	}
}
