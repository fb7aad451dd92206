// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// outcome is all that was measured with so many autoscalers.
type outcome struct {
	Autoscalers, Replicas, Scaled int

	// Default is with the default options of either controller, Rest where upstream's client has no limit.
	Default, Rest rested
	// Footprints are at rest, by side.
	Footprints map[string]footprint
	// Changed is what became of the load's change.
	Changed map[string]*change
	// Saturated are the rounds of each side.
	Saturated map[string][]effort
}

// lifted takes upstream's client limits away; ours has none.
var lifted = []string{"--kube-api-qps=100000", "--kube-api-burst=100000"}

// parallel is how many decisions are under way at a time where as many are made as can be: our default, and twice upstream's.
const parallel = 10

func runWith(ctx context.Context, s *stage.Stage, p plan, autoscalers int, log io.Writer) (o *outcome, err error) {
	w, err := newWorld(ctx, autoscalers, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	o = &outcome{Autoscalers: autoscalers, Replicas: w.replicas, Scaled: w.wanted()}
	fmt.Fprintf(log, "%d autoscalers of %d Pods each ...\n", autoscalers, w.replicas)
	r := &running{stage: s, world: w, plan: p, log: log}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.ours.stop(), r.theirs.stop()) }()
	for _, phase := range []func(context.Context, *outcome) error{r.byDefault, r.unlimited, r.changed, r.saturated} {
		if err := phase(ctx, o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// running is both sides, at work.
type running struct {
	stage *stage.Stage
	world *world
	plan  plan
	log   io.Writer

	ours, theirs *side
}

func (r *running) sides() []*side { return []*side{r.ours, r.theirs} }

// begin starts both sides with their default options.
func (r *running) begin(ctx context.Context) error {
	w := r.world
	r.ours = &side{
		name: ours, reconciliations: "fleetscale_horizontal_pod_autoscaler_controller_reconciliations_total",
		at: w.hub(), members: w.fleet, reconciles: watchReconciles(w.hub()),
	}
	r.theirs = &side{
		name: upstream, reconciliations: "horizontal_pod_autoscaler_controller_reconciliations_total",
		at: w.cluster(), reconciles: watchReconciles(w.cluster()),
	}
	adapter, err := r.stage.AdapterFor(ctx, w.hub(), r.scraping()...)
	if err != nil {
		return err
	}
	controller, err := r.controllers(r.plan.Period)(ctx)
	if err != nil {
		return errors.Join(err, adapter.Stop())
	}
	r.ours.programs = []*stage.Program{controller, adapter}
	peer, err := r.upstream(r.plan.Period)(ctx)
	if err != nil {
		return errors.Join(err, r.ours.stop())
	}
	r.theirs.programs = []*stage.Program{peer}
	return nil
}

// scraping are the adapter's options where the period is not the usual one.
func (r *running) scraping() []string {
	if r.plan.Period == usualPeriod {
		return nil
	}
	return []string{"--scrape-period=" + r.plan.Period.String()}
}

func (r *running) controllers(period time.Duration, args ...string) func(context.Context) (*stage.Program, error) {
	return func(ctx context.Context) (*stage.Program, error) {
		return r.stage.ControllersFor(ctx, r.world.hub(), r.log, append(args, "--sync-period="+period.String())...)
	}
}

func (r *running) upstream(period time.Duration, args ...string) func(context.Context) (*stage.Program, error) {
	return func(ctx context.Context) (*stage.Program, error) {
		return r.stage.UpstreamFor(ctx, r.world.cluster(), append(args, "--horizontal-pod-autoscaler-sync-period="+period.String())...)
	}
}

// longest is how long a side may take for what it should do in a period or two.
const longest = 3 * time.Minute

// byDefault measures both as they come, for two periods. Upstream need not have decided for all before: it may take many periods.
func (r *running) byDefault(ctx context.Context, o *outcome) (err error) {
	if err := known(ctx, r.world, []*side{r.ours}, longest); err != nil {
		return err
	}
	if err := known(ctx, r.world, []*side{r.theirs}, r.plan.Period); err != nil && !errors.Is(err, errSlow) {
		return err
	}
	o.Default, err = atRest(ctx, r.sides(), r.plan.Period, 2)
	return err
}

// unlimited measures both where no client has limits.
func (r *running) unlimited(ctx context.Context, o *outcome) error {
	if err := r.theirs.restart(ctx, r.upstream(r.plan.Period, lifted...)); err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	var err error
	if o.Rest, err = atRest(ctx, r.sides(), r.plan.Period, r.plan.Rounds); err != nil {
		return err
	}
	o.Footprints = map[string]footprint{}
	for _, s := range r.sides() {
		if o.Footprints[s.name], err = s.footprint(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until both have decided for all, and as long again.
func (r *running) settle(ctx context.Context) error {
	for range 2 {
		if err := known(ctx, r.world, r.sides(), longest); err != nil {
			return err
		}
		for _, s := range r.sides() {
			s.reconciles.keep()
		}
	}
	return nil
}

func (r *running) changed(ctx context.Context, o *outcome) (err error) {
	fmt.Fprintf(r.log, "... the load doubles\n")
	o.Changed, err = double(ctx, r.world, r.sides(), longest)
	return err
}

// saturated measures as many decisions as can be, of as many at a time on both sides.
func (r *running) saturated(ctx context.Context, o *outcome) error {
	period := r.world.hurry()
	fmt.Fprintf(r.log, "... as many decisions as can be\n")
	if err := r.ours.restart(ctx, r.controllers(period, fmt.Sprintf("--concurrent-federatedhpa-syncs=%d", parallel))); err != nil {
		return err
	}
	peer := append([]string{fmt.Sprintf("--concurrent-horizontal-pod-autoscaler-syncs=%d", parallel)}, lifted...)
	if err := r.theirs.restart(ctx, r.upstream(period, peer...)); err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	var err error
	o.Saturated, err = saturate(ctx, r.sides(), r.plan)
	return err
}
