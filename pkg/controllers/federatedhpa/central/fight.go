// SPDX-License-Identifier: Apache-2.0

package central

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// undoneWithin is for how long a number of replicas that was written must stand not to count as undone.
	undoneWithin = 5 * time.Minute
	// mostUndone is how many writes in a row are undone before there is a pause.
	mostUndone = 3
	// firstPause is the first pause, which doubles up to the longest.
	firstPause   = 5 * time.Minute
	longestPause = time.Hour
)

// fight is how the replicas that are written in one place, the hub or a cluster, are undone: they are found to be again what they were
// before the write. The zero value: they never were.
type fight struct {
	// from and to are those of the last write, at that time; without a time, that write has been undone, or has stood.
	from, to int32
	at       time.Time
	// undone is how many writes in a row were.
	undone int
	// pause is the last one, until that time.
	pause time.Duration
	until time.Time
	// generation is that of the object.
	generation int64
	// by is the field manager that set them back; empty: that is not known.
	by string
}

// paused reports whether nothing is written for now.
func (f fight) paused(now time.Time) bool { return now.Before(f.until) }

// sees is the fight once so many replicas were found. It is over when the spec or the replicas are changed by others, or a write stands.
func (f fight) sees(n int32, generation int64, now time.Time) fight {
	over := fight{generation: generation}
	switch {
	case f.generation != generation:
		return over
	case f.at.IsZero() && n != f.from:
		return over
	case f.at.IsZero():
		return f
	case n == f.from:
		f.at = time.Time{}
		if f.undone++; f.undone >= mostUndone {
			f.pause = min(max(2*f.pause, firstPause), longestPause)
			f.until = now.Add(f.pause)
		}
	case n != f.to, now.Sub(f.at) >= undoneWithin:
		return over
	}
	return f
}

// writes is the fight once other replicas were written.
func (f fight) writes(from, to int32, now time.Time) fight {
	f.from, f.to, f.at = from, to, now
	return f
}

// message says who fights where, and what to do.
func (f fight) message(target, where string) string {
	by := "somebody"
	if f.by != "" {
		by = fmt.Sprintf("the field manager %q", f.by)
	}
	return fmt.Sprintf("the replicas of %s %s were set back from %d to %d, %d times in a row, the last time by %s. They are next written at "+
		"%s, or when the spec or the replicas change: have that leave spec.replicas alone", target, where, f.to, f.from, f.undone, by,
		f.until.UTC().Format(time.RFC3339))
}

// whoSetReplicas returns the field manager that last set spec.replicas, other than ours; empty: that is not known.
func whoSetReplicas(entries []metav1.ManagedFieldsEntry, ours string) string {
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
		if _, owns := owned.Spec["f:replicas"]; owns && (who == "" || at.After(last)) {
			who, last = entry.Manager, at
		}
	}
	return who
}
