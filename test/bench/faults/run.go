// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// outcome is all that the experiment found.
type outcome struct {
	plan     plan
	planted  int // answers while lies were told
	phases   []phase
	entries  entries
	takeover time.Duration // from the leader's end to the first decision of another
	wrong    int           // scale-ins, of all phases and between
	writes   int           // of replicas, before the load dropped
	drop     time.Duration
	lowered  int // workloads that a real drop of the load scaled in
	deaths   int
}

func runFaults(ctx context.Context, st *stage.Stage, p plan, log io.Writer) (section report.Section, err error) {
	s, err := newScene(ctx, st, p, 1, log)
	if err != nil {
		return section, err
	}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	o, err := s.experiment(ctx)
	if err != nil {
		return section, err
	}
	return o.section(), nil
}

// asked has all clients ask while f runs, and Pods come and go.
func (s *scene) asked(ctx context.Context, f func(ctx context.Context, j *journal, clients []string) error) (*journal, error) {
	clients, err := s.clients(s.stage)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range clients {
		names = append(names, c.name)
	}
	j := newJournal(s.log)
	asking, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	var churned error
	others.Go(func() { askAll(asking, clients, s.plan.Pause, j) })
	others.Go(func() { churned = s.churn(asking) })
	if err = s.begin(ctx, j, names); err == nil {
		err = f(ctx, j, names)
	}
	stop()
	others.Wait()
	return j, errors.Join(err, churned)
}

// begin returns when all answers are right.
func (s *scene) begin(ctx context.Context, j *journal, clients []string) error {
	p := phase{}
	if err := s.await(ctx, &p, time.Now(), j, clients); err != nil {
		return err
	}
	if !p.recovered {
		return errors.New("waiting for the first right answers: they do not come; see above")
	}
	return nil
}

func (s *scene) experiment(ctx context.Context) (o outcome, err error) {
	o.plan = s.plan
	if o.planted, err = s.plant(ctx); err != nil {
		return o, err
	}
	begin := time.Now()
	j, err := s.asked(ctx, func(ctx context.Context, j *journal, clients []string) error {
		for _, f := range faults() {
			if f.full && !s.plan.Full {
				continue
			}
			during := s.plan.During
			if f.long {
				during = s.plan.Long
			}
			p, err := s.run(ctx, f, during, j, clients)
			if err != nil {
				return err
			}
			o.phases = append(o.phases, p)
		}
		err := fixture.Await(ctx, time.Minute, func(ctx context.Context) error {
			_, _, err := s.scalers.leader(ctx) // the hub was away just now
			return err
		})
		if err == nil {
			o.takeover, err = s.scalers.killLeader(ctx)
		}
		return err
	})
	if err != nil {
		return o, err
	}
	o.entries = j.between(begin, time.Now())
	o.wrong, o.writes, o.deaths = len(s.scalers.wrong(begin)), len(s.scalers.writes(begin)), s.scalers.deaths
	o.drop, o.lowered, err = s.scalers.drop(ctx)
	fmt.Fprintf(s.log, "Another leader decided after %s; %d writes of replicas, %d of them wrong; %d of %d workloads scaled in %s after "+
		"the load dropped\n",
		o.takeover.Round(100*time.Millisecond), o.writes, o.wrong, o.lowered, s.plan.Scalers, o.drop.Round(100*time.Millisecond))
	return o, err
}

func (o outcome) section() report.Section {
	section := report.Section{
		Name: "faults", Title: "Faults under load",
		Text: []string{
			fmt.Sprintf("%d members with 100 Pods each in %d namespaces, two adapters behind a front that passes connections on as a Service "+
				"does, and two controller-managers, all with their default options%s. "+
				"Clients ask without end: through the front, each adapter directly, and through the hub's aggregation; with JSON and protobuf, for "+
				"namespaces and for selectors, for custom and for external metrics; one asks for namespaces that nobody asked for before the fault "+
				"(first lists). Pods come and go meanwhile.",
				o.plan.Members, namespaces, map[bool]string{true: " but a shorter lease"}[len(o.plan.Lease) > 0]),
			"Every answer is judged by what the members really measured. *Wrong* is a value that was not measured, or longer ago than may be " +
				"served (a minute, once there is a newer one), a Pod that does not exist or is there twice, and an answer that cannot be read. " +
				"*Silent partial* is one that lacks Pods of a member which it does not name in both the coverage header and a warning. *Refused* " +
				"are 429, 503 and 504 that say why; *no answer* are connections that broke.",
			judged(o.planted),
			"Latencies are those of lists at the adapters, in as long a time right before the fault, and in that with it; that of a few hundred " +
				"answers is not exact. *All right again* is the last answer that was not the whole, after the fault's end. Memory is that of the " +
				"adapter that is not killed.",
			fmt.Sprintf("%d FederatedHPAs (cpu and memory, in turns), whose replicas are divided among all members, have a load that justifies "+
				"just what there is: a write that leaves fewer is a wrong scale-in. No stabilization window hides it.", o.plan.Scalers),
		},
		Reaches: o.reaches(),
		Tables:  []report.Table{{Header: phaseHeader()}, o.kinds()},
		Figures: map[string][]float64{"takeover_seconds": {o.takeover.Seconds()}, "drop_seconds": {o.drop.Seconds()}},
	}
	for _, p := range o.phases {
		section.Tables[0].Rows = append(section.Tables[0].Rows, p.row())
		section.Figures["p99_ratio/"+p.fault] = []float64{p.ratio(0.99)}
		section.Figures["recovery_seconds/"+p.fault] = []float64{p.recovery.Seconds()}
		section.Figures["heap/"+p.fault], section.Figures["resident/"+p.fault] = []float64{p.memory.heap}, []float64{p.memory.resident}
		section.Figures["latency_before_ms/"+p.fault], section.Figures["latency_during_ms/"+p.fault] = p.before.latencies(), p.during.latencies()
	}
	return section
}

// judged returns what was planted among so many answers: a run in which that was not found ends with an error.
func judged(planted int) string {
	var names []string
	for _, l := range lies() {
		names = append(names, l.name)
	}
	return fmt.Sprintf("The judge is judged first: %d lies among %d answers (%s) were each found out, and so was a scale-in that the "+
		"benchmark wrote itself.",
		rounds*len(lies()), planted, strings.Join(names, "; "))
}

// kinds returns what became of each kind of question, over all phases.
func (o outcome) kinds() report.Table {
	t := report.Table{Title: "All answers", Header: []string{"asked for"}}
	for _, v := range truth.Verdicts() {
		t.Header = append(t.Header, string(v))
	}
	for _, k := range []kind{lists, hubLists, coldLists, figures} {
		row, counts := []string{string(k)}, map[truth.Verdict]int{}
		for _, e := range o.entries {
			if e.kind == k {
				counts[e.Verdict]++
			}
		}
		for _, v := range truth.Verdicts() {
			row = append(row, fmt.Sprint(counts[v]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (o outcome) reaches() []report.Reach {
	slowest, unrecovered := phase{}, ""
	var calm measure.Samples
	for _, p := range o.phases {
		if p.recovery > slowest.recovery {
			slowest = p
		}
		if !p.recovered {
			unrecovered = p.fault
		}
		calm = append(calm, p.before.latencies().Quantile(0.99))
	}
	recovered := report.Reach{What: "all answers right again after each fault", Goal: "yes",
		Measured: "yes, after " + slowest.recovery.Round(100*time.Millisecond).String() + " at most", Met: true}
	if unrecovered != "" {
		recovered.Measured, recovered.Met, recovered.Why = "no", false, unrecovered
	}
	const most = 1.25
	ratio := o.phases[0].ratio(0.99)
	return append(none(o.entries, o.wrong),
		recovered,
		report.Reach{
			What: "p99 of lists at the adapters while one member hangs, by that before", Goal: fmt.Sprintf("≤ %g", most),
			Measured: measure.Short(ratio), Met: ratio <= most,
			Why: missedIf(ratio > most, fmt.Sprintf("without any fault it is %s ms, on a machine that the members, the hub and the judge share",
				calm)),
		},
		report.Reach{What: "workloads scaled in when the load really dropped", Goal: fmt.Sprint(o.plan.Scalers),
			Measured: fmt.Sprintf("%d, within %s", o.lowered, o.drop.Round(time.Second)), Met: o.lowered == o.plan.Scalers},
		report.Reach{What: "a controller-manager decides after the leader was killed", Goal: "≤ 25 s",
			Measured: o.takeover.Round(100 * time.Millisecond).String(), Met: o.takeover <= 25*time.Second},
	)
}

func missedIf(missed bool, why string) string {
	if missed {
		return why
	}
	return ""
}

// none are the figures that have to be zero.
func none(all entries, scaleIns int) []report.Reach {
	zero := func(what string, n int) report.Reach {
		return report.Reach{What: what, Goal: "0", Measured: fmt.Sprintf("%d of %d", n, len(all)), Met: n == 0}
	}
	wrong := report.Reach{What: "wrong scale-ins", Goal: "0", Measured: fmt.Sprint(scaleIns), Met: scaleIns == 0}
	return []report.Reach{zero("wrong answers", all.wrong()), zero("silent partial answers", all.of(truth.Silent)), wrong}
}
