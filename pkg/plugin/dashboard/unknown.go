// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// span is a part of the time of which something is not known.
type span struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Why  string `json:"why"`
}

const notRecorded = "no decision was recorded"

// missingBetween is when nothing is known between two decisions, in milliseconds since 1970; nil: the first holds until the other.
func missingBetween(from, to int64) *span {
	if to-from <= replay.Gap.Milliseconds() {
		return nil
	}
	return &span{from + replay.Gap.Milliseconds(), to, notRecorded}
}

// spansOf are the parts of the time for which why says something of points. The last one lasts until now.
func spansOf(points []point, now int64, why func(*point) string) (all []span) {
	for i := range points {
		from, to := points[i].At.UnixMilli(), now
		if i+1 < len(points) {
			to = points[i+1].At.UnixMilli()
		}
		text := why(&points[i])
		if n := len(all); text == "" || to < from {
			continue
		} else if n > 0 && all[n-1].To == from && all[n-1].Why == text {
			all[n-1].To = to
			continue
		}
		all = append(all, span{from, to, text})
	}
	return all
}

// mostUnseen is how many clusters are named.
const mostUnseen = 3

// unseen says which clusters could not be seen; empty: all could. What is shown of them is what was known last.
func (p *point) unseen() string {
	switch n := len(p.Unseen); {
	case n == 0:
		return ""
	case n > mostUnseen:
		return fmt.Sprintf("%d clusters could not be seen", n)
	}
	return fleet.PrintableLine(strings.Join(p.Unseen, ", ")+" could not be seen", mostTold)
}

// joined are the points of a record, and then those that were seen since the page was started, with when there was neither.
func joined(r *recorded, live []point, now time.Time) (points []point, gaps []span) {
	if r == nil {
		return live, nil
	}
	before, until := r.points, now
	if len(live) > 0 {
		until = live[0].At
	}
	for len(before) > 0 && (!before[len(before)-1].At.Before(until) && len(live) > 0 || before[len(before)-1].At.After(now)) {
		before = before[:len(before)-1]
	}
	for _, gap := range r.gaps {
		if gap.To = min(gap.To, until.UnixMilli()); gap.From < gap.To { // what was seen is known all the same
			gaps = append(gaps, gap)
		}
	}
	if missing := missingBetween(r.To, until.UnixMilli()); missing != nil {
		gaps = append(gaps, *missing)
	}
	return slices.Concat(before, live), gaps
}

// together are parts of the time in their order.
func together(a, b []span) []span {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	return all
}
