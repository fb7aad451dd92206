// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"errors"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// combined is what all metrics together ask for: the most of what each does.
type combined struct {
	replicas int32
	metric   string // that asks for them
	statuses []autoscalingv2.MetricStatus
	invalid  []fault
}

// combine asks every metric. An error means that their answers cannot be used: none is valid, or some are not and the
// others would take replicas away. Metrics that cannot be used leave an empty status.
func (v *view) combine(d *Decision) (combined, error) {
	if err := v.checkSelectors(d); err != nil {
		return combined{}, err
	}
	if len(v.Spec.Metrics) == 0 {
		err := SpecError{errors.New("spec.metrics is empty")}
		return combined{}, v.uncomputable(d, fault{ReasonInvalidMetricSourceType, err, err})
	}
	c := combined{statuses: make([]autoscalingv2.MetricStatus, len(v.Spec.Metrics))}
	for i := range v.Spec.Metrics {
		p := v.propose(i)
		p.replicas = Each(p.replicas, v.Copies)
		d.Explanation.Metrics = append(d.Explanation.Metrics, p.explain())
		if p.fault != nil {
			d.warn(p.fault.reason, p.fault.inner.Error())
		}
		c.add(i, p)
	}
	if len(c.invalid) == len(v.Spec.Metrics) || len(c.invalid) > 0 && c.replicas < v.Scale.Replicas {
		_ = v.uncomputable(d, c.invalid[0])
		return c, c.err(len(v.Spec.Metrics))
	}
	d.set(v.Now, autoscalingv2.ScalingActive, boolStatus(true), ReasonValidMetricFound,
		"the HPA was able to successfully calculate a replica count from "+c.metric)
	return c, nil
}

// add takes in what the metric of that index asks for. Any number takes the place of a zero, one
// below it too.
func (c *combined) add(i int, p proposal) {
	if p.fault != nil {
		c.invalid = append(c.invalid, *p.fault)
		return
	}
	c.statuses[i] = p.status
	if c.replicas == 0 || p.replicas > c.replicas {
		c.replicas, c.metric = p.replicas, p.name
	}
}

func (v *view) uncomputable(d *Decision, f fault) error {
	v.inactive(d, f.reason, "the HPA was unable to compute the replica count: "+f.inner.Error())
	return f.outer
}

// err returns what is said of the metrics that cannot be used, if there are any.
func (c *combined) err(metrics int) error {
	if len(c.invalid) == 0 {
		return nil
	}
	return fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", len(c.invalid), metrics, c.invalid[0].outer)
}

func (p *proposal) explain() Proposal {
	e := Proposal{Metric: p.name, Replicas: p.replicas, Pods: p.groups.clusters, Working: p.working}
	if p.fault != nil {
		return Proposal{Err: p.fault.outer, Pods: e.Pods, Working: Working{Told: p.working.Told}}
	}
	return e
}
