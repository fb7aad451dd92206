// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// anySelector stands for that of the workload, whose Pods were counted already.
const anySelector = "fleetscale.io/explained=true"

// What the flags of the controller say, where an explanation does not tell.
const (
	usualTolerance = 0.1
	usualWindow    = 300 * time.Second
)

// Again makes the decision of an explanation again, with what it was told, by the spec of the object, which may be another now; before
// is the spec that it was made by. The object's status is that of the explanation. The error says what the sums do not tell; caveats
// say what is only assumed.
func Again(object *v1alpha1.FederatedHPA, before *v1alpha1.FederatedHPASpec) (*v1alpha1.DecisionExplanation, []string, error) {
	e := object.Status.Explanation
	if e == nil {
		return nil, nil, errors.New("status.explanation is not there: the controller writes it with its next decision in central mode")
	}
	if field := Ignored(&object.Spec, before); field != "" {
		return nil, nil, fmt.Errorf("spec.%s: what the decision would be by another one is not known; minReplicas, maxReplicas, behavior and "+
			"targets of metrics can be changed", field)
	}
	spec := object.Spec.HorizontalPodAutoscalerSpec
	q := replicas.Question{
		Namespace: object.Namespace,
		Spec:      spec,
		Scale:     replicas.Scale{Replicas: e.CurrentReplicas, Selector: anySelector},
		Copies:    int(e.Copies),
		Now:       e.Time.Time,
		Options:   Options(e, &before.HorizontalPodAutoscalerSpec),
		State:     stateOf(e, object.Status.Stabilization),
	}
	if e.CurrentReplicas == 0 && replicas.Basis(e.Basis) != replicas.BasisDisabled {
		q.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: autoscalingv2.ScaledToZero, Status: corev1.ConditionTrue},
		}
	}
	for i := range int(e.UnseenClusters) {
		unseen := replicas.Cluster{Name: fmt.Sprintf("unnamed-%d", i), Silent: &fleet.Silence{Reason: fleet.ReasonUnreachable}}
		if i < len(e.Unseen) {
			unseen.Name, unseen.Silent = e.Unseen[i].Cluster, &fleet.Silence{Reason: fleet.Reason(e.Unseen[i].Reason)}
		}
		q.Clusters = append(q.Clusters, unseen)
	}
	var caveats []string
	if q.NeedsMetrics() {
		var err error
		if q.Metrics, err = metricsAgain(e, &spec, &before.HorizontalPodAutoscalerSpec); err != nil {
			return nil, nil, err
		}
		caveats = restraints(&spec, &before.HorizontalPodAutoscalerSpec)
		if assumesTolerance(e, &spec, &before.HorizontalPodAutoscalerSpec) {
			caveats = append(caveats, fmt.Sprintf("spec.behavior: the --tolerance of the controller-manager, which counts where a tolerance is "+
				"absent, does not show in the decision, and is taken to be its default, %v", usualTolerance))
		}
	}
	d := replicas.Decide(q)
	again := Of(&Decided{
		Spec: &spec, At: q.Now, Current: e.CurrentReplicas, Replicas: d.Replicas, Copies: q.Copies, Explanation: d.Explanation,
	})
	for i := range again.Metrics {
		m := &again.Metrics[i]
		if at := indexOf(e, m.Index); at >= 0 && m.Error != "" && e.Metrics[at].Error != "" {
			m.Error = e.Metrics[at].Error // as it was worded first
		}
	}
	return again, caveats, nil
}

// restraints are what the memory of the past does not tell of other windows and periods.
func restraints(now, before *autoscalingv2.HorizontalPodAutoscalerSpec) (caveats []string) {
	for _, up := range []bool{true, false} {
		direction, rules, old := "scaleDown", rulesOf(now, up), rulesOf(before, up)
		if up {
			direction = "scaleUp"
		}
		if windowOf(rules) != windowOf(old) {
			caveats = append(caveats, fmt.Sprintf("spec.behavior.%s: of earlier recommendations only the extreme of the present window is "+
				"known, and is taken to be as old as that window", direction))
		}
		if longest(rules) > longest(old) {
			caveats = append(caveats, fmt.Sprintf("spec.behavior.%s: changes from before the present periods of its policies are not known",
				direction))
		}
	}
	return caveats
}

func rulesOf(spec *autoscalingv2.HorizontalPodAutoscalerSpec, up bool) *autoscalingv2.HPAScalingRules {
	switch {
	case spec.Behavior == nil:
		return nil
	case up:
		return spec.Behavior.ScaleUp
	}
	return spec.Behavior.ScaleDown
}

// windowOf returns the seconds of a window; -1: the usual.
func windowOf(rules *autoscalingv2.HPAScalingRules) int32 {
	if rules == nil || rules.StabilizationWindowSeconds == nil {
		return -1
	}
	return *rules.StabilizationWindowSeconds
}

func longest(rules *autoscalingv2.HPAScalingRules) (seconds int32) {
	if rules != nil {
		for _, p := range rules.Policies {
			seconds = max(seconds, p.PeriodSeconds)
		}
	}
	return seconds
}

// Options are the controller's, as far as an explanation shows them, and otherwise the defaults.
func Options(e *v1alpha1.DecisionExplanation, spec *autoscalingv2.HorizontalPodAutoscalerSpec) replicas.Options {
	o := replicas.Options{Tolerance: usualTolerance, StabilizationWindow: usualWindow}
	if e == nil {
		return o
	}
	if tolerance, shown := toleranceOf(e, spec); shown {
		o.Tolerance = tolerance
	}
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Step == StepWindow && s.DownSeconds != nil && windowOf(rulesOf(spec, false)) < 0 {
			o.StabilizationWindow = time.Duration(*s.DownSeconds) * time.Second
		}
	}
	return o
}

// toleranceOf returns the controller's tolerance, if a metric shows it: where the spec gives one, that is shown instead.
func toleranceOf(e *v1alpha1.DecisionExplanation, spec *autoscalingv2.HorizontalPodAutoscalerSpec) (tolerance float64, shown bool) {
	for i := range e.Metrics {
		m := &e.Metrics[i]
		for up, text := range map[bool]string{true: m.ToleranceUp, false: m.ToleranceDown} {
			if tolerates(spec, up) {
				continue // that of the spec
			}
			if t, err := strconv.ParseFloat(text, 64); err == nil {
				return t, true
			}
		}
	}
	return 0, false
}

// tolerates reports whether the spec gives the tolerance of a direction.
func tolerates(spec *autoscalingv2.HorizontalPodAutoscalerSpec, up bool) bool {
	rules := rulesOf(spec, up)
	return rules != nil && rules.Tolerance != nil
}

// assumesTolerance reports whether the controller's tolerance counts for a metric, and is not known.
func assumesTolerance(e *v1alpha1.DecisionExplanation, now, before *autoscalingv2.HorizontalPodAutoscalerSpec) bool {
	_, shown := toleranceOf(e, before)
	usable := slices.ContainsFunc(e.Metrics, func(m v1alpha1.MetricExplanation) bool { return m.Error == "" })
	return usable && !shown && (!tolerates(now, true) || !tolerates(now, false))
}

// stateOf returns what was known of the past: of recommendations the extremes of the windows, each as old as its window; and the
// changes made but for that of this decision.
func stateOf(e *v1alpha1.DecisionExplanation, memory *v1alpha1.StabilizationStatus) replicas.State {
	s := replicas.State{Recommendations: []replicas.Recommendation{}}
	if memory != nil {
		s = replicas.Recall(&v1alpha1.StabilizationStatus{ScaleUpEvents: memory.ScaleUpEvents, ScaleDownEvents: memory.ScaleDownEvents})
		own := func(c replicas.Change) bool { return !c.At.Before(e.Time.Time) }
		s.ScaleUps, s.ScaleDowns = slices.DeleteFunc(s.ScaleUps, own), slices.DeleteFunc(s.ScaleDowns, own)
	}
	for i := range e.Steps {
		step := &e.Steps[i]
		if step.Step != StepWindow {
			continue
		}
		for _, of := range []struct {
			extreme *int32
			seconds *int64
		}{{step.Lowest, step.UpSeconds}, {step.Highest, step.DownSeconds}} {
			if of.extreme != nil && of.seconds != nil {
				age := max(0, time.Duration(*of.seconds)*time.Second-time.Millisecond)
				s.Recommendations = append(s.Recommendations, replicas.Recommendation{Replicas: *of.extreme, At: e.Time.Add(-age)})
			}
		}
	}
	return s
}

// metricsAgain are what the metrics of the spec were told.
func metricsAgain(e *v1alpha1.DecisionExplanation, now, before *autoscalingv2.HorizontalPodAutoscalerSpec) ([]replicas.Metric, error) {
	if basis := replicas.Basis(e.Basis); basis != replicas.BasisMetrics && basis != replicas.BasisNothing {
		return nil, fmt.Errorf("the decision was made without metrics (%s), so that what they would ask for is not known", basis)
	}
	if err := SameMetrics(now.Metrics, before.Metrics); err != nil {
		return nil, err
	}
	all := make([]replicas.Metric, len(now.Metrics))
	for i := range now.Metrics {
		field := fmt.Sprintf("spec.metrics[%d]", i)
		at := indexOf(e, int32(i))
		if at < 0 {
			return nil, fmt.Errorf("%s: the explanation left it out, as it has no room for all metrics", field)
		}
		if all[i].Err = asError(e.Metrics[at].Error); all[i].Err != nil {
			if !equality.Semantic.DeepEqual(now.Metrics[i], before.Metrics[i]) {
				return nil, fmt.Errorf("%s: what this metric would say is not known, as it could not be used: %w", field, all[i].Err)
			}
			continue
		}
		m := &e.Metrics[at] // the spec before may be newer, as where the autoscaler is paused
		answer, err := (&replicas.Metric{Told: Told(m)}).RetargetFrom(&now.Metrics[i], replicas.Rule(m.Rule), int32(m.Target))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		all[i] = answer
	}
	return all, nil
}

// indexOf is where the metric of that index of the spec is explained; -1: nowhere.
func indexOf(e *v1alpha1.DecisionExplanation, metric int32) int {
	return slices.IndexFunc(e.Metrics, func(m v1alpha1.MetricExplanation) bool { return m.Index == metric })
}

func asError(message string) error {
	if message == "" {
		return nil
	}
	return errors.New(message)
}

// Told is what a metric was told by its explanation, which has no error.
func Told(m *v1alpha1.MetricExplanation) *replicas.Told {
	told := &replicas.Told{Value: m.Value, ReadyUnknown: m.ReadyUnknown, Lagging: m.Lagging}
	switch replicas.Rule(m.Rule) {
	case replicas.RuleRatio:
		told.Ready = m.Multiplied
		return told
	case replicas.RuleShare:
		told.Running = int32(m.Multiplied)
		return told
	}
	f := cmp.Or(m.Fleet, &v1alpha1.PodSums{})
	told.Sums = replicas.Sums{
		Ignored: int(f.Ignored), Unready: int(f.Unready), Missing: int(f.Missing), Counted: int(f.Counted), Strangers: int(f.Unlisted),
		Used: f.Used, StrangersUsed: f.UnlistedUsed, Requests: f.Requested, UnreadyRequests: f.UnreadyRequested,
		MissingRequests: f.MissingRequested, Busy: f.Busy,
	}
	for _, r := range f.MissingByRequest {
		told.Sums.ByRequest = append(told.Sums.ByRequest, replicas.Requested{Request: r.Request, Pods: int(r.Pods), Abandoned: r.Abandoned})
	}
	return told
}

// SameMetrics returns why what the metrics would say is not known, for who knows what those before said.
func SameMetrics(now, before []autoscalingv2.MetricSpec) error {
	if len(now) > len(before) {
		return errors.New("spec.metrics: what a metric that was not asked would say is not known")
	}
	for i := range now {
		if !sameSource(&now[i], &before[i]) {
			return fmt.Errorf("spec.metrics[%d]: what another metric would say is not known; only its target can be changed", i)
		}
	}
	return nil
}

// sameSource compares metrics but for their targets.
func sameSource(a, b *autoscalingv2.MetricSpec) bool {
	return sourceOf(a) == sourceOf(b)
}

func sourceOf(m *autoscalingv2.MetricSpec) string {
	bare := m.DeepCopy()
	if target := v1alpha1.TargetOf(bare); target != nil {
		*target = autoscalingv2.MetricTarget{}
	}
	return bare.String()
}
