// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// SweepOptions say which targets are tried.
type SweepOptions struct {
	// Targets are FROM:TO:STEP; empty: none is.
	Targets string
	// Metric is the index of the metric in the spec, and Field, of sizes, the field whose values are tried.
	Metric int
	Field  replay.SizeField
	// Within is for how much of the time, in percent, the use may be above the bound, and Headroom by how many percent maxReplicas is to
	// be more than what was asked for.
	Within, Headroom float64
	// Wished: the headroom was given. Without Targets it is what is wanted: then the bound of the use leaves as much, the bounds of the
	// replicas hold nothing, and the usual targets are tried. Of sizes, it is between what is used and what is requested.
	Wished bool
}

// forRoom: a headroom is all that is wanted.
func (o *SweepOptions) forRoom() bool { return o.Wished && o.Targets == "" }

// usualTargets are tried of a utilization.
const usualTargets = "10:95:5"

// mostTargets is how many targets are tried.
const mostTargets = 100

func (o *SweepOptions) validate() error {
	switch {
	case o.Metric < 0:
		return fmt.Errorf("--sweep-metric: must be 0 or more, got %d", o.Metric)
	case o.Field != "" && !slices.Contains(replay.SizeFields(), o.Field):
		return fmt.Errorf("--sweep-field: must be one of %v, got %q", replay.SizeFields(), o.Field)
	case !(o.Within >= 0 && o.Within <= 100):
		return fmt.Errorf("--within: must be from 0 to 100, got %v", o.Within)
	case !(o.Headroom >= 0 && o.Headroom <= 1000):
		return fmt.Errorf("--headroom: must be from 0 to 1000, got %v", o.Headroom)
	case o.Targets == "":
		return nil
	}
	_, err := targetsOf(o.Targets, true, 0)
	return err
}

// targetsOf are those from the first to the last, which is the least or more: in percent, or in milli.
func targetsOf(text string, percent bool, least int64) (all []int64, err error) {
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
	if from < least || step < 1 || to < from || (to-from)/step >= mostTargets {
		return nil, fmt.Errorf("--sweep: from %d on up, and %d targets at most, got %q", least, mostTargets, text)
	}
	for target := from; target <= to; target += step {
		all = append(all, target)
	}
	return all, nil
}

// sweepReport is what programs get.
type sweepReport struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Metric    int     `json:"metric"`
	Above     int64   `json:"above"`
	Headroom  float64 `json:"headroomPercent"`
	Within    float64 `json:"withinPercent"`
	Was       sums    `json:"was"`
	Targets   []trial `json:"targets"`
	// Seconds is for how long decisions were recorded, and Unknown for how long the load is not known, by the reason.
	Seconds float64                    `json:"seconds"`
	Unknown map[replay.Unknown]float64 `json:"unknownSeconds,omitempty"`
	Advice  *replay.Advice             `json:"advice,omitempty"`
	// Why is why there is no advice.
	Why string `json:"why,omitempty"`
	// percent: targets are of a utilization, and in milli otherwise; kept: no other was tried, as what a Pod can do is not known.
	percent, kept bool
}

type trial struct {
	Target int64 `json:"target"`
	Would  sums  `json:"would"`
}

func (o *Options) sweep(w io.Writer, l *loaded, run replay.Options) error {
	r, err := o.swept(l, run)
	if err != nil {
		return err
	}
	return o.writeSheet(w, r, r.sheet(), r.pictures)
}

// swept are the trials, and what they lead to.
func (o *Options) swept(l *loaded, run replay.Options) (*sweepReport, error) {
	if l.records[0].Split != nil {
		return nil, errors.New("--sweep, --headroom: targets are tried for decisions in central mode; in distributed mode give --set")
	}
	metrics := l.records[len(l.records)-1].Spec.Metrics
	if o.Sweep.Metric >= len(metrics) {
		return nil, fmt.Errorf("--sweep-metric: spec.metrics has %d", len(metrics))
	}
	target := v1alpha1.TargetOf(&metrics[o.Sweep.Metric])
	r := &sweepReport{
		Namespace: l.Namespace, Name: l.Name, Metric: o.Sweep.Metric, Headroom: o.Sweep.Headroom, Within: o.Sweep.Within,
		percent: target != nil && target.AverageUtilization != nil, Unknown: map[replay.Unknown]float64{},
	}
	targets, err := o.targets(r, target)
	if err != nil {
		return nil, err
	}
	before, err := replay.Run(l.records, replay.Options{CutOff: o.CutOff})
	if err != nil {
		return nil, err
	}
	wish := replay.Wish{Above: o.bound(before.OfRequests), For: o.Sweep.Within / 100, Headroom: o.Sweep.Headroom / 100}
	if r.kept {
		wish.For = 1
	}
	if o.Sweep.forRoom() {
		run.Change = free(run.Change)
	}
	trials, err := replay.Sweep(l.records, run, o.Sweep.Metric, targets, wish)
	if err != nil {
		return nil, fmt.Errorf("FederatedHPA %s/%s: %w", l.Namespace, l.Name, err)
	}
	s := before.Summarize(wish.Above)
	r.Above, r.Was, r.Seconds = wish.Above, newSums(s.Was), s.Lasts.Seconds()
	for _, t := range trials {
		r.Targets = append(r.Targets, trial{t.Target, newSums(t.Would)})
		longest(r.Unknown, t.Unknown)
	}
	if r.Advice, err = replay.Advise(trials, wish); err != nil {
		r.Why = err.Error()
	}
	return r, nil
}

// longest has each reason last as long as in any trial.
func longest(all map[replay.Unknown]float64, of map[replay.Unknown]time.Duration) {
	for reason, lasts := range of {
		all[reason] = max(all[reason], lasts.Seconds())
	}
}

// targets are those to try. Where only a headroom is wished, these are the usual ones of a utilization; of what others are of, nobody knows
// how much a Pod can do, so that the target stays.
func (o *Options) targets(r *sweepReport, target *autoscalingv2.MetricTarget) ([]int64, error) {
	switch {
	case o.Sweep.Targets != "":
		return targetsOf(o.Sweep.Targets, r.percent, 1)
	case r.percent:
		return targetsOf(usualTargets, true, 1)
	}
	r.kept = true
	switch {
	case target != nil && target.AverageValue != nil:
		return []int64{target.AverageValue.MilliValue()}, nil
	case target != nil && target.Value != nil:
		return []int64{target.Value.MilliValue()}, nil
	}
	return nil, fmt.Errorf("spec.metrics[%d] has no target", o.Sweep.Metric)
}

// bound is that of the use. A headroom is what the use may rise by until the Pods use all that they request.
func (o *Options) bound(ofRequests bool) int64 {
	if o.Above == 0 && o.Sweep.forRoom() && ofRequests {
		return int64(100 / (1 + o.Sweep.Headroom/100))
	}
	return bound(o.Above, ofRequests)
}

// free has the bounds of the replicas hold nothing, after another change.
func free(change changeOf) changeOf {
	return func(spec *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
		if change != nil {
			var err error
			if spec, err = change(spec); err != nil {
				return nil, err
			}
		}
		return replay.Free(spec), nil
	}
}

type changeOf = func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error)

// subject says what was tried.
func (r *sweepReport) subject() string {
	return fmt.Sprintf("spec.metrics[%d], over %.1f h", r.Metric, r.Seconds/3600)
}

func (r *sweepReport) head() []string {
	return []string{"TARGET", "POD-HOURS", "REPLICAS", "ASKED", "CHANGES", fmt.Sprintf("ABOVE %d %%", r.Above), "AT MAX"}
}

func (r *sweepReport) table() [][]string {
	row := func(name string, s *sums) []string {
		return []string{
			name, fmt.Sprintf("%.1f%s", s.PodHours, change(r.Was.PodHours, s.PodHours)), fmt.Sprintf("%d-%d", s.Least, s.Most),
			fmt.Sprintf("%d-%d", s.LeastAsked, s.MostAsked), strconv.Itoa(s.Ups + s.Downs), lasting(s.Above), lasting(s.AtMax),
		}
	}
	all := [][]string{row("as it was", &r.Was)}
	for i := range r.Targets {
		all = append(all, row(r.target(r.Targets[i].Target), &r.Targets[i].Would))
	}
	return all
}

func (r *sweepReport) sheet() *sheet {
	return &sheet{
		Title: "FederatedHPA " + r.Namespace + "/" + r.Name, Notes: []string{r.subject()}, Head: r.head(), Rows: r.table(),
		Unknown: unknownsOf(r.Unknown, because), Advice: r.advised(), Assuming: assumption,
	}
}

// advised says what to set, and how far that can be trusted.
func (r *sweepReport) advised() string {
	if r.Advice == nil {
		return "no advice: " + r.Why
	}
	a, b := r.Advice, &strings.Builder{}
	fmt.Fprintf(b, "advice: a target of %s, minReplicas %d, maxReplicas %d: ", r.target(a.Target), a.MinReplicas, a.MaxReplicas)
	if r.kept {
		b.WriteString("the target as it is, as what a Pod can do is not known where no target is a utilization (--sweep, --above)")
	} else {
		fmt.Fprintf(b, "the fewest Pod-hours with the use above %d %% for no more than %v %% of the time", r.Above, r.Within)
	}
	fmt.Fprintf(b, ", and %v %% more than was asked for at most", r.Headroom)
	if a.AtLeast {
		b.WriteString("\nat least that: some of the load is not known, and may need more")
	}
	return b.String()
}

func (r *sweepReport) target(n int64) string {
	if r.percent {
		return digits(n) + " %"
	}
	return resource.NewMilliQuantity(n, resource.DecimalSI).String()
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }
