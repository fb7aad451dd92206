// SPDX-License-Identifier: Apache-2.0

// Package setback knows when what is written in one place is set back each time, by somebody who wants it otherwise, and for how long
// it is then not written. It is used where replicas are written, and where bounds are. It is pure: a caller tells what it finds and
// writes.
package setback

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// undoneWithin is for how long what was written must stand not to count as undone.
	undoneWithin = 5 * time.Minute
	// mostUndone is how many writes in a row are undone before there is a pause.
	mostUndone = 3
	// firstPause is the first pause, which doubles up to the longest.
	firstPause   = 5 * time.Minute
	longestPause = time.Hour
)

// Record is how what is written in one place is undone: it is found to be again what it was before the write. The zero value: it never
// was.
type Record[T comparable] struct {
	// From and To are what the last write changed.
	From, To T
	// at is when that was; zero: that write has been undone, or has stood.
	at time.Time
	// Undone is how many writes in a row were, the first of them found to be at Since.
	Undone int
	Since  time.Time
	// pause is the last one, until Until.
	pause time.Duration
	Until time.Time
	// generation is that of the object.
	generation int64
	// By is the field manager that set it back; empty: that is not known.
	By string
}

// Paused reports whether nothing is written for now.
func (r Record[T]) Paused(now time.Time) bool { return now.Before(r.Until) }

// Lasts reports whether there is a pause, or was one, and it is not known yet whether what is tried after it stands.
func (r Record[T]) Lasts(now time.Time) bool { return now.Before(r.Until.Add(undoneWithin)) }

// Pauses reports whether a pause has begun since the record was as before: it is the time to find out who it is.
func (r Record[T]) Pauses(before Record[T]) bool { return r.Until.After(before.Until) }

// Blank reports whether there is nothing to be found out.
func (r Record[T]) Blank() bool { return r.at.IsZero() && r.Undone == 0 }

// Sees is the record once that was found. It is over when the spec is changed, of which generation is the object's, or what is found by
// others, or a write stands.
func (r Record[T]) Sees(found T, generation int64, now time.Time) Record[T] {
	over := Record[T]{generation: generation}
	switch {
	case r.generation != generation:
		return over
	case r.at.IsZero() && found != r.From:
		return over
	case r.at.IsZero():
		return r
	case found == r.From:
		r.at = time.Time{}
		if r.Undone++; r.Undone == 1 {
			r.Since = now
		}
		if r.Undone >= mostUndone {
			r.pause = min(max(2*r.pause, firstPause), longestPause)
			r.Until = now.Add(r.pause)
		}
	case found != r.To, now.Sub(r.at) >= undoneWithin:
		return over
	}
	return r
}

// Writes is the record once something else was written, for the spec of that generation.
func (r Record[T]) Writes(from, to T, generation int64, now time.Time) Record[T] {
	r.From, r.To, r.at, r.generation = from, to, now, generation
	return r
}

// Story is how often that was, by whom, and when it is written next.
func (r Record[T]) Story() string {
	by := "somebody"
	if r.By != "" {
		by = fmt.Sprintf("the field manager %q", r.By)
	}
	return fmt.Sprintf("%d times in a row, the last time by %s. They are next written at %s", r.Undone, by, r.Until.UTC().Format(time.RFC3339))
}

// WhoSet returns the field manager, other than ours, that last set one of these fields of the spec; empty: that is not known.
func WhoSet(entries []metav1.ManagedFieldsEntry, ours string, fields ...string) string {
	var who string
	var last time.Time
	for _, entry := range entries {
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if entry.Manager == ours || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		at := time.Time{}
		if entry.Time != nil {
			at = entry.Time.Time
		}
		owns := slices.ContainsFunc(fields, func(field string) bool { _, does := owned.Spec["f:"+field]; return does })
		if owns && (who == "" || at.After(last)) {
			who, last = entry.Manager, at
		}
	}
	return who
}
