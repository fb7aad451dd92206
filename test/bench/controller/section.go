// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
)

const mib = 1 << 20

// onTime is how many sync periods may go by from one decision to the next, for 99 of 100.
const onTime = 1.1

func section(p plan, all []*outcome) report.Section {
	s := report.Section{
		Name: "controllers", Title: "Controllers of autoscalers",
		Text:    text(p),
		Tables:  []report.Table{paces(p, all), costs(all), rates(all), changes(all)},
		Plots:   []report.Plot{plot(all)},
		Figures: map[string][]float64{},
	}
	for _, o := range all {
		s.Reaches = append(s.Reaches, o.reaches(p)...)
		o.figures(s.Figures)
	}
	return s
}

func text(p plan) []string {
	usual := "both sides' default options"
	if p.Period != usualPeriod {
		usual = fmt.Sprintf("both sides' default options, but for a sync period of %s, for a shorter run", p.Period)
	}
	return []string{
		fmt.Sprintf("FederatedHPAs (central mode, cpu utilization) on a hub, over %d members, beside as many HorizontalPodAutoscalers of "+
			"Kubernetes' own controller (kube-controller-manager with that controller alone) in one cluster. "+
			"Each has a workload of its own; %d are in a namespace. Both sides have %d Pods in all, of all sizes.", members, together, p.Pods),
		"Either controller reads and writes `/scale` of one workload in one API server: ours that of the template on the hub, which somebody " +
			"else propagates, as on Karmada. All API servers are the same simulation, the hub too, so that both wait for the same; what its " +
			"answers cost is not counted. " +
			"The hub passes questions for metrics on to our adapter, as a hub does, and its CPU counts. The cluster's metrics are the " +
			"simulation's: what its metrics-server costs, which reads all kubelets, does not count.",
		"A decision is one that the controller itself counts as done without an error (`reconciliations_total`). The time between two is that " +
			"between two reads of a workload's scale. CPU is that of the processes; ratios are those of the same period, or of the same round.",
		"At rest: " + usual + ". Usage changes with each measurement, within the tolerance, so most decisions write a status. Upstream's " +
			"client is limited to 20 requests per second by default, and each decision needs one for the scale and one for the metrics; it is " +
			"measured again without that limit, which our controller does not have.",
		fmt.Sprintf("Saturated: the sync period is so short that %d decisions per second are called for, %d are under way at a time, and "+
			"clients have no limits. One side stands still while the other is measured. Simulation and controller share the machine, so that "+
			"these are ratios, and no limits.", demanded, parallel),
		"Load: at one moment all Pods use twice as much, as measured from each cluster's next measurement on, and all workloads should grow " +
			"to their maxReplicas. A workload that has another number of replicas than it should, before or afterwards, is wrong.",
	}
}

// measured is one row of what was measured at rest.
type measured struct {
	name string
	pace *pace
}

func (o *outcome) rows() []measured {
	return []measured{{ours, o.Rest[ours]}, {upstream + ", limited by default", o.Default[upstream]},
		{upstream + ", without limits", o.Rest[upstream]}}
}

func paces(p plan, all []*outcome) report.Table {
	t := report.Table{Title: "At rest: pace", Header: []string{"autoscalers", "Pods of each", "controller", "decisions per second called for",
		"made", "decided at all", "seconds between two decisions, p50", "p99", "with an error"}}
	for _, o := range all {
		for _, r := range o.rows() {
			t.Rows = append(t.Rows, []string{
				fmt.Sprint(o.Autoscalers), fmt.Sprint(o.Replicas), r.name, measure.Short(float64(o.Autoscalers) / p.Period.Seconds()),
				r.pace.samples(effort.perSecond).String(), fmt.Sprint(r.pace.Decided), o.every(r.pace, 0.5), o.every(r.pace, 0.99),
				fmt.Sprint(r.pace.faulty()),
			})
		}
	}
	return t
}

// every is a quantile of the seconds between two decisions. Where most autoscalers had none, it follows from how many there are in a
// second.
func (o *outcome) every(p *pace, share float64) string {
	if len(p.Between) < o.Autoscalers {
		return fmt.Sprintf("about %s", measure.Short(float64(o.Autoscalers)/p.samples(effort.perSecond).Median()))
	}
	return measure.Short(p.Between.Quantile(share))
}

func (p *pace) faulty() (n int) {
	for _, e := range p.Efforts {
		n += int(e.Faulty)
	}
	return n
}

func costs(all []*outcome) report.Table {
	t := report.Table{Title: "At rest, without limits: cost", Header: []string{
		"autoscalers", "controller", "CPU of a decision, ms", "of upstream's", "cores", "requests of a decision", "to members", "heap, MiB",
		"resident, MiB",
	}}
	for _, o := range all {
		peer := o.Rest[upstream].samples(whole)
		row := func(name string, p *pace, cpu func(effort) float64, cores func(effort) float64, requests, others string, heap, resident float64) {
			t.Rows = append(t.Rows, []string{
				fmt.Sprint(o.Autoscalers), name, p.samples(cpu).String(), p.samples(cpu).Over(peer).String(), p.samples(cores).String(),
				requests, others, measure.Short(heap / mib), measure.Short(resident / mib),
			})
		}
		mine, theirs, f := o.Rest[ours], o.Rest[upstream], o.Footprints
		asked := func(p *pace) string {
			return p.samples(func(e effort) float64 { return e.Requests / e.Decisions }).String()
		}
		row(ours+": controller-manager", mine, of(0), coresOf(0), asked(mine), "", f[ours].heap[0], f[ours].resident[0])
		row(ours+": metrics-adapter", mine, of(1), coresOf(1), "",
			mine.samples(func(e effort) float64 { return e.Others / e.Decisions }).String(), f[ours].heap[1], f[ours].resident[1])
		row(ours+": both", mine, whole, effort.cores, "", "", f[ours].heap[0]+f[ours].heap[1], f[ours].resident[0]+f[ours].resident[1])
		row(upstream, theirs, whole, effort.cores, asked(theirs), "", f[upstream].heap[0], f[upstream].resident[0])
	}
	return t
}

func of(program int) func(effort) float64 { return func(e effort) float64 { return e.cost(program) } }

func whole(e effort) float64 { return e.cost(-1) }

func coresOf(program int) func(effort) float64 {
	return func(e effort) float64 { return e.CPU[program] / e.Seconds }
}

func rates(all []*outcome) report.Table {
	t := report.Table{Title: "Saturated", Header: []string{"autoscalers", "controller", "decisions per second", "of upstream's",
		"CPU of a decision, ms", "of upstream's", "of the controller alone", "of upstream's", "cores"}}
	for _, o := range all {
		peer := o.busy(upstream)
		for _, name := range []string{ours, upstream} {
			p := o.busy(name)
			alone := p.samples(of(0))
			t.Rows = append(t.Rows, []string{
				fmt.Sprint(o.Autoscalers), name, p.samples(effort.perSecond).String(),
				p.samples(effort.perSecond).Over(peer.samples(effort.perSecond)).String(),
				p.samples(whole).String(), p.samples(whole).Over(peer.samples(whole)).String(),
				alone.String(), alone.Over(peer.samples(whole)).String(), p.samples(effort.cores).String(),
			})
		}
	}
	return t
}

func (o *outcome) busy(side string) *pace { return &pace{Efforts: o.Saturated[side]} }

func changes(all []*outcome) report.Table {
	t := report.Table{Title: "Load", Header: []string{"autoscalers", "replicas of each, from", "to", "controller",
		"seconds until all were scaled", "wrong"}}
	for _, o := range all {
		for _, name := range []string{ours, upstream} {
			c := o.Changed[name]
			t.Rows = append(t.Rows, []string{fmt.Sprint(o.Autoscalers), fmt.Sprint(o.Replicas), fmt.Sprint(o.Scaled), name, measure.Short(c.Seconds),
				fmt.Sprint(c.Wrong)})
		}
	}
	return t
}

func plot(all []*outcome) report.Plot {
	p := report.Plot{Plot: chart.Plot{Title: "Decisions, saturated", X: "autoscalers", Y: "decisions per second"}, Peers: true}
	for _, name := range []string{ours, upstream} {
		line := chart.Series{Name: name}
		for _, o := range all {
			line.Points = append(line.Points, o.busy(name).samples(effort.perSecond).Point(float64(o.Autoscalers)))
		}
		p.Series = append(p.Series, line)
	}
	return p
}

func (o *outcome) reaches(p plan) []report.Reach {
	mine, peer := o.Rest[ours], o.Rest[upstream].samples(whole)
	busy := o.busy(ours).samples(effort.perSecond).Over(o.busy(upstream).samples(effort.perSecond))
	alone, both := mine.samples(of(0)).Over(peer), mine.samples(whole).Over(peer)
	late := mine.Between.Quantile(0.99)
	title := func(what string) string { return fmt.Sprintf("%d autoscalers: %s", o.Autoscalers, what) }
	return []report.Reach{
		{What: title("each decided once in a sync period, by default options"),
			Goal:     fmt.Sprintf("all, p99 ≤ %s", (time.Duration(onTime * float64(p.Period)))),
			Measured: fmt.Sprintf("%d, p99 %s s", mine.Decided, measure.Short(late)), Met: mine.Decided == o.Autoscalers &&
				late <= onTime*p.Period.Seconds(), Why: o.crowded()},
		{What: title("decisions per second, saturated, of upstream's"), Goal: "≥ 1", Measured: busy.String(), Met: busy.Median() >= 1,
			Why: slower},
		{What: title("CPU of a decision, of upstream's: the controller"), Goal: "≤ 1", Measured: alone.String(), Met: alone.Median() <= 1,
			Why: dearer},
		{What: title("CPU of a decision, of upstream's: with the adapter"), Goal: "≤ 1", Measured: both.String(), Met: both.Median() <= 1,
			Why: asWell},
		{What: title("workloads that are wrong, before and after the load's change"), Goal: "0", Measured: fmt.Sprint(o.Changed[ours].Wrong),
			Met: o.Changed[ours].Wrong == 0, Why: "some were not scaled in time, or to another number"},
	}
}

// crowded returns how upstream does at the same time.
func (o *outcome) crowded() string {
	return fmt.Sprintf("two cores are shared with upstream's controller and the simulation; upstream's p99 without limits is %s s",
		o.every(o.Rest[upstream], 0.99))
}

var (
	dearer = fmt.Sprintf("a decision is about %d clusters: as many lists of Pods, and a status that says of each how it is; and the kind "+
		"is a custom resource, read and written in JSON, where upstream's is in protobuf", members)
	slower = "two cores are shared with the simulation, and a decision has one more hop: the hub passes the question for metrics on to the " +
		"adapter, where upstream's cluster answers by itself"
	asWell = "the adapter reads all Pods of all members once a period, for which upstream has metrics-servers, which do not count; its " +
		"part is the greater the fewer decisions share it, and that of the controller the more clusters share few Pods"
)

// figures adds all samples.
func (o *outcome) figures(into map[string][]float64) {
	add := func(what, side string, p *pace) {
		name := func(figure string) string {
			return fmt.Sprintf("%s/%s/autoscalers=%d/%s", what, strings.ReplaceAll(side, " ", "-"), o.Autoscalers, figure)
		}
		into[name("per_second")] = p.samples(effort.perSecond)
		into[name("cpu_ms")] = p.samples(whole)
		into[name("controller_cpu_ms")] = p.samples(of(0))
		into[name("cores")] = p.samples(effort.cores)
		into[name("requests")] = p.samples(func(e effort) float64 { return e.Requests / e.Decisions })
		if len(p.Between) > 0 {
			into[name("between_seconds_p50_p99")] = []float64{p.Between.Quantile(0.5), p.Between.Quantile(0.99)}
		}
	}
	for _, name := range []string{ours, upstream} {
		add("default", name, o.Default[name])
		add("rest", name, o.Rest[name])
		add("saturated", name, o.busy(name))
		into[fmt.Sprintf("heap_bytes/%s/autoscalers=%d", name, o.Autoscalers)] = o.Footprints[name].heap
		into[fmt.Sprintf("resident_bytes/%s/autoscalers=%d", name, o.Autoscalers)] = o.Footprints[name].resident
		into[fmt.Sprintf("scaled_seconds/%s/autoscalers=%d", name, o.Autoscalers)] = []float64{o.Changed[name].Seconds}
		into[fmt.Sprintf("wrong/%s/autoscalers=%d", name, o.Autoscalers)] = []float64{float64(o.Changed[name].Wrong)}
	}
}
