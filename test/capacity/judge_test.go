// SPDX-License-Identifier: Apache-2.0

package capacity_test

import (
	"flag"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
)

var from = flag.Uint64("from", 1, "number of the first scenario; the one number that a failure tells leads back to it")

// atOnce is how many scenarios are played at one time: they mostly wait.
const atOnce = 8

// Without rules between Pods, and with one, the scheduler binds as many replicas as was estimated. With several it binds
// no more.
func TestSchedulerBindsWhatWasEstimated(t *testing.T) {
	scenarios := uint64(300)
	if testing.Short() {
		scenarios = 40
	}
	c := start(t)
	verdicts := make([]verdict, scenarios)
	var playing errgroup.Group
	playing.SetLimit(atOnce)
	for i := range scenarios {
		playing.Go(func() error {
			seed := *from + i
			v, err := c.judge(t, throw(seed, int(seed%4)))
			if err != nil {
				return fmt.Errorf("scenario %d: %w", seed, err)
			}
			verdicts[i] = v
			return nil
		})
	}
	if err := playing.Wait(); err != nil {
		t.Fatal(err)
	}
	var room, none, exact, several int
	for i, v := range verdicts {
		if v.bound > v.estimated || v.rules < 2 && v.bound != v.estimated {
			t.Errorf("scenario %d, with %d rules: estimated %d, and the scheduler bound %d", *from+uint64(i), v.rules, v.estimated, v.bound)
		}
		if v.bound > 0 {
			room++
		} else {
			none++
		}
		if v.rules >= 2 {
			several++
			if v.bound == v.estimated {
				exact++
			}
		}
	}
	t.Logf("%d scenarios had room and %d had none; of %d with several rules %d were exact", room, none, several, exact)
	if room < len(verdicts)/3 || none < len(verdicts)/20 || exact < several*9/10 {
		t.Error("the scenarios are too much alike, or the upper bounds too loose")
	}
}

// verdict is what was estimated, and what the scheduler made of it.
type verdict struct {
	rules            int
	estimated, bound int32
}

// judge scales the Deployment to more than was estimated, and counts the further replicas that were bound.
func (c *cluster) judge(t *testing.T, s *scenario) (verdict, error) {
	ctx := t.Context()
	if err := c.play(ctx, s); err != nil {
		return verdict{}, fmt.Errorf("playing: %w", err)
	}
	before, err := c.bound(ctx, s)
	if err != nil {
		return verdict{}, err
	}
	estimate, err := c.estimate(ctx, s)
	if err != nil {
		return verdict{}, fmt.Errorf("estimating: %w", err)
	}
	if err := c.scale(ctx, s, before+estimate.Additional+4); err != nil {
		return verdict{}, fmt.Errorf("scaling: %w", err)
	}
	if err := c.settle(ctx, s); err != nil {
		return verdict{}, fmt.Errorf("scaling: %w", err)
	}
	after, err := c.bound(ctx, s)
	if err != nil {
		return verdict{}, err
	}
	return verdict{rules: s.rules, estimated: estimate.Additional, bound: after - before}, c.clear(ctx, s)
}
