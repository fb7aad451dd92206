// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/recording"
)

// parts is in how many segments a record is kept: one is given up at once.
const parts = 8

// afterRestart is why nothing is known of what was decided before a record was restarted.
const afterRestart = "the record was restarted, and what was decided before that is not known"

// tail is a record as far as it has been read, of which only what came since is read again. One at a time reads.
type tail struct {
	recorded
	// segments are the decisions themselves, the latest of them. What is read of one stays: it is only appended to.
	segments [][]byte
	encoder  *recording.Encoder // of the last one
	size     int
	most     int // bytes that are kept, about
	last     mark
}

func newTail(r room) tail { return tail{recorded: recorded{most: r.values}, most: r.bytes} }

// mark tells the last decision that was read from others. The zero value: none was.
type mark struct {
	at   time.Time
	uid  string
	kind recording.Kind
}

func markOf(r *recording.Record) mark { return mark{r.Question.Now, r.Object.UID, r.Object.Kind} }

// since is from when on the record is to be asked for; the zero time: all of it. The last decision is asked for again: a record that does
// not have it is not the one that was read.
func (t *tail) since() time.Time { return t.last.at }

// take takes in an answer to since. What comes before an error counts.
func (t *tail) take(in io.Reader) error {
	continues := t.last == (mark{})
	d := recording.NewDecoder(in)
	for {
		r, err := d.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if continues = continues || markOf(r) == t.last; !r.Question.Now.After(t.last.at) {
			continue
		}
		if !continues {
			t.restarted(r.Question.Now)
			continues = true
		}
		if err := t.keep(r); err != nil {
			return err
		}
	}
}

// restarted notes that the record does not continue where it was left.
func (t *tail) restarted(at time.Time) {
	t.Restarted = at.UnixMilli()
	if len(t.gaps) < mostPoints {
		t.gaps = append(t.gaps, span{t.To, t.Restarted, afterRestart})
	}
	t.To = t.Restarted // so that the same time is not missing twice
}

// keep adds a decision.
func (t *tail) keep(r *recording.Record) error {
	t.last = markOf(r)
	t.add(r)
	n := len(t.segments)
	if n == 0 || len(t.segments[n-1]) >= t.most/parts {
		t.segments, t.encoder = append(t.segments, []byte(recording.Magic)), recording.NewEncoder()
		n++
	}
	before := len(t.segments[n-1])
	var err error
	if t.segments[n-1], err = t.encoder.Append(t.segments[n-1], r); err != nil {
		return err
	}
	t.size += len(t.segments[n-1]) - before
	for t.size > t.most && len(t.segments) > 1 {
		t.size -= len(t.segments[0]) - len(recording.Magic)
		t.segments = t.segments[1:]
	}
	return nil
}

// past is what is known by now, as others may read it while more is taken in.
func (t *tail) past() (*recorded, [][]byte) {
	return t.known(), slices.Clone(t.segments)
}

// reading reads segments one after the other.
func reading(segments [][]byte) io.ReadCloser {
	all := make([]io.Reader, len(segments))
	for i := range segments {
		all[i] = bytes.NewReader(segments[i])
	}
	return io.NopCloser(io.MultiReader(all...))
}
