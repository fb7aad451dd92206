// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"slices"
	"time"
)

// run is one time of one rule, which has come.
type run struct {
	of *history
	at time.Time
}

func (r run) sets() Values { return valuesOf(r.of.rule.spec) }

// inOrder sorts runs by their times; those of one time stay as they are, which is as the rules stand.
func inOrder(runs []run) {
	slices.SortStableFunc(runs, func(a, b run) int { return a.at.Compare(b.at) })
}

// settled is what becomes of several runs that are due together.
type settled struct {
	run
	applied Values // what the target has from this run in the end
	by      *run   // set all that this run sets again; nil if applied is not empty
	misfit  string // why this run cannot be; or ""
}

// settle applies all runs to the target together; for each field the last wins.
// If the target could not work like that, they are taken one after another, and
// those that do not fit are left out. wanted are the values that the target should have.
func settle(has Values, mayHaveNone bool, runs []run) (wanted Values, outcomes []settled) {
	var all Values
	for _, r := range runs {
		all = all.with(r.sets())
	}
	together := misfit(has, all, mayHaveNone) == ""
	wanted = has
	var last [fields]int
	for i, r := range runs {
		outcome := settled{run: r}
		if !together {
			outcome.misfit = misfit(wanted, r.sets(), mayHaveNone)
		}
		outcomes = append(outcomes, outcome)
		if outcome.misfit != "" {
			continue
		}
		wanted = wanted.with(r.sets())
		for f := range fields {
			if r.sets()[f] != nil {
				last[f] = i
			}
		}
	}
	for i := range outcomes {
		outcomes[i].credit(i, last, runs)
	}
	return wanted, outcomes
}

// credit gives the run at this place the fields that it was the last to set.
func (s *settled) credit(place int, last [fields]int, runs []run) {
	if s.misfit != "" {
		return
	}
	latest := place
	for f, set := range s.sets() {
		switch {
		case set == nil:
		case last[f] == place:
			s.applied[f] = set
		default:
			latest = max(latest, last[f])
		}
	}
	if s.applied.Empty() {
		s.by = &runs[latest]
	}
}
