// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// pace is what was seen of a side over some periods.
type pace struct {
	// Efforts are one for each period.
	Efforts []effort
	// Between are the seconds from one decision of an autoscaler to the next; Decided is how many had a decision.
	Between measure.Samples
	Decided int
}

// rested is both sides in the same periods.
type rested map[string]*pace

// atRest watches sides that have nothing to change, side by side, for some periods.
func atRest(ctx context.Context, sides []*side, period time.Duration, periods int) (rested, error) {
	found := rested{}
	before := map[string]tally{}
	for _, s := range sides {
		s.reconciles.keep()
		found[s.name] = &pace{}
		var err error
		if before[s.name], err = s.tally(ctx); err != nil {
			return nil, err
		}
	}
	for range periods {
		if err := measure.Pass(ctx, period); err != nil {
			return nil, err
		}
		for _, s := range sides {
			now, err := s.tally(ctx)
			if err != nil {
				return nil, err
			}
			found[s.name].Efforts = append(found[s.name].Efforts, between(before[s.name], now))
			before[s.name] = now
		}
	}
	for _, s := range sides {
		p := found[s.name]
		p.Between, p.Decided = s.reconciles.noted()
	}
	return found, nil
}

// known returns when each side has decided for all, or one of those that are patient has not for too long.
func known(ctx context.Context, w *world, sides []*side, patience time.Duration) error {
	begin := time.Now()
	for _, s := range sides {
		for s.reconciles.workloads() < w.autoscalers {
			if time.Since(begin) > patience {
				return fmt.Errorf("waiting for %s to decide: it has for %d of %d autoscalers after %s: %w", s.name, s.reconciles.workloads(),
					w.autoscalers,
					patience, errSlow)
			}
			if err := measure.Pass(ctx, pause); err != nil {
				return err
			}
		}
	}
	return nil
}

const pause = 50 * time.Millisecond

var errSlow = errors.New("it is too slow")

// samples are a figure of all periods.
func (p *pace) samples(of func(effort) float64) (all measure.Samples) {
	for _, e := range p.Efforts {
		all = append(all, of(e))
	}
	return all
}
