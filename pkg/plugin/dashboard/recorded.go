// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin/explain"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// recorded is what a record of decisions has of an autoscaler.
type recorded struct {
	// From and To are when the first and the last decision were made.
	From      int64 `json:"from"`
	To        int64 `json:"to"`
	Decisions int   `json:"decisions"`
	// Torn: the end of the record could not be read.
	Torn bool `json:"torn,omitempty"`
	// Restarted is when the record was restarted last, while it was followed; 0: it was not.
	Restarted int64 `json:"restarted,omitempty"`
	// Settable are fields that a replay can set, as they were at the end.
	Settable []setting `json:"settable"`

	points []point
	weight int // of points
	most   int // how much that may be
	// gaps are when nothing was recorded, for longer than decisions are taken to hold.
	gaps []span
	// spec is the last one, or of decisions on sizes, sizesSpec is.
	spec      *v1alpha1.FederatedHPASpec
	sizesSpec *v1alpha1.MultidimPodAutoscalerSpec
}

// mostValues is how many values the points of one autoscaler may have together: some 20 MiB.
const mostValues = 1 << 19

// add takes in the next record. Where points are too many, some are merged: no more than four times as many as are shown are kept, and no
// more than there is room for.
func (r *recorded) add(record *recording.Record) {
	at := record.Question.Now
	if r.Decisions == 0 {
		r.From = at.UnixMilli()
	} else if missing := missingBetween(r.To, at.UnixMilli()); missing != nil && len(r.gaps) < mostPoints {
		r.gaps = append(r.gaps, *missing)
	}
	r.To = max(r.To, at.UnixMilli())
	r.Decisions++
	if r.spec = record.Spec; record.Sizes != nil {
		r.sizesSpec = record.Sizes.Question.Spec
	}
	p := pointOfRecord(record)
	if n := len(r.points); n > 0 && (r.points[n-1].says(p) || !p.At.After(r.points[n-1].At)) {
		return // of two leaders, or of two files, the one that came first
	}
	r.points, r.weight = append(r.points, p), r.weight+p.weight()
	if n := len(r.points); n > 4*mostPoints || r.weight > r.most {
		r.points, r.weight = thinned(r.points, max(1, n/2)), 0
		for i := range r.points {
			r.weight += r.points[i].weight()
		}
	}
}

// known is what is known by now, as others may read it while more is added; nil: nothing is.
func (r *recorded) known() *recorded {
	if r == nil || r.Decisions == 0 {
		return nil
	}
	now := *r
	now.finish()
	return &now
}

// finish has what is added in no other way.
func (r *recorded) finish() {
	if r.points = thinned(r.points, mostPoints); r.sizesSpec != nil {
		r.Settable = settableSizes(r.sizesSpec)
		return
	}
	r.Settable = settable(r.spec)
}

// thinned are no more than n of the points: in each part of the time, the one that is worst off, or has most replicas, or the
// largest containers.
func thinned(points []point, n int) []point {
	if len(points) <= n {
		return points
	}
	from, whole := points[0].At, points[len(points)-1].At.Sub(points[0].At)
	thin, last := make([]point, 0, n), -1
	for i := range points {
		p := &points[i]
		part := min(n-1, int(float64(n)*float64(p.At.Sub(from))/float64(max(1, whole))))
		switch {
		case part != last:
			thin, last = append(thin, *p), part
		case p.worse(&thin[len(thin)-1]):
			thin[len(thin)-1] = *p
		}
	}
	return thin
}

func (p *point) worse(than *point) bool {
	ill, other := p.State != string(v1alpha1.StateActive), than.State != string(v1alpha1.StateActive)
	return ill && !other || ill == other && p.much() > than.much()
}

// much is how much there is at a point: replicas, or cores and GiB of what is recommended.
func (p *point) much() float64 {
	n := float64(ptr.Deref(p.Desired, 0))
	for i := range p.Sized {
		n += float64(max(0, p.Sized[i].Target[sizes.CPU]))/1000 + float64(max(0, p.Sized[i].Target[sizes.Memory]))/(1<<30)
	}
	return n
}

// pointOfRecord is what an autoscaler was when the decision was made: what of it was recorded.
func pointOfRecord(r *recording.Record) point {
	switch {
	case r.Split != nil:
		return pointOfSplit(r)
	case r.Sizes != nil:
		return pointOfSizes(r)
	}
	q := &r.Question
	d := replicas.Decide(*q)
	p := point{
		At: q.Now, State: string(stateOfRecord(r, &d)),
		Limit: explanation.LimitedBy(decidedOf(r, &d)),
		Min:   new(replicas.Whole(ptr.Deref(r.Spec.MinReplicas, 1), q.Copies)), Max: new(replicas.Whole(r.Spec.MaxReplicas, q.Copies)),
		Metrics: amounts(r.Spec.Metrics, d.Status.CurrentMetrics),
	}
	if q.Scale.Err == nil { // otherwise nobody knew how many there are
		p.Desired = new(replicas.Whole(r.After, q.Copies))
	}
	for _, unseen := range d.Explanation.Unseen {
		p.Unseen = append(p.Unseen, unseen.Cluster)
	}
	for i := range q.Clusters {
		if i < len(r.Facts) && r.Facts[i].Ready != nil {
			p.Ready = new(ptr.Deref(p.Ready, 0) + *r.Facts[i].Ready)
		}
		if ran := r.Ran(i); ran != nil {
			p.Clusters = append(p.Clusters, share{Name: q.Clusters[i].Name, Replicas: *ran})
		}
	}
	return p
}

// stateOfRecord is what the status said, as far as that follows from the decision.
func stateOfRecord(r *recording.Record, d *replicas.Decision) v1alpha1.FederatedHPAState {
	status := v1alpha1.FederatedHPAStatus{}
	status.Conditions = d.Status.Conditions
	active := summary.Condition(&status, autoscalingv2.ScalingActive)
	switch {
	case r.Question.Scale.Err != nil || r.Outcome == recording.Refused:
		return v1alpha1.StateFailing
	case active.Reason == replicas.ReasonScalingDisabled && r.Question.Scale.Replicas == 0:
		return v1alpha1.StatePaused
	case active.Status == corev1.ConditionFalse && active.Reason != replicas.ReasonScalingDisabled && !d.Rescale:
		return v1alpha1.StateFailing
	case r.Outcome == recording.Observed:
		return v1alpha1.StateObserving
	case d.Explanation.Held:
		return v1alpha1.StateHeld
	case summary.Condition(&status, autoscalingv2.ScalingLimited).Status == corev1.ConditionTrue:
		return v1alpha1.StateLimited
	}
	return v1alpha1.StateActive
}

func decidedOf(r *recording.Record, d *replicas.Decision) *explanation.Decided {
	q := &r.Question
	return &explanation.Decided{
		Spec: &r.Spec.HorizontalPodAutoscalerSpec, At: q.Now, Current: q.Scale.Replicas, Replicas: d.Replicas, Copies: q.Copies,
		Explanation: d.Explanation,
		Age: func(cluster string) *int32 {
			for i := range q.Clusters {
				if q.Clusters[i].Name == cluster && i < len(r.Facts) {
					return r.Facts[i].Age
				}
			}
			return nil
		},
	}
}

// moment is why one decision was what it was.
type moment struct {
	At int64 `json:"at"`
	// Explanation is what `kubectl fleetscale explain` would have printed of it.
	Explanation string `json:"explanation"`
}

// momentOf explains a recorded decision. How clusters divided the replicas of central mode is not recorded.
func momentOf(r *recording.Record) moment {
	m := moment{At: r.Question.Now.UnixMilli()}
	switch {
	case r.Split != nil:
		m.Explanation = fleet.PrintableLines(splitExplained(r))
		return m
	case r.Sizes != nil:
		m.Explanation = fleet.PrintableLines(sizesExplained(r))
		return m
	}
	if err := r.Question.Scale.Err; err != nil {
		m.Explanation = fleet.PrintableLines("nothing was decided: " + err.Error())
		return m
	}
	d := replicas.Decide(r.Question)
	e := explanation.Of(decidedOf(r, &d))
	m.Explanation = fleet.PrintableLines(fmt.Sprintf("%d replicas, from %d: %s\n%s%s", e.DesiredReplicas, e.CurrentReplicas,
		explain.Because(e.LimitedBy), outcome(r), explanation.Text(e)))
	return m
}

// outcome says what became of a decision that changes replicas.
func outcome(r *recording.Record) string {
	switch {
	case r.Outcome == recording.Refused:
		return "  they could not be written\n"
	case r.Outcome == recording.Observed:
		return "  nothing was written: it only observes\n"
	case r.Outcome == recording.Scaled && r.After != r.Decided:
		return fmt.Sprintf("  %d were written\n", r.After)
	}
	return ""
}
