// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/measure"
)

// demanded is how many decisions per second are called for where as many as there can be are to be made.
const demanded = 4000

// hurry is a sync period that neither controller keeps up with.
func (w *world) hurry() time.Duration {
	return time.Duration(w.autoscalers) * time.Second / demanded
}

// saturate has sides decide as often as they can, in turns: while one does, the other stands still.
func saturate(ctx context.Context, sides []*side, p plan) (map[string][]effort, error) {
	found := map[string][]effort{}
	for _, s := range sides {
		if err := s.freeze(); err != nil {
			return nil, err
		}
	}
	for range p.Rounds {
		for _, s := range sides {
			e, err := s.busy(ctx, p.For)
			if err != nil {
				return nil, err
			}
			found[s.name] = append(found[s.name], e)
		}
	}
	for _, s := range sides {
		if err := s.thaw(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// busy thaws a side for so long, and some time before: what was due while it stood still is done first.
func (s *side) busy(ctx context.Context, d time.Duration) (e effort, err error) {
	if err := s.thaw(); err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, s.freeze()) }()
	if err := measure.Pass(ctx, d/2); err != nil {
		return e, err
	}
	before, err := s.tally(ctx)
	if err != nil {
		return e, err
	}
	if err := measure.Pass(ctx, d); err != nil {
		return e, err
	}
	after, err := s.tally(ctx)
	return between(before, after), err
}
