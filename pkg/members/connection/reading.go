// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	// mostReading bounds the answers of one member that are decoded at one time.
	mostReading = 8
	// mostStuck bounds those of them that nobody waits for any more.
	mostStuck = 4
)

var (
	errStuck    error = fleet.Silencef(fleet.ReasonBadAnswer, "the answer could not be decoded within the deadline")
	errNoneRead error = fleet.Silencef(fleet.ReasonBadAnswer,
		"the answer was not decoded: too many of this cluster's answers are being decoded still")
	errMostStuck error = fleet.Silencef(fleet.ReasonBadAnswer,
		"the answer was not decoded: %d earlier ones could not be, and are being decoded still", mostStuck)
)

// Reading has a member's answers decoded, so that whoever waits for one need not
// wait for a decoder that does not come back: nothing can stop it. After some
// such answers no other is decoded, until one of them is done.
type Reading struct {
	places chan struct{} // holds a token for each decoder
	stuck  atomic.Int32
	intake *intake
}

// NewReading returns one for one cluster that has no [Peer].
func NewReading() *Reading {
	return &Reading{places: make(chan struct{}, mostReading), intake: &intake{}}
}

// Decode decodes an answer until ctx ends. What read writes to may be written to
// after that, when Decode has returned an error: it must be nobody else's.
func Decode[T any](ctx context.Context, r *Reading, answer []byte, read func([]byte) (T, error)) (T, error) {
	var value T
	var err error
	if stopped := r.do(ctx.Done(), len(answer), func() { value, err = read(answer) }); stopped != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil && !errors.Is(cause, context.DeadlineExceeded) {
			return *new(T), cause
		}
		r.intake.judge(stopped)
		return *new(T), stopped
	}
	r.intake.judge(err)
	return value, err
}

// Guard is Decode for what cannot take long: it calls read at once, and makes an error of a
// panic over what the member sent. Nothing that a member sent is read but by one of both.
func (r *Reading) Guard(read func() error) (err error) {
	if failed := r.intake.try(func() { err = read() }); failed != nil {
		return failed
	}
	return err
}

// Dropped counts items of a kind that the member was not asked for, or sent twice.
func (r *Reading) Dropped(kind string, n int) {
	if n > 0 && r.intake.meter != nil {
		r.intake.meter.dropped(kind, n)
	}
}

// Endless counts a list without end, which only who reads all of its pages can tell. It returns the error.
func (r *Reading) Endless(err error) error {
	if err == nil {
		return nil
	}
	return r.intake.offended(offenceEndless, err)
}

// within is do with a deadline of its own.
func (r *Reading) within(timeout time.Duration, size int, read func()) error {
	end := make(chan struct{})
	timer := time.AfterFunc(timeout, func() { close(end) })
	defer timer.Stop()
	stopped := r.do(end, size, read)
	if stopped != nil {
		r.intake.judge(stopped)
	}
	return stopped
}

// States of a decoder.
const (
	decoding int32 = iota
	abandoned
	done
)

// do returns nil once read has returned without a panic, which reads an answer of that size. What it
// wrote may be read only then.
func (r *Reading) do(end <-chan struct{}, size int, read func()) error {
	if r.stuck.Load() >= mostStuck {
		return errMostStuck
	}
	select {
	case r.places <- struct{}{}:
	case <-end:
		return errNoneRead
	}
	held := r.intake.account.loan(nil)
	if err := held.take(int64(size) * decodedAs); err != nil {
		<-r.places
		return err
	}
	var state atomic.Int32
	over := make(chan struct{})
	var panicked error
	go func() {
		defer close(over)
		panicked = r.intake.try(read)
		held.giveBack()
		<-r.places
		if !state.CompareAndSwap(decoding, done) {
			r.stuck.Add(-1)
		}
	}()
	select {
	case <-over:
		return panicked
	case <-end:
	}
	r.stuck.Add(1)
	if state.CompareAndSwap(decoding, abandoned) {
		return errStuck
	}
	r.stuck.Add(-1) // it was done at the same moment
	<-over
	return panicked
}
