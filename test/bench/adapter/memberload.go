// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	loadedMembers = 10
	// period is how often the adapter asks for a namespace by default.
	period = 15 * time.Second
)

// seen is what autoscalers did, a sample for each round.
type seen struct {
	requests    measure.Samples // to a member in a minute
	cores       measure.Samples
	age         measure.Samples // of the oldest value in memory, in seconds
	cold, later answers         // before and after each has asked for the first time
}

// loads are what was seen, by how many asked, and whether for a namespace each.
type loads map[bool]map[int]*seen

func memberLoad(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	fleet, err := s.Enlist(ctx, sim.Options{Members: loadedMembers})
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.Dismiss(ctx, fleet)) }()
	l := newLoader(s, p, fleet, log)
	if err := l.populate(); err != nil {
		return section, err
	}
	for range p.LoadRounds {
		if err := l.together(ctx); err != nil {
			return section, err
		}
		for _, n := range p.apart() {
			if err := l.apart(ctx, n); err != nil {
				return section, err
			}
		}
	}
	return l.loads.section(p), nil
}

// apart are the autoscalers that ask for a namespace each; one is the same either way.
func (p plan) apart() []int {
	return slices.DeleteFunc(slices.Clone(p.Autoscalers), func(n int) bool { return n == 1 })
}

// loader does the experiment.
type loader struct {
	*stage.Stage
	plan

	fleet *sim.Fleet
	log   io.Writer
	loads loads
}

func newLoader(s *stage.Stage, p plan, fleet *sim.Fleet, log io.Writer) *loader {
	l := &loader{s, p, fleet, log, loads{false: {}, true: {}}}
	for apart, all := range l.loads {
		for _, n := range p.Autoscalers {
			if !apart || n > 1 {
				all[n] = &seen{}
			}
		}
	}
	return l
}

func (l *loader) populate() error {
	if err := spread(l.fleet.Members(), crowdNamespace(0, false), 2*loadedMembers); err != nil {
		return err
	}
	for i := range slices.Max(l.Autoscalers) {
		if err := spread(l.fleet.Members(), crowdNamespace(i, true), 2*loadedMembers); err != nil {
			return err
		}
	}
	return nil
}

// together has more and more ask the same adapter for one namespace.
func (l *loader) together(ctx context.Context) error {
	return l.withCrowd(ctx, false, func(ctx context.Context, c *crowd) error {
		within := pace
		for _, n := range l.Autoscalers {
			if err := l.observe(ctx, c, n, within); err != nil {
				return err
			}
			within = time.Second // the namespace is known by now
		}
		return nil
	})
}

func (l *loader) apart(ctx context.Context, n int) error {
	return l.withCrowd(ctx, true, func(ctx context.Context, c *crowd) error { return l.observe(ctx, c, n, pace) })
}

func (l *loader) withCrowd(ctx context.Context, apart bool, do func(context.Context, *crowd) error) (err error) {
	server, err := l.Adapter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if _, err := server.AwaitPods(ctx, crowdNamespace(0, apart), 2*loadedMembers); err != nil {
		return err
	}
	c := &crowd{server: server, apart: apart}
	asking, stop := context.WithCancel(ctx)
	defer func() { stop(); c.asking.Wait() }()
	return do(asking, c)
}

// observe has so many ask, and measures once each has asked.
func (l *loader) observe(ctx context.Context, c *crowd, n int, within time.Duration) error {
	fmt.Fprintf(l.log, "%d autoscalers, in namespaces of their own: %t ...\n", n, c.apart)
	of := l.loads[c.apart][n]
	c.take()
	c.grow(ctx, n, within)
	if err := measure.Pass(ctx, within+pace/3); err != nil {
		return err
	}
	of.cold.add(c.take())
	before, begin := l.fleet.Requests(), time.Now()
	used, err := c.server.PID.CPU()
	if err != nil {
		return err
	}
	if err := measure.Pass(ctx, l.AskFor); err != nil {
		return err
	}
	after, took := l.fleet.Requests(), time.Since(begin)
	now, err := c.server.PID.CPU()
	if err != nil {
		return err
	}
	age, err := l.age(ctx, c.server)
	of.later.add(c.take())
	of.requests = append(of.requests, float64(after.Since(before).Of("metrics.k8s.io"))/loadedMembers/took.Minutes())
	of.cores = append(of.cores, float64(now-used)/float64(took))
	of.age = append(of.age, age)
	return err
}

// age returns that of the oldest value in memory.
func (l *loader) age(ctx context.Context, server *stage.Server) (float64, error) {
	oldest := 0.0
	for _, m := range l.fleet.Members() {
		age, err := server.Metric(ctx, "fleetscale_usage_age_seconds", fmt.Sprintf("cluster=%q", m.Name()))
		if err != nil {
			return 0, err
		}
		oldest = max(oldest, age)
	}
	return oldest, nil
}

func (l loads) section(p plan) report.Section {
	s := report.Section{
		Name: "members", Title: "Load on members",
		Text: []string{
			fmt.Sprintf("Autoscalers ask the adapter for the Pods of a namespace by a selector, each every %v. Requests are those that each of "+
				"%d members gets for metrics.k8s.io in a minute, once all was asked for the first time. "+
				"Without the adapter, each autoscaler would ask each member: %d requests in a minute. Answers that are not whole are those of all "+
				"rounds: *at first*, while each asks for the first time, and *later*.", pace, loadedMembers, int(time.Minute/pace)),
			fmt.Sprintf("Many namespaces are asked for at once, where a member does not have many more Pods than those; but the first question "+
				"for each is a request of its own, of which a member gets %d in a second at most (`--member-qps`). "+
				"Where namespaces have to be asked for one by one, that is enough for %d in a period of %v: with more, a round takes longer, and "+
				"values become older by that. Then raise it to their number by the period, and a half more.",
				memberQPS, memberQPS*int(period/time.Second), period),
		},
		Tables: []report.Table{{Header: []string{"autoscalers", "namespaces", "requests per member and minute", "of those without the adapter",
			"CPU of the adapter, cores", "oldest value, s",
			"answers at first", "not whole", "answers later", "not whole"}}},
		Plots: []report.Plot{{Peers: true, Plot: chart.Plot{Title: "Requests to a member", X: "autoscalers", Y: "per minute",
			Series: []chart.Series{{Name: "in one namespace"}, {Name: "in one each"}, {Name: "asking themselves"}}}}},
		Reaches: l.reaches(p),
		Figures: map[string][]float64{},
	}
	for i, apart := range []bool{false, true} {
		for _, n := range p.Autoscalers {
			of, known := l[apart][n]
			if !known {
				continue
			}
			themselves := float64(n) * float64(time.Minute/pace)
			s.Tables[0].Rows = append(s.Tables[0].Rows, []string{
				fmt.Sprint(n), map[bool]string{false: "the same", true: "one each"}[apart], of.requests.String(), of.requests.Per(themselves).String(),
				of.cores.String(), of.age.String(),
				fmt.Sprint(of.cold.whole + of.cold.refused.total()), of.cold.refused.String(), fmt.Sprint(of.later.whole + of.later.refused.total()),
				of.later.refused.String(),
			})
			series := s.Plots[0].Series
			series[i].Points = append(series[i].Points, of.requests.Point(float64(n)))
			if !apart {
				series[2].Points = append(series[2].Points, measure.Samples{themselves}.Point(float64(n)))
			}
			s.Figures[fmt.Sprintf("requests_per_minute/autoscalers=%d/apart=%t", n, apart)] = of.requests
			s.Figures[fmt.Sprintf("oldest_seconds/autoscalers=%d/apart=%t", n, apart)] = of.age
		}
	}
	return s
}

const (
	// flat is how much more requests may be, of what should be as many.
	flat = 1.1
	// fewMore is how much more requests for any number of namespaces may be, of those for one.
	fewMore = 3
)

func (l loads) reaches(p plan) []report.Reach {
	alone := l[false][1].requests
	most := slices.Max(p.Autoscalers)
	notWhole, all := 0, 0
	for _, of := range l {
		for _, seen := range of {
			notWhole += seen.later.refused.total()
			all += seen.later.whole + seen.later.refused.total()
		}
	}
	return []report.Reach{
		because(atMost(fmt.Sprintf("requests to a member for %d autoscalers of one namespace, of those for one", most), flat, "",
			l[false][most].requests.Over(alone)),
			"that is one request in a period for either, and some more now and then, by which the adapter finds the moment at which a member "+
				"measures, however many ask"),
		atMost(fmt.Sprintf("requests to a member for %d namespaces, of those for one", most), fewMore, "", l[true][most].requests.Over(alone)),
		{What: "answers that are not whole, once each namespace is known", Goal: "none", Measured: fmt.Sprintf("%d of %d", notWhole, all),
			Met: notWhole == 0 && all > 0},
	}
}
