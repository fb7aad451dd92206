// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// Options say how a record is replayed.
type Options struct {
	// Change returns the other spec, for one that decisions were made by; nil: it stays.
	Change func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error)
	// ChangeSizes is the same of decisions on sizes.
	ChangeSizes func(*v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error)
	// CutOff is from which use of their requests, in percent, Pods are taken to be at their limit; 0: never.
	CutOff int64
	// Headroom is by which part of it what is used has to be less than what is requested, or it counts as above; of decisions on sizes.
	Headroom float64
}

// Gap is for how long replicas are taken to have run on where no decision follows.
const Gap = 10 * time.Minute

// Unknown is why the load at some time is not known.
type Unknown string

// The reasons, in the order in which they count.
const (
	// NotTold: the decision was made without metrics, or its sums do not tell what the other spec asks for.
	NotTold Unknown = "NotTold"
	// Capacity: the other spec splits by what clusters can host, and that was not asked.
	Capacity Unknown = "Capacity"
	// Elsewhere: clusters would run the workload that did not, or the other way round, and nobody knows where the load would arrive.
	Elsewhere Unknown = "Elsewhere"
	// Unusable: no metric could be used.
	Unusable Unknown = "Unusable"
	// Unseen: clusters could not be seen.
	Unseen Unknown = "Unseen"
	// CutOff: the Pods used all that they may, or an autoscaler wanted more than its maximum, and its metrics do not say how many.
	CutOff Unknown = "CutOff"
	// NotRecorded: no decision was, for longer than replicas are taken to run on.
	NotRecorded Unknown = "NotRecorded"
)

// Reasons are all of them, in that order.
var Reasons = []Unknown{NotTold, Capacity, Elsewhere, Unusable, Unseen, CutOff, NotRecorded}

// Point is one decision, as it was and as it would be.
type Point struct {
	At         time.Time `json:"at"`
	Was, Would Side
	// Unknown is why the load is not known; empty: it is.
	Unknown Unknown `json:"unknown,omitempty"`
	// Clusters are those that the decision is of, in name order; decisions on sizes have none.
	Clusters []ClusterPoint `json:"clusters,omitempty"`
	// InFact is of a decision on sizes, which may only be advice.
	InFact *InFact `json:"inFact,omitempty"`
	// Lasts is for how long the decision held.
	Lasts time.Duration `json:"-"`
}

// Side is one of the two.
type Side struct {
	// Replicas are those that the fleet was told after the decision; Asked are those that the metrics asked for, 0 if they could not
	// say.
	Replicas int32 `json:"replicas"`
	Asked    int32 `json:"asked,omitempty"`
	// Max are the most that are allowed, and AtMax that there are as many; of a split, in one of the clusters.
	Max   int32 `json:"max"`
	AtMax bool  `json:"atMax,omitempty"`
	// Use is of the metric that is highest, in percent: what Pods use of their requests, or else a value of its target as it was; of a
	// split, in the cluster where it is highest. Nil: it is not known.
	Use *int64 `json:"use,omitempty"`
	// Held: clusters could not be seen, and so nothing was scaled in.
	Held bool `json:"held,omitempty"`
	// Sizes are those of a decision on sizes.
	Sizes *SizeSide `json:"sizes,omitempty"`
}

// Result is of a run.
type Result struct {
	Points []Point
	// Differences are how many decisions are not as they were recorded, by the same spec.
	Differences int
	// OfRequests: the use is of requests, and not of targets.
	OfRequests bool
	// Estimated: what clusters would run is their share of the fleet's replicas, divided as they were.
	Estimated bool
}

// Run replays the records of one object, in the order of time.
func Run(records []*recording.Record, o Options) (*Result, error) {
	if len(records) == 0 {
		return nil, errors.New("nothing is recorded")
	}
	result := &Result{}
	if records[0].Sizes != nil {
		r := &resizes{Options: o, Result: result, was: kept{}, would: kept{},
			specs: map[*v1alpha1.MultidimPodAutoscalerSpec]*v1alpha1.MultidimPodAutoscalerSpec{}}
		return result, play(records, result, r.step)
	}
	if records[0].Split != nil {
		return result, play(records, result, (&splits{Options: o, Result: result}).step)
	}
	if o.Change == nil && slices.ContainsFunc(records, func(r *recording.Record) bool { return r.Outcome == recording.Observed }) {
		o.Change = func(as *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) { return as, nil } // others went another way
	}
	result.Estimated = o.Change != nil
	r := &run{Options: o, Result: result, ran: map[string]int32{}, specs: map[*v1alpha1.FederatedHPASpec]*v1alpha1.FederatedHPASpec{}}
	return result, play(records, result, r.step)
}

// play makes the points of a result.
func play(records []*recording.Record, result *Result, step func(*recording.Record) (Point, error)) error {
	for i, record := range records {
		if i > 0 && !record.Question.Now.After(records[i-1].Question.Now) {
			continue // of two leaders, or of two files, the one that came first
		}
		p, err := step(record)
		if err != nil {
			return err
		}
		result.Points = append(result.Points, p)
	}
	for i := 1; i < len(result.Points); i++ { // the last one is of no time
		result.Points[i-1].Lasts = min(Gap, result.Points[i].At.Sub(result.Points[i-1].At))
	}
	return nil
}

// run is what is known between two decisions.
type run struct {
	Options
	*Result
	specs map[*v1alpha1.FederatedHPASpec]*v1alpha1.FederatedHPASpec
	// last is the record before, state and status what the run left, and replicas what it told each of the copies.
	last     *recording.Record
	state    replicas.State
	left     replicas.Decision
	replicas int32
	// ran is what each cluster ran when that was known last.
	ran map[string]int32
}

func (r *run) step(record *recording.Record) (Point, error) {
	q, spec, err := r.question(record)
	if err != nil {
		return Point{}, err
	}
	was := replicas.Decide(record.Question)
	p := Point{At: record.Question.Now, Was: r.side(record, &record.Question, &was, record.After, record.Spec)}
	if was.Replicas != record.Decided && record.Question.Scale.Err == nil && told(&record.Question) {
		r.Differences++
	}
	p.Unknown, p.Clusters = r.unknown(record, &was), r.clusters(record, &was, q.Scale.Replicas)
	if r.Change == nil {
		p.Would = p.Was
		r.last = record
		return p, nil
	}
	would, after := replicas.Decision{}, q.Scale.Replicas
	if told := r.retarget(&q, record); told {
		would = replicas.Decide(q)
		would, after = r.apply(record, &q, would)
		r.left, r.state = would, would.State
	} else {
		p.Unknown = NotTold
	}
	r.replicas, r.last = after, record
	p.Would = r.side(record, &q, &would, after, spec)
	return p, nil
}

// question is what the decision would have been told, but for the targets of its metrics.
func (r *run) question(record *recording.Record) (replicas.Question, *v1alpha1.FederatedHPASpec, error) {
	q := record.Question
	if r.Change == nil {
		return q, record.Spec, nil
	}
	spec, err := r.changed(record.Spec)
	if err != nil {
		return q, nil, err
	}
	q.Spec = spec.HorizontalPodAutoscalerSpec
	if r.last == nil {
		return q, spec, nil
	}
	if q.State = r.state; r.left.Status.Conditions != nil {
		q.Status.Conditions, q.Status.DesiredReplicas = r.left.Status.Conditions, r.left.Status.DesiredReplicas
	}
	// What somebody else has told the workload since holds here, too; but where the record only observes, others do so all the time.
	if record.Question.Scale.Replicas == r.last.After || r.last.Outcome == recording.Observed {
		q = resized(q, r.replicas)
	}
	return q, spec, nil
}

// changed returns the other spec, if a decision by it can be made of the record.
func (r *run) changed(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	if known := r.specs[before]; known != nil {
		return known, nil
	}
	spec, err := r.Change(before)
	if err != nil {
		return nil, err
	}
	if field := explanation.Ignored(spec, before); field != "" {
		return nil, fmt.Errorf("spec.%s: what the decisions would be by another one is not known; minReplicas, maxReplicas, behavior and "+
			"targets of metrics can be changed", field)
	}
	if err := explanation.SameMetrics(spec.Metrics, before.Metrics); err != nil {
		return nil, err
	}
	r.specs[before] = spec
	return spec, nil
}

// retarget has the answers be those to the targets of the spec; it reports whether they are known.
func (r *run) retarget(q *replicas.Question, record *recording.Record) bool {
	if !q.NeedsMetrics() {
		return true
	}
	before := record.Question.Spec.Metrics
	if len(q.Metrics) < len(q.Spec.Metrics) {
		return false
	}
	all := make([]replicas.Metric, len(q.Spec.Metrics))
	for i := range all {
		m, err := q.Metrics[i].Retarget(&q.Spec.Metrics[i], &before[i])
		if err != nil {
			return false
		}
		all[i] = m
	}
	q.Metrics = all
	return true
}

// apply completes the decision as the one of the record was.
func (r *run) apply(record *recording.Record, q *replicas.Question, d replicas.Decision) (replicas.Decision, int32) {
	switch {
	case !d.Rescale:
		return d, q.Scale.Replicas
	case record.Outcome == recording.Refused:
		return d.Refused(q.Now, errors.New("it was refused")), q.Scale.Replicas
	case record.Outcome == recording.Scaled && d.Replicas == record.Decided && q.Scale.Replicas == record.Question.Scale.Replicas:
		d.Replicas = record.After // as far as it came
	}
	return d.Scaled(q.Now), d.Replicas
}

func (r *run) side(record *recording.Record, q *replicas.Question, d *replicas.Decision, after int32,
	spec *v1alpha1.FederatedHPASpec,
) Side {
	s := Side{
		Replicas: replicas.Whole(after, q.Copies), Max: replicas.Whole(spec.MaxReplicas, q.Copies), AtMax: after >= spec.MaxReplicas,
		Held: d.Explanation.Held,
	}
	if d.Explanation.Basis == replicas.BasisMetrics {
		s.Asked = replicas.Whole(d.Explanation.Asked, q.Copies)
	}
	for i := range q.Metrics {
		if i >= len(record.Question.Spec.Metrics) {
			break
		}
		u := use(&q.Metrics[i], &record.Question.Spec.Metrics[i])
		if u.ofRequests {
			r.OfRequests = true
		}
		s.Use = higher(s.Use, u.value())
	}
	return s
}

// told reports whether what the metrics said is known, if the decision is made by them.
func told(q *replicas.Question) bool {
	return len(q.Metrics) >= len(q.Spec.Metrics) || !q.NeedsMetrics()
}

func (r *run) unknown(record *recording.Record, was *replicas.Decision) Unknown {
	switch q := &record.Question; {
	case !told(q):
		return NotTold
	case q.NeedsMetrics() && was.Explanation.Basis != replicas.BasisMetrics:
		return Unusable
	case len(was.Explanation.Unseen) > 0:
		return Unseen
	case r.CutOff > 0:
		for i := range q.Metrics {
			if u := use(&q.Metrics[i], &q.Spec.Metrics[i]); u.known && u.ofRequests && u.percent >= r.CutOff {
				return CutOff
			}
		}
	}
	return ""
}
