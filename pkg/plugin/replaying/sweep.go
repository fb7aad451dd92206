// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// SweepOptions say which targets are tried.
type SweepOptions struct {
	// Targets are FROM:TO:STEP; empty: none is.
	Targets string
	// Metric is the index of the metric in the spec.
	Metric int
	// Within is for how much of the time, in percent, the use may be above the bound, and Headroom by how many percent maxReplicas is to
	// be more than what was asked for.
	Within, Headroom float64
}

// mostTargets is how many targets are tried.
const mostTargets = 100

func (o *SweepOptions) validate() error {
	switch {
	case o.Metric < 0:
		return fmt.Errorf("--sweep-metric: must be 0 or more, got %d", o.Metric)
	case !(o.Within >= 0 && o.Within <= 100):
		return fmt.Errorf("--within: must be from 0 to 100, got %v", o.Within)
	case !(o.Headroom >= 0 && o.Headroom <= 1000):
		return fmt.Errorf("--headroom: must be from 0 to 1000, got %v", o.Headroom)
	case o.Targets == "":
		return nil
	}
	_, err := targetsOf(o.Targets, true)
	return err
}

// targetsOf are those from the first to the last: in percent, or in milli.
func targetsOf(text string, percent bool) (all []int64, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("--sweep: write FROM:TO:STEP, such as 40:80:5, got %q", text)
	}
	var numbers [3]int64
	for i, part := range parts {
		q, err := resource.ParseQuantity(part)
		if len(part) > 20 || err != nil {
			return nil, fmt.Errorf("--sweep: %q is no number", part)
		}
		if numbers[i] = q.MilliValue(); percent {
			numbers[i] = q.Value()
		}
	}
	from, to, step := numbers[0], numbers[1], numbers[2]
	if from < 1 || step < 1 || to < from || (to-from)/step >= mostTargets {
		return nil, fmt.Errorf("--sweep: from 1 on up, and %d targets at most, got %q", mostTargets, text)
	}
	for target := from; target <= to; target += step {
		all = append(all, target)
	}
	return all, nil
}

// sweepReport is what programs get.
type sweepReport struct {
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Metric    int            `json:"metric"`
	Above     int64          `json:"above"`
	Was       sums           `json:"was"`
	Targets   []trial        `json:"targets"`
	Advice    *replay.Advice `json:"advice,omitempty"`
	// Why is why there is no advice.
	Why string `json:"why,omitempty"`
	// percent: targets are of a utilization, and in milli otherwise.
	percent bool
	seconds float64
}

type trial struct {
	Target int64 `json:"target"`
	Would  sums  `json:"would"`
}

func (o *Options) sweep(w io.Writer, l *loaded, run replay.Options) error {
	metrics := l.records[len(l.records)-1].Spec.Metrics
	if o.Sweep.Metric >= len(metrics) {
		return fmt.Errorf("--sweep-metric: spec.metrics has %d", len(metrics))
	}
	target := replicas.TargetOf(&metrics[o.Sweep.Metric])
	percent := target != nil && target.AverageUtilization != nil
	targets, err := targetsOf(o.Sweep.Targets, percent)
	if err != nil {
		return err
	}
	before, err := replay.Run(l.records, replay.Options{CutOff: o.CutOff})
	if err != nil {
		return err
	}
	wish := replay.Wish{Above: bound(o.Above, before.OfRequests), For: o.Sweep.Within / 100, Headroom: o.Sweep.Headroom / 100}
	trials, err := replay.Sweep(l.records, run, o.Sweep.Metric, targets, wish)
	if err != nil {
		return fmt.Errorf("FederatedHPA %s/%s: %w", l.Namespace, l.Name, err)
	}
	s := before.Summarize(wish.Above)
	r := &sweepReport{Namespace: l.Namespace, Name: l.Name, Metric: o.Sweep.Metric, Above: wish.Above, Was: newSums(s.Was), percent: percent,
		seconds: s.Lasts.Seconds()}
	for _, t := range trials {
		r.Targets = append(r.Targets, trial{t.Target, newSums(t.Would)})
	}
	if r.Advice, err = replay.Advise(trials, wish); err != nil {
		r.Why = err.Error()
	}
	if o.Format == "json" {
		return plugin.Encode(w, o.Format, r)
	}
	_, err = io.WriteString(w, fleet.PrintableLines(r.text(o)))
	return err
}

func (r *sweepReport) text(o *Options) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "FederatedHPA %s/%s, spec.metrics[%d], over %.1f h\n\n", r.Namespace, r.Name, r.Metric, r.seconds/3600)
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(t, "TARGET\tPOD-HOURS\tREPLICAS\tASKED\tCHANGES\tABOVE %d %%\tAT MAX\t\n", r.Above)
	row := func(name string, s *sums) {
		_, _ = fmt.Fprintf(t, "%s\t%.1f%s\t%d-%d\t%d-%d\t%d\t%s\t%s\t\n", name, s.PodHours, change(r.Was.PodHours, s.PodHours), s.Least, s.Most,
			s.LeastAsked, s.MostAsked, s.Ups+s.Downs, lasting(s.Above), lasting(s.AtMax))
	}
	row("as it was", &r.Was)
	for i := range r.Targets {
		row(r.target(r.Targets[i].Target), &r.Targets[i].Would)
	}
	_ = t.Flush()
	if r.Advice == nil {
		fmt.Fprintf(b, "\nno advice: %s\n", r.Why)
		return b.String()
	}
	fmt.Fprintf(b, "\nadvice: a target of %s, minReplicas %d, maxReplicas %d: the fewest Pod-hours with the use above %d %% for no more "+
		"than %v %% of the time, and %v %% more than was asked for at most\n",
		r.target(r.Advice.Target), r.Advice.MinReplicas, r.Advice.MaxReplicas, r.Above, o.Sweep.Within, o.Sweep.Headroom)
	return b.String()
}

func (r *sweepReport) target(n int64) string {
	if r.percent {
		return strconv.FormatInt(n, 10) + " %"
	}
	return resource.NewMilliQuantity(n, resource.DecimalSI).String()
}
