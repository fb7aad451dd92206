// SPDX-License-Identifier: Apache-2.0

package merge

import "testing"

var (
	late     = SilentPart{}
	longGone = SilentPart{LongGone: true}
	covered  = SilentPart{Covered: true}
	both     = SilentPart{LongGone: true, Covered: true}
)

func silent(parts ...SilentPart) []SilentPart { return parts }

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		evidence Evidence
		want     Verdict
	}{
		"all answered, and one knows it": {Evidence{Kind: OneObject, Answered: 3, Known: 1}, Serve},
		"all answered, and none does":    {Evidence{Kind: OneObject, Answered: 3}, NotFound},
		"nobody was asked":               {Evidence{Kind: ListOfObjects}, NotFound},
		"nobody answered":                {Evidence{Kind: ListOfObjects, AllowPartial: true, Silent: silent(late)}, Unavailable},
		"nobody answered for long":       {Evidence{Kind: ListOfObjects, AllowPartial: true, Silent: silent(longGone)}, Unavailable},
		"nobody answered, all covered":   {Evidence{Kind: SeriesOfMetric, Silent: silent(covered)}, Unavailable},
		"not known, but one may know": {Evidence{Kind: ListOfObjects, AllowPartial: true, Answered: 2, Silent: silent(longGone, late)},
			Unavailable},
		"not known, and may is long ago": {Evidence{Kind: OneObject, Answered: 2, Silent: silent(longGone)}, NotFound},

		"a list without a member": {Evidence{Kind: ListOfObjects, Word: Avg, Answered: 2, Known: 1, Silent: silent(late)}, ServePartial},

		"a sum without a member":      {Evidence{Kind: OneObject, Answered: 2, Known: 2, Silent: silent(late)}, Unavailable},
		"a sum without one long gone": {Evidence{Kind: OneObject, Answered: 2, Known: 2, Silent: silent(longGone)}, ServePartial},
		"a sum without one of each":   {Evidence{Kind: OneObject, Answered: 2, Known: 2, Silent: silent(longGone, late)}, Unavailable},
		"a sum is never covered":      {Evidence{Kind: OneObject, Answered: 2, Known: 2, Silent: silent(covered)}, Unavailable},
		"a sum, allowed": {Evidence{Kind: OneObject, AllowPartial: true, Answered: 2, Known: 2, Silent: silent(late)},
			ServePartial},
		"an explicit sum, allowed": {Evidence{Kind: OneObject, Word: Sum, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(late)}, ServePartial},
		"an explicit max, allowed": {Evidence{Kind: OneObject, Word: Max, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(late)}, ServePartial},
		"an average, allowed": {Evidence{Kind: OneObject, Word: Avg, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(late)}, Unavailable},
		"a minimum, allowed": {Evidence{Kind: OneObject, Word: Min, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(late)}, Unavailable},
		"an average without one long gone": {Evidence{Kind: OneObject, Word: Avg, Answered: 2, Known: 2, Silent: silent(longGone)},
			ServePartial},
		"series of a sum, allowed": {Evidence{Kind: SeriesOfMetric, Word: Sum, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(late)}, ServePartial},
		"series of a minimum, allowed": {Evidence{Kind: SeriesOfMetric, Word: Min, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(covered)}, Unavailable},
		"series of an average, not allowed": {Evidence{Kind: SeriesOfMetric, Word: Avg, Answered: 2, Known: 2, Silent: silent(late)},
			Unavailable},
		"series of a sum are never covered": {Evidence{Kind: SeriesOfMetric, Word: Sum, Answered: 2, Known: 2, Silent: silent(covered)},
			Unavailable},
		"explicit max is not covered either": {Evidence{Kind: SeriesOfMetric, Word: Max, Answered: 2, Known: 2, Silent: silent(covered)},
			Unavailable},
		"series of a sum, one long gone": {Evidence{Kind: SeriesOfMetric, Word: Sum, Answered: 2, Known: 2, Silent: silent(both)}, ServePartial},

		"series, the silent one covered": {Evidence{Kind: SeriesOfMetric, Answered: 2, Known: 2, Silent: silent(covered, both)}, Serve},
		"series, one not covered": {Evidence{Kind: SeriesOfMetric, Answered: 2, Known: 2, Silent: silent(covered, late)},
			Unavailable},
		"series, one not covered, allowed": {Evidence{Kind: SeriesOfMetric, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(covered, late)}, ServePartial},
		"series, all not covered are long gone": {Evidence{Kind: SeriesOfMetric, Answered: 2, Known: 2, Silent: silent(covered, longGone)},
			ServePartial},
		"series, not all not covered are": {Evidence{Kind: SeriesOfMetric, Answered: 2, Known: 2, Silent: silent(longGone, late)},
			Unavailable},
		"series, covered, allowed: still a whole": {Evidence{Kind: SeriesOfMetric, AllowPartial: true, Answered: 2, Known: 2,
			Silent: silent(covered)}, Serve},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Judge(tc.evidence); got != tc.want {
				t.Errorf("Judge(%+v) = %v, want %v", tc.evidence, got, tc.want)
			}
		})
	}
}
