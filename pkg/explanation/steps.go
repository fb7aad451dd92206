// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// The steps.
const (
	StepMetrics  = "Metrics"
	StepHeld     = "Held"
	StepWindow   = "Window"
	StepPolicy   = "Policy"
	StepBounds   = "Bounds"
	StepFromZero = "FromZero"
)

// path is what each step leaves.
type path struct {
	asked, held, window, policy, bounds, final int32
	rising, falling                            bool
}

// pathOf follows a decision by the metrics.
func pathOf(d *Decided) path {
	e, least, most := &d.Explanation, ptr.Deref(d.Spec.MinReplicas, 1), d.Spec.MaxReplicas
	p := path{asked: e.Asked, held: e.Recommended, window: e.Stabilized, policy: e.Stabilized, final: d.Replicas}
	switch {
	case d.Spec.Behavior == nil:
		p.policy = min(p.window, e.Rate.Limit)
		p.bounds = max(min(p.policy, most), least)
	case p.window > d.Current:
		p.rising = true
		p.policy = min(p.window, max(d.Current, e.Rate.Limit))
		p.bounds = min(p.policy, most)
	case p.window < d.Current:
		p.falling = true
		p.policy = max(p.window, min(d.Current, e.Rate.Limit))
		p.bounds = max(p.policy, least)
	default:
		p.bounds = p.policy
	}
	return p
}

// LimitedBy is the last step that changed the number; or else what the metric that asked for most came to; or the basis.
func LimitedBy(d *Decided) string {
	if d.Explanation.Basis != replicas.BasisMetrics {
		return string(d.Explanation.Basis)
	}
	switch p := pathOf(d); {
	case p.final != p.bounds:
		return StepFromZero
	case p.bounds != p.policy:
		return StepBounds
	case p.policy != p.window:
		return StepPolicy
	case p.window != p.held:
		return StepWindow
	case p.held != p.asked:
		return StepHeld
	}
	for i := range d.Explanation.Metrics {
		if m := &d.Explanation.Metrics[i]; m.Err == nil && m.Replicas == d.Explanation.Asked {
			return string(m.Working.Outcome)
		}
	}
	return StepMetrics
}

func stepsOf(d *Decided) []v1alpha1.ExplanationStep {
	if d.Explanation.Basis != replicas.BasisMetrics {
		return nil
	}
	p, e := pathOf(d), &d.Explanation
	steps := []v1alpha1.ExplanationStep{{Step: StepMetrics, Replicas: p.asked}}
	if e.Held {
		steps = append(steps, v1alpha1.ExplanationStep{Step: StepHeld, Replicas: p.held})
	}
	window := v1alpha1.ExplanationStep{Step: StepWindow, Replicas: p.window, DownSeconds: seconds(e.Window.Down), Highest: e.Window.Highest}
	if d.Spec.Behavior != nil {
		window.UpSeconds, window.Lowest = seconds(e.Window.Up), e.Window.Lowest
	}
	steps = append(steps, window)
	if d.Spec.Behavior == nil || p.rising || p.falling {
		steps = append(steps, policyOf(&p, &e.Rate))
		bounds := v1alpha1.ExplanationStep{Step: StepBounds, Replicas: p.bounds, Falling: p.falling}
		if !p.rising {
			bounds.Lowest = new(ptr.Deref(d.Spec.MinReplicas, 1))
		}
		if !p.falling {
			bounds.Highest = new(d.Spec.MaxReplicas)
		}
		steps = append(steps, bounds)
	}
	if p.final != p.bounds {
		steps = append(steps, v1alpha1.ExplanationStep{Step: StepFromZero, Replicas: p.final, Lowest: new(ptr.Deref(d.Spec.MinReplicas, 1))})
	}
	return steps
}

func policyOf(p *path, rate *replicas.Rate) v1alpha1.ExplanationStep {
	step := v1alpha1.ExplanationStep{Step: StepPolicy, Replicas: p.policy, Limit: new(rate.Limit), Falling: p.falling}
	if rate.Policy.Type != "" {
		step.Start = new(rate.Start)
		step.Policy = &v1alpha1.ExplainedPolicy{
			Type: string(rate.Policy.Type), Value: rate.Policy.Value, PeriodSeconds: rate.Policy.PeriodSeconds,
		}
	}
	return step
}

func seconds(d time.Duration) *int64 { return new(int64(d / time.Second)) }
