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
	// fairTime is what decoding an answer has to have had for it to be the answer's fault that it did not come to an end: it may
	// have waited for others.
	fairTime = 100 * time.Millisecond
)

var (
	errStuck    error = fleet.Silencef(fleet.ReasonBadAnswer, "the answer could not be decoded within the deadline")
	errNoTime   error = fleet.Silencef(fleet.ReasonTimeout, "the answer came too late to be decoded within the deadline")
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
	kept   *account // nil: without bounds
}

// NewReading returns one for one cluster that has no [Peer].
func NewReading() *Reading {
	return &Reading{places: make(chan struct{}, mostReading), intake: &intake{}}
}

// Check tells what decoding an answer takes at most, beside the answer itself, in bytes; or why it must not be
// decoded. Package guard has those for Go types.
type Check func(answer []byte) (int64, error)

// Decode has an answer checked, waits for room for what decoding it takes, and decodes it, all until ctx ends. What read writes to
// may be written to after that, when Decode has returned an error: it must be nobody else's.
func Decode[T any](ctx context.Context, r *Reading, answer []byte, check Check, read func([]byte) (T, error)) (T, error) {
	var value T
	var err error
	if stopped := r.do(ctx.Done(), answer, check, func() { value, err = read(answer) }); stopped != nil {
		if cause := context.Cause(ctx); ctx.Err() != nil && !errors.Is(cause, context.DeadlineExceeded) {
			return *new(T), cause
		}
		r.intake.judge(stopped)
		return *new(T), stopped
	}
	r.intake.judge(err)
	return value, err
}

// Guard is for what was decoded, and for what cannot take long, nor much: it calls read at once, and makes an error of a
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

// mostUnasked are the items of one list that nobody asked for, which a cluster that is well could send at most.
const mostUnasked = 100_000

var errUnasked error = fleet.Silencef(fleet.ReasonBadAnswer, "the list held %d items or more that nobody asked for", mostUnasked)

// Measured is Dropped for a list of what the cluster itself measures, and no tenant of it writes: of very many it is an error.
func (r *Reading) Measured(kind string, dropped int) error {
	r.Dropped(kind, dropped)
	if dropped < mostUnasked {
		return nil
	}
	return r.intake.misbehaved(offenceUnasked, errUnasked)
}

// Endless counts a list without end, which only who reads all of its pages can tell. It returns the error.
func (r *Reading) Endless(err error) error {
	if err == nil {
		return nil
	}
	return r.intake.offended(offenceEndless, err)
}

// within is do with a deadline of its own.
func (r *Reading) within(timeout time.Duration, answer []byte, check Check, read func()) error {
	end := make(chan struct{})
	timer := time.AfterFunc(timeout, func() { close(end) })
	defer timer.Stop()
	stopped := r.do(end, answer, check, read)
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

// do returns nil once read has returned without a panic, which decodes an answer that passes the check. What it
// wrote may be read only then.
func (r *Reading) do(end <-chan struct{}, answer []byte, check Check, read func()) error {
	if r.stuck.Load() >= mostStuck {
		return errMostStuck
	}
	given := make(chan struct{})
	held := r.intake.account.loan(func() { close(given) })
	if err := held.take(int64(len(answer))); err != nil {
		return err
	}
	select {
	case r.places <- struct{}{}:
	case <-end:
		held.giveBack()
		return errNoneRead
	case <-given:
		return errCrowded
	}
	release := func() {
		held.giveBack()
		<-r.places
	}
	var more int64
	var failed error
	began := time.Now()
	err := r.run(end, func() { more, failed = check(answer) }, release)
	if err == nil && failed != nil {
		err = BadAnswer("decoding the answer", failed)
	}
	if err == nil {
		err = r.room(held, more, end, given)
	}
	if err == nil {
		began = time.Now()
		err = r.run(end, read, release)
	}
	switch {
	case !errors.Is(err, errStuck):
		release()
	case time.Since(began) < fairTime:
		return errNoTime
	}
	return err
}

// room waits for room for what decoding takes. One answer for which there never is any is more than is read.
func (r *Reading) room(held *loan, more int64, end, given <-chan struct{}) error {
	if !held.fits(more) {
		return r.intake.offended(offenceTooLarge, tooLargeDecoded(more))
	}
	return held.claim(more, end, given)
}

// run returns nil once work has returned without a panic. If that is too late, it is let go on, and then release is called.
func (r *Reading) run(end <-chan struct{}, work, release func()) error {
	var state atomic.Int32
	over := make(chan struct{})
	var panicked error
	go func() {
		defer close(over)
		panicked = r.intake.try(work)
		if !state.CompareAndSwap(decoding, done) {
			release()
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
