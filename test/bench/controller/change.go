// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// change is what became of a load that doubled.
type change struct {
	// Seconds until all workloads were scaled; those that were not count as wrong.
	Seconds float64
	// Wrong is how many workloads were not at the number that they should have, before or after.
	Wrong int
}

// double has all Pods use twice as much, and watches how all workloads grow.
func double(ctx context.Context, w *world, sides []*side, patience time.Duration) (map[string]*change, error) {
	found := map[string]*change{}
	if err := w.compare(sides, found); err != nil {
		return nil, err
	}
	if err := w.burden(2 * target); err != nil {
		return nil, err
	}
	return found, w.watch(ctx, sides, found, patience)
}

// compare counts the workloads that are not as they were.
func (w *world) compare(sides []*side, found map[string]*change) error {
	for _, s := range sides {
		before, _, err := w.scaled(s.at)
		if err != nil {
			return err
		}
		found[s.name] = &change{Wrong: w.autoscalers - before}
	}
	return nil
}

// watch returns when all workloads have grown, or patience ends.
func (w *world) watch(ctx context.Context, sides []*side, found map[string]*change, patience time.Duration) error {
	begin := time.Now()
	for waiting := sides; len(waiting) > 0; {
		if err := measure.Pass(ctx, pause); err != nil {
			return err
		}
		took := time.Since(begin)
		var late []*side
		for _, s := range waiting {
			_, after, err := w.scaled(s.at)
			if err != nil {
				return err
			}
			c := found[s.name]
			if c.Seconds = took.Seconds(); after == w.autoscalers {
				continue
			}
			if took > patience {
				c.Wrong += w.autoscalers - after
				continue
			}
			late = append(late, s)
		}
		waiting = late
	}
	return nil
}
