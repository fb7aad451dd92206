// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// offence is what no cluster does that is well and means well, in one word for a label of metrics.
type offence string

const (
	// offenceTooLarge is an answer or an event of more than is read.
	offenceTooLarge offence = "TooLarge"
	// offenceEndless is a list of too many pages, or with pages that repeat.
	offenceEndless offence = "EndlessList"
	// offenceHarmful is a quantity that takes forever to parse.
	offenceHarmful offence = "HarmfulQuantity"
	// offenceTooHeavy is an answer that unfolds to many times its bytes when it is decoded.
	offenceTooHeavy offence = "TooHeavy"
	// offenceContentType is an answer in a format that it was not asked for in.
	offenceContentType offence = "ContentType"
	// offenceStuck is an answer that could not be decoded within the deadline.
	offenceStuck offence = "Stuck"
	// offenceUnasked is a list of very many items that nobody asked for.
	offenceUnasked offence = "Unasked"
	// offenceChatter is much that belongs to no answer.
	offenceChatter offence = "Chatter"
	// offencePanic is an answer over which our code panicked.
	offencePanic offence = "Panic"
)

// intake is where what one member sends comes in: it bounds what is held of it, and
// notes what the member should not have sent.
type intake struct {
	meter   *meter   // nil: nothing is counted
	account *account // nil: without bounds
	// onMisconduct is told the last offence when there were too many; nil: nobody is.
	onMisconduct func(*fleet.Silence)
	logged       sync.Once
	chatter      chatter

	mu      sync.Mutex
	conduct conduct   // guarded by mu
	event   time.Time // when one last counted as a good answer
}

// offended counts an offence, which is told as the error's words: our own. It returns the error.
func (i *intake) offended(o offence, err error) error {
	if i.meter != nil {
		i.meter.offence(o)
	}
	if silence, _ := fleet.Classify(err); i.note(true) && i.onMisconduct != nil {
		i.onMisconduct(silence)
	}
	return err
}

// misbehaved counts an offence that no tenant of the cluster can commit, and that no answer makes good. It returns its error.
func (i *intake) misbehaved(o offence, err error) error {
	if i.meter != nil {
		i.meter.offence(o)
	}
	if silence, _ := fleet.Classify(err); i.onMisconduct != nil {
		i.onMisconduct(silence)
	}
	return err
}

// note is true when the member misbehaves.
func (i *intake) note(offence bool) (misbehaves bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.conduct, misbehaves = i.conduct.after(time.Now(), offence)
	return misbehaves
}

// creditsEvent is true for an event of a watch that counts as a good answer: one a second, as nobody asked for it.
func (i *intake) creditsEvent(now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if now.Sub(i.event) < time.Second {
		return false
	}
	i.event = now
	return true
}

// judge notes what decoding an answer came to. A panic was counted when it
// happened, for perhaps nobody waited for it.
func (i *intake) judge(err error) {
	var harmful *guard.HarmfulError
	var heavy *guard.TooHeavyError
	switch {
	case errors.Is(err, errStuck), errors.Is(err, errMostStuck):
		_ = i.offended(offenceStuck, err)
	case errors.As(err, &harmful):
		_ = i.offended(offenceHarmful, errHarmful)
	case errors.As(err, &heavy):
		_ = i.offended(offenceTooHeavy, errHeavy)
	case err == nil:
		i.note(false)
	}
}

// errHarmful leaves out what the member wrote: a message of ours that others read could repeat what we sent it.
var errHarmful error = fleet.Silencef(fleet.ReasonBadAnswer, "the answer held a quantity that takes forever to read")

var errHeavy error = fleet.Silencef(fleet.ReasonBadAnswer, "the answer would have unfolded to many times its bytes when it was decoded")

var errPanic error = fleet.Silencef(fleet.ReasonBadAnswer, "reading the answer made the program panic; the log has the first stack")

// try calls read, and makes of a panic an error: what one member sends must not end the program for all.
func (i *intake) try(read func()) (err error) {
	defer func() {
		if what := recover(); what != nil {
			i.logged.Do(func() { i.log(what) })
			err = i.offended(offencePanic, errPanic)
		}
	}()
	read()
	return nil
}

// log says it once: a member could fill the log.
func (i *intake) log(what any) {
	cluster := ""
	if i.meter != nil {
		cluster = i.meter.cluster
	}
	klog.Background().Error(nil, "Recovered from a panic over what a cluster sent; others of this cluster will not be logged",
		"cluster", cluster, "panic", what, "stack", string(debug.Stack()))
}

// BadAnswer is the error of an answer that cannot be read; doing is what was done to it.
func BadAnswer(doing string, err error) error {
	return &badAnswer{&fleet.Silence{Reason: fleet.ReasonBadAnswer, Detail: doing + ": " + err.Error()}, err}
}

// badAnswer keeps why an answer cannot be read.
type badAnswer struct {
	*fleet.Silence
	cause error
}

func (b *badAnswer) Unwrap() []error { return []error{b.Silence, b.cause} }
