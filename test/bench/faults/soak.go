// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// soakPlan is how long a soak lasts, and how its faults are drawn.
type soakPlan struct {
	plan

	For time.Duration
	// Shortest and Longest are the bounds of a fault, and of the time between two.
	Shortest, Longest, Rest time.Duration
	// Interval is the time between two samples.
	Interval time.Duration
}

func fullSoak() soakPlan {
	p := soakPlan{plan: full(), For: 30 * time.Minute, Shortest: 5 * time.Second, Longest: 90 * time.Second, Rest: 20 * time.Second,
		Interval: 10 * time.Second}
	p.Members, p.Together, p.Pause = 20, 6, 500*time.Millisecond
	return p
}

func quickSoak() soakPlan {
	p := soakPlan{plan: quick(), For: 30 * time.Second, Shortest: time.Second, Longest: 4 * time.Second, Rest: time.Second,
		Interval: time.Second}
	p.Pause = 100 * time.Millisecond
	return p
}

// soaked is all that a soak found.
type soaked struct {
	plan    soakPlan
	seed    uint64
	planted int // answers while lies were told
	happens []happening
	watched []*watched
	entries entries
	// wrong are scale-ins, writes all writes of replicas.
	wrong, writes, deaths int
	recovered             bool
}

// happening is one fault of a soak.
type happening struct {
	fault      string
	begin, end time.Duration // since the start
}

func runSoak(ctx context.Context, st *stage.Stage, p soakPlan, log io.Writer) (section report.Section, err error) {
	seed := rand.Uint64() >> 32
	s, err := newScene(ctx, st, p.plan, seed, log)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	fmt.Fprintf(log, "A soak of %v; the seed of its faults is %d ...\n", p.For, seed)
	o := &soaked{plan: p, seed: seed, watched: s.watched()}
	if o.planted, err = s.plant(ctx); err != nil {
		return section, err
	}
	if err := s.soak(ctx, o); err != nil {
		return section, err
	}
	return o.section(), nil
}

func (s *scene) soak(ctx context.Context, o *soaked) error {
	var begin time.Time
	j, err := s.asked(ctx, func(ctx context.Context, j *journal, clients []string) error {
		begin = time.Now()
		sampling, stop := context.WithCancel(ctx)
		sampled := make(chan error, 1)
		go func() { sampled <- s.sample(sampling, o, begin) }()
		err := s.happen(ctx, o, begin)
		if err == nil {
			p := phase{}
			err = s.await(ctx, &p, time.Now(), j, clients)
			o.recovered = p.recovered
		}
		stop()
		return errors.Join(err, <-sampled)
	})
	if err != nil {
		return err
	}
	o.entries = j.between(begin, time.Now())
	o.wrong, o.writes, o.deaths = len(s.scalers.wrong(begin)), len(s.scalers.writes(begin)), s.scalers.deaths
	fmt.Fprintf(s.log, "%d answers, %d wrong, %d silent partial; %d writes of replicas, %d of them wrong\n", len(o.entries), o.entries.wrong(),
		o.entries.of(truth.Silent), o.writes, o.wrong)
	return nil
}

// happen has one fault after the other until the time is up.
func (s *scene) happen(ctx context.Context, o *soaked, begin time.Time) error {
	for time.Since(begin) < o.plan.For {
		if err := measure.Pass(ctx, s.upTo(0, o.plan.Rest)); err != nil {
			return err
		}
		f := o.plan.next(time.Since(begin), s.random)
		s.phase.Add(1)
		h := happening{fault: f.name, begin: time.Since(begin)}
		end, err := f.begin(ctx, s)
		if err == nil {
			err = measure.Pass(ctx, f.bounded(s.upTo(o.plan.Shortest, o.plan.Longest)))
		}
		if err == nil {
			err = end(ctx)
		}
		if err == nil {
			err = s.scalers.revive(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		h.end = time.Since(begin)
		o.happens = append(o.happens, h)
		fmt.Fprintf(s.log, "%s: %s, for %s\n", h.begin.Round(time.Second), h.fault, (h.end - h.begin).Round(time.Second))
	}
	return nil
}

// next is any fault, but of those that kill only in the first quarter, from whose end on growth is checked.
func (p soakPlan) next(at time.Duration, random *rand.Rand) fault {
	all := slices.DeleteFunc(faults(), func(f fault) bool { return f.kills && at+p.Longest > p.For/4 })
	return all[random.IntN(len(all))]
}

func (f fault) bounded(d time.Duration) time.Duration {
	if f.atMost > 0 {
		return min(d, f.atMost)
	}
	return d
}

func (s *scene) upTo(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)+1))
}

// sample samples all processes until the context ends.
func (s *scene) sample(ctx context.Context, o *soaked, begin time.Time) error {
	for n := 0; ; n++ {
		for _, w := range o.watched {
			if err := w.sample(ctx, time.Since(begin), n%6 == 0); err != nil {
				return err
			}
		}
		if measure.Pass(ctx, o.plan.Interval) != nil {
			return nil
		}
	}
}

func (o *soaked) section() report.Section {
	section := report.Section{
		Name: "soak", Title: "A long run with random faults",
		Text: []string{
			fmt.Sprintf("%v of the faults of *faults*, one after the other, at random (seed %d): each for %v to %v, with up to %v between two; "+
				"%d members, two adapters and two controller-managers with their default options. Clients ask with pauses, so that the machine is "+
				"not saturated; every answer is judged.",
				o.plan.For, o.seed, o.plan.Shortest, o.plan.Longest, o.plan.Rest, o.plan.Members),
			judged(o.planted),
			"Growth is the median of the last quarter by that of the second one, of a process that lived through both. Adapters are killed in " +
				"the first quarter only: the clients of one that was killed go to the other one, and stay there. A controller-manager that gave up " +
				"its lease while the hub was away did not live so long. Heap is after a garbage collection. Connections are sockets that are open, " +
				"with whomever.",
			fmt.Sprintf("%d faults happened: %s.", len(o.happens), o.happened()),
		},
		Reaches: none(o.entries, o.wrong),
		Tables:  []report.Table{{Header: []string{"process", "figure", "second quarter", "last quarter", "growth"}}},
		Figures: map[string][]float64{"seed": {float64(o.seed)}},
	}
	section.Reaches = append(section.Reaches, report.Reach{What: "all answers right again at the end", Goal: "yes", Measured: yes(o.recovered),
		Met: o.recovered})
	for _, f := range sampledFigures() {
		section.Reaches = append(section.Reaches, o.reach(f))
		plot := report.Plot{Plot: chart.Plot{Title: f.name, X: "minutes", Y: f.unit}}
		for _, w := range o.watched {
			early, late, growth := w.growth(f, o.plan.For)
			section.Tables[0].Rows = append(section.Tables[0].Rows, []string{w.name, f.name, early.String(), late.String(), growthText(growth)})
			plot.Series = append(plot.Series, w.line(f))
			section.Figures[f.name+"/"+w.name] = w.values(f)
		}
		section.Plots = append(section.Plots, plot)
	}
	section.Tables = append(section.Tables, outcome{entries: o.entries}.kinds())
	return section
}

// happened counts the faults by name, in the order of their first time.
func (o *soaked) happened() string {
	counts := map[string]int{}
	var names []string
	for _, h := range o.happens {
		if counts[h.fault]++; counts[h.fault] == 1 {
			names = append(names, h.fault)
		}
	}
	text := ""
	for i, name := range names {
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%s (%d)", name, counts[name])
	}
	return text
}

// reach is of the process that grew most, of those that lived long enough.
func (o *soaked) reach(f figure) report.Reach {
	worst, name, lived := 0.0, "", 0
	for _, w := range o.watched {
		_, _, growth := w.growth(f, o.plan.For)
		if growth > 0 {
			lived++
		}
		if growth > worst {
			worst, name = growth, w.name
		}
	}
	r := report.Reach{
		What: "growth: " + f.name, Goal: fmt.Sprintf("≤ %g", f.most), Met: lived > 0 && worst <= f.most,
		Measured: fmt.Sprintf("%s (%s; %d of %d processes lived so long)", growthText(worst), name, lived, len(o.watched)),
	}
	if !r.Met && o.plan.For < 10*time.Minute {
		r.Why = "too short to tell"
	}
	return r
}

func yes(it bool) string {
	if it {
		return "yes"
	}
	return "no"
}

func growthText(growth float64) string {
	if growth == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3g", growth)
}

// pids that are not the same tell that a process was started again.
func sameProcess(samples []sample) bool {
	return !slices.ContainsFunc(samples, func(s sample) bool { return s.pid != samples[0].pid })
}
