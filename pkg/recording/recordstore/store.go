// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"context"
	"errors"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/recording"
)

const (
	// waiting is how many records wait to be written, at most; half of them are written at once.
	waiting = 1024
	// period is for how long they wait at most: together they cost less than one by one.
	period = time.Second
	// segments are how many share the bound: so much of it is lost with the oldest. Where there are many objects, fewer segments do, down
	// to fewest.
	segments, fewest = 16, 4
	// leastSegment is how small they are at least, in bytes.
	leastSegment = 64 << 10
	// retryAfter is when a directory is retried that could not be written.
	retryAfter = time.Minute
)

// Options configure a [Store].
type Options struct {
	// Dir is a directory; empty: memory.
	Dir string
	// Most are the bytes of all segments together, and Age is how old a segment may be.
	Most    int64
	Age     time.Duration
	Clock   clock.PassiveClock
	Metrics *Metrics
}

// Store keeps records.
type Store struct {
	Options
	queue chan *recording.Record
	// full is told when half of the queue is.
	full chan struct{}
	kept media
	// Of the goroutine that writes: the segment, and until when none is begun.
	// There is room for the segment up to a size.
	encoder *recording.Encoder
	begun   time.Time
	size    int64
	room    int64
	pause   time.Time
	buffer  []byte
}

// media are where segments are.
type media interface {
	// begin begins a segment; append appends to it.
	begin(now time.Time) error
	append(b []byte) error
	// prune drops the oldest segments that are too many bytes, or all of whose records are older; it returns the bytes that are left.
	prune(most int64, before time.Time) (int64, error)
	// readers are of the segments as they are, the oldest first, without those all of whose records are older.
	readers(since time.Time) ([]opener, error)
}

// New returns a store. Nothing is written before its first record.
func New(o Options) *Store {
	s := &Store{Options: o, queue: make(chan *recording.Record, waiting), full: make(chan struct{}, 1), kept: &memory{}}
	if o.Dir != "" {
		s.kept = &files{dir: o.Dir}
	}
	return s
}

// Record hands a record over, which no longer changes. It does not wait.
func (s *Store) Record(r *recording.Record) {
	select {
	case s.queue <- r:
	default:
		s.Metrics.dropped.WithLabelValues(reasonBusy).Inc()
	}
	if len(s.queue) >= waiting/2 {
		select {
		case s.full <- struct{}{}:
		default:
		}
	}
}

// Run writes until ctx ends, and then what is left.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-s.full:
		case <-ticker.C:
		case <-ctx.Done():
			s.write(ctx)
			return nil
		}
		s.write(ctx)
	}
}

// batch are all records that wait: they are written at once.
func (s *Store) batch() (all []*recording.Record) {
	for {
		select {
		case next := <-s.queue:
			all = append(all, next)
		default:
			return all
		}
	}
}

func (s *Store) write(ctx context.Context) {
	batch, now := s.batch(), s.Clock.Now()
	if len(batch) == 0 {
		return
	}
	if now.Before(s.pause) {
		s.Metrics.dropped.WithLabelValues(reasonUnwritable).Add(float64(len(batch)))
		return
	}
	n, err := s.append(now, batch)
	s.Metrics.records.Add(float64(n))
	if err == nil {
		return
	}
	s.Metrics.dropped.WithLabelValues(reasonUnwritable).Add(float64(len(batch) - n))
	s.encoder, s.pause = nil, now.Add(retryAfter) // what was written of the segment may be torn
	klog.FromContext(ctx).Info("Could not write the record of decisions; it is retried", "err", err, "retryAfter", retryAfter)
}

// append appends to the segment, or to a new one, and returns how many records were.
func (s *Store) append(now time.Time, batch []*recording.Record) (n int, err error) {
	switch {
	case s.encoder == nil || s.enough() || now.Sub(s.begun) >= s.Age/segments:
		err = s.begin(now)
	case s.size >= s.room:
		err = s.makeRoom(now)
	}
	if err != nil {
		return 0, err
	}
	s.buffer = s.buffer[:0]
	for _, r := range batch {
		s.buffer, err = s.encoder.Append(s.buffer, r)
		switch {
		case errors.Is(err, recording.ErrTooLarge):
			s.Metrics.dropped.WithLabelValues(reasonTooLarge).Inc()
		case err != nil:
			return 0, err
		default:
			n++
		}
	}
	if err := s.kept.append(s.buffer); err != nil {
		return 0, err
	}
	s.size += int64(len(s.buffer))
	s.Metrics.bytes.Add(float64(len(s.buffer)))
	return n, nil
}

func (s *Store) begin(now time.Time) error {
	s.size = 0
	if err := s.makeRoom(now); err != nil {
		return err
	}
	if err := s.kept.begin(now); err != nil {
		return err
	}
	s.encoder, s.begun, s.size = recording.NewEncoder(), now, int64(len(recording.Magic))
	s.Metrics.bytes.Add(float64(s.size))
	return s.kept.append([]byte(recording.Magic))
}

// makeRoom drops what is too old, or too much for the segment to grow by its share.
func (s *Store) makeRoom(now time.Time) error {
	left, err := s.kept.prune(s.Most-s.segment(), now.Add(-s.Age))
	if err != nil {
		return err
	}
	s.room = s.size + s.segment()
	s.Metrics.bytes.Set(float64(left))
	return nil
}

// enough reports whether the segment ends. Each one says all of an object first, and then what differs: so one that ends before it says
// mostly what differs is worth less than its bytes. One of which more would have to be kept than a reader does could not be read.
func (s *Store) enough() bool {
	return s.size >= s.segment() && (s.size >= s.Most/fewest || s.size >= 2*int64(s.encoder.Kept()) || s.encoder.Kept() >= recording.Most/4)
}

// segment is from how many bytes on a segment may end.
func (s *Store) segment() int64 { return max(leastSegment, s.Most/segments) }
