// SPDX-License-Identifier: Apache-2.0

package merge

import "slices"

// Kind is what is asked for.
type Kind int

// The kinds of questions.
const (
	ListOfObjects Kind = iota
	OneObject
	SeriesOfMetric
)

// Evidence is what is known of an answer before it is served.
type Evidence struct {
	Kind Kind
	Word Word // as chosen; empty for the default
	// AllowPartial is true when the client can do with less than the whole.
	AllowPartial bool
	// Answered counts the members that did; Known those of them that know the metric.
	Answered, Known int
	Silent          []SilentPart // in any order
}

// SilentPart is what is known of a member that did not answer.
type SilentPart struct {
	// LongGone: it has been silent for longer than an answer is held up by it.
	LongGone bool
	// Covered: all series it was last seen with are among those of the others.
	Covered bool
}

// Verdict is what becomes of an answer.
type Verdict int

// The verdicts, with the HTTP status that each stands for.
const (
	Serve        Verdict = iota // 200: it is the whole
	ServePartial                // 200, and a warning
	Unavailable                 // 503: it might be wrong without the silent members
	NotFound                    // 404: nobody has it
)

// Judge decides. A part that passed for the whole would have an autoscaler
// scale in, so a sum or the like is not served without a member, unless the
// client knows what it gets, or the member has been away for so long that
// waiting would do more harm. A low figure can still tell to scale out; an
// average or a minimum of a part tells nothing, and is never given on request.
func Judge(e Evidence) Verdict {
	pending := slices.ContainsFunc(e.Silent, func(s SilentPart) bool { return !s.LongGone })
	switch {
	case e.Known == 0 && (pending || len(e.Silent) > 0 && e.Answered == 0):
		return Unavailable
	case e.Known == 0:
		return NotFound
	case len(e.Silent) == 0:
		return Serve
	case e.Kind == ListOfObjects:
		return ServePartial
	case e.Kind == SeriesOfMetric && e.Word == "":
		return e.judgeSeries()
	case !pending:
		return ServePartial
	case e.AllowPartial && e.Word != Avg && e.Word != Min:
		return ServePartial
	default:
		return Unavailable
	}
}

// judgeSeries decides about series that are the same wherever they are seen.
func (e Evidence) judgeSeries() Verdict {
	missing := slices.DeleteFunc(slices.Clone(e.Silent), func(s SilentPart) bool { return s.Covered })
	pending := slices.ContainsFunc(missing, func(s SilentPart) bool { return !s.LongGone })
	switch {
	case len(missing) == 0:
		return Serve
	case !pending || e.AllowPartial:
		return ServePartial
	default:
		return Unavailable
	}
}
