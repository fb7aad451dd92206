// SPDX-License-Identifier: Apache-2.0

package series

import (
	"errors"
	"fmt"
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

const (
	// anySelector stands for that of the workload, whose Pods were counted already.
	anySelector = "fleetscale.io/recorded=true"
	// pause is for how long nobody may have told of an autoscaler without what it was told meanwhile being taken for another's doing.
	pause = 10 * time.Minute
	// mostLate is how long after it was made a decision is told of at most, where there are no gaps.
	mostLate = 2 * time.Minute
	// mostUnseen is how many clusters that cannot be seen are told apart: they have no names here.
	mostUnseen = 100
)

// Of is what series do not tell of the autoscaler that they are of.
type Of struct {
	Object recording.Object
	// Spec is the present one, with its defaults. The series tell what its bounds and targets were.
	Spec *v1alpha1.FederatedHPASpec
	// Options are the present ones of the controller-manager.
	Options replicas.Options
}

// Records are those of the decisions that the moments tell of, which are in the order of time. Nothing is decided while an autoscaler is
// paused, or in distributed mode.
func Records(of Of, moments []Moment) []*recording.Record {
	r := &reader{Of: of, names: summary.Amounts(of.Spec.Metrics, nil)}
	made := decisions(moments)
	all := make([]*recording.Record, 0, len(made))
	for i := range made {
		var next *decision
		if i+1 < len(made) && made[i+1].when.Sub(made[i].when) <= pause {
			next = &made[i+1]
		}
		all = append(all, r.record(&made[i], next))
	}
	return all
}

// decision is a moment in whole numbers.
type decision struct {
	*Moment

	// when it was made; while an autoscaler is at rest its status is not written, and a later moment stands for a decision of then.
	when                       time.Time
	min, max, current, desired int32
}

// again is the decision as it is seen at another time.
func (d *decision) again(at time.Time) decision {
	m, seen := *d.Moment, *d
	m.at, seen.Moment, seen.when = at, &m, at
	return seen
}

// wholeOf is a moment in whole numbers; false: it tells of no decision.
func wholeOf(m *Moment) (d decision, tells bool) {
	d = decision{Moment: m, when: m.at}
	return d, m.mode != v1alpha1.ModePaused && !m.split && whole32(&d.min, m.min) && whole32(&d.max, m.max) &&
		whole32(&d.current, m.current) && whole32(&d.desired, m.desired)
}

// looks are what was seen so far: decisions, each once.
type looks struct {
	all []decision
	// dates are who tells when it decided, and late is how much later that is told; 0: it is not known yet.
	dates map[string]bool
	late  time.Duration
}

// decisions are those that the moments tell of.
func decisions(moments []Moment) []decision {
	l := looks{dates: map[string]bool{}}
	for i := range moments {
		if d, tells := wholeOf(&moments[i]); tells {
			l.see(d)
		}
	}
	return l.all
}

// see takes what is seen later than the others.
func (l *looks) see(d decision) {
	dated, last := !seconds(d.decided).IsZero(), len(l.all)-1
	if l.dates[d.from] = l.dates[d.from] || dated; l.dates[d.from] && !dated { // by this spec nothing was decided yet
		if last < 0 || d.current != l.all[last].current || d.desired != l.all[last].desired {
			return
		}
		d = l.all[last].again(d.at)
	}
	if last < 0 || l.follows(&d) {
		l.all = append(l.all, d)
	}
}

// follows finds when a decision was made that follows others, and reports whether it is one more.
func (l *looks) follows(d *decision) bool {
	last, decided := &l.all[len(l.all)-1], seconds(d.decided)
	switch {
	case !d.at.After(last.when):
		return false
	case d.decided == last.decided && d.current != d.desired:
		return false // it is asked for twice, and was decided once
	case d.decided == last.decided:
		d.when = d.at.Add(-l.late)
		return d.when.After(last.when) // what has been decided since is told of later
	case !decided.IsZero() && decided.Before(d.at):
		if l.late == 0 {
			l.all = earlier(l.all, d.at.Sub(decided))
		}
		l.late = min(d.at.Sub(decided), mostLate)
		l.all, d.when = until(l.all, decided, d.at)
	}
	return true
}

// earlier are decisions of which those that stand for ones of before are told of that much later than they were made.
func earlier(all []decision, by time.Duration) []decision {
	var kept []decision
	for i, d := range all {
		if i > 0 && d.decided == all[i-1].decided {
			if d.when = d.when.Add(-by); !d.when.After(kept[len(kept)-1].when) {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// until are those before a decision that was made at one time and told of at another one, and when it counts from. Until it is told of, the
// one before is, again and again; what was read of that after the other was made is none. One that counts from when it was scraped counts
// from when it was made, and if nobody knows when that was it is none.
func until(all []decision, made, told time.Time) (before []decision, when time.Time) {
	n := len(all)
	for n > 0 && !all[n-1].when.Before(made) && (seconds(all[n-1].decided).IsZero() || n > 1 && all[n-1].decided == all[n-2].decided) {
		n--
	}
	if all = all[:n]; n == 0 {
		return all, made
	}
	last := &all[n-1]
	if own := seconds(last.decided); !own.IsZero() && !last.when.Before(made) && own.Before(made) && (n == 1 || own.After(all[n-2].when)) {
		last.when = own
	}
	if !made.After(last.when) {
		return all, told
	}
	return all, made
}

// reader is what is known between two decisions.
type reader struct {
	Of
	names []summary.Amount
	// spec is of the last decision, the number of which is its generation.
	spec   *v1alpha1.FederatedHPASpec
	number int64
	state  replicas.State
	status autoscalingv2.HorizontalPodAutoscalerStatus
}

func (r *reader) record(d, next *decision) *recording.Record {
	q := r.question(d)
	made := replicas.Decide(q)
	record := recording.New(r.Object, r.spec, &q, &made)
	record.Decided = d.desired
	for i := range q.Clusters {
		facts := recording.Facts{}
		if i < len(d.clusters) {
			facts.Ready = optional(d.clusters[i].ready)
		}
		record.Facts = append(record.Facts, facts)
	}
	record.After = d.desired
	if next != nil {
		record.After = next.current // also what was decided in between, of which nobody tells
	}
	switch made.Replicas = d.desired; {
	case d.mode == v1alpha1.ModeObserve:
		record.Outcome, record.After = recording.Observed, d.current
		made = made.Observed()
	case record.After != d.current:
		record.Outcome, made.Replicas = recording.Scaled, record.After
		made = made.Scaled(q.Now)
	case d.desired != d.current:
		record.Outcome = recording.Refused
		made = made.Refused(q.Now, errors.New("it was not written"))
	}
	r.state, r.status = made.State, made.Status
	return record
}

func (r *reader) question(d *decision) replicas.Question {
	r.spec, r.number = r.specOf(d)
	q := replicas.Question{
		Namespace: r.Object.Namespace, Generation: r.number, Spec: r.spec.HorizontalPodAutoscalerSpec, Status: r.status, State: r.state,
		Scale:   replicas.Scale{Replicas: d.current, StatusReplicas: d.current, Selector: anySelector},
		Options: r.Options, Now: d.when,
	}
	for _, c := range d.clusters {
		q.Clusters = append(q.Clusters, replicas.Cluster{Name: c.name, Assigned: optional(c.assigned), Replicas: optional(c.current)})
	}
	if d.current == 0 { // whether it was switched off is not known
		q.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionTrue}}
	}
	metrics, told := r.metrics(d)
	if !told {
		return q
	}
	q.Metrics = metrics
	for i := range int(min(d.unseen, mostUnseen)) {
		q.Clusters = append(q.Clusters, replicas.Cluster{
			Name: fmt.Sprintf("unnamed-%d", i), Silent: &fleet.Silence{Reason: fleet.ReasonUnreachable},
		})
	}
	if n := int32(0); whole32(&n, d.wholeTimes) {
		q.Copies = int(n)
	}
	return q
}

// specOf is the present spec, with the bounds and targets as they were, and how many there were by then.
func (r *reader) specOf(d *decision) (*v1alpha1.FederatedHPASpec, int64) {
	spec := r.spec
	if spec == nil {
		spec = r.Spec
	}
	now := spec.DeepCopy()
	if d.min != 1 || now.MinReplicas != nil {
		now.MinReplicas = &d.min
	}
	now.MaxReplicas = d.max
	changed := r.spec == nil || now.MaxReplicas != spec.MaxReplicas || ptr.Deref(now.MinReplicas, 1) != ptr.Deref(spec.MinReplicas, 1)
	for i := range min(len(now.Metrics), len(d.metrics)) {
		if retarget(v1alpha1.TargetOf(&now.Metrics[i]), d.metrics[i].target) {
			changed = true
		}
	}
	if !changed {
		return r.spec, r.number
	}
	return now, r.number + 1
}

// metrics are what those of the spec were told; false: not all of that is known.
func (r *reader) metrics(d *decision) ([]replicas.Metric, bool) {
	n := int32(0)
	if !whole32(&n, d.unseen) || len(d.metrics) != len(r.spec.Metrics) {
		return nil, false
	}
	all := make([]replicas.Metric, len(d.metrics))
	for i := range d.metrics {
		if d.metrics[i].name != r.names[i].Name {
			return nil, false // the spec had another one then
		}
		if all[i].Told = d.metrics[i].read(replicas.RuleOf(&r.spec.Metrics[i])); all[i].Told == nil {
			return nil, false
		}
	}
	return all, true
}

// read is what a metric with that rule was told; nil: it is not known, or is of another rule.
func (m *metric) read(rule replicas.Rule) *replicas.Told {
	t, left, known := &replicas.Told{}, m.told, true
	Tell(rule, t, func(k Kind, _ int64) int64 {
		n, most := math.Round(left[k]), float64(math.MaxInt32)
		if k.IsAmount() {
			n, most = math.Round(left[k]*1000), 1<<62
		}
		left[k] = math.NaN()
		if !(math.Abs(n) <= most) {
			known = false
			return 0
		}
		return int64(n)
	})
	for _, n := range left {
		known = known && math.IsNaN(n)
	}
	if !known {
		return nil
	}
	return t
}
