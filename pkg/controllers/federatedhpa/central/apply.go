// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// outcome is the result of a plan.
type outcome struct {
	plan
	// Decision is the plan's, completed.
	replicas.Decision
	// written are the clusters that were told other replicas, or could not be, in name order.
	written []*part
	// toldHub: the replicas were written on the hub.
	toldHub bool
}

// assigned returns how many replicas a cluster is told to run by now; nil: that is not known.
func (o *outcome) assigned(p *part) *int32 {
	if p.to != nil && p.err == nil {
		return p.to
	}
	if o.division != nil && p.abandoned() && o.carriedOut() {
		return new(int32)
	}
	return p.assigned
}

// carriedOut: all clusters that get other replicas were told them.
func (o *outcome) carriedOut() bool {
	return !slices.ContainsFunc(o.division.changed, func(p *part) bool {
		return p.to == nil || p.err != nil || *p.to != o.division.Replicas[p.Facts.Name]
	})
}

// lost are the replicas that clusters were told which are drained and cannot be told otherwise.
func (in *situation) lost() (n int32) {
	for p := range sight.Pointers(in.parts) {
		if p.abandoned() {
			n += p.told()
		}
	}
	return n
}

// apply writes what was decided, and returns what came of it.
func (m *Mode) apply(ctx context.Context, p plan) outcome {
	o := outcome{plan: p, Decision: p.Decision}
	switch {
	case p.Object.Spec.Mode == v1alpha1.ModeObserve && p.Rescale:
		o.Decision = p.Observed()
	case p.Object.Spec.Mode == v1alpha1.ModeObserve:
	case p.division != nil && (p.Rescale || len(p.division.changed) > 0):
		o.written = m.writeClusters(ctx, &p)
		o.complete(ctx)
	case p.Rescale:
		o.Decision, o.toldHub = m.writeHub(ctx, &p)
	}
	return o
}

// writeHub sets the replicas even if somebody else did so meanwhile, as a HorizontalPodAutoscaler does, and reports whether it could.
func (m *Mode) writeHub(ctx context.Context, p *plan) (d replicas.Decision, told bool) {
	scale := p.hub
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if scale.Scale == nil {
			if scale, err = m.readHub(ctx, p.Object); err != nil {
				return err
			}
		}
		if scale.Spec.Replicas == p.Replicas {
			return nil // somebody else did
		}
		err = m.setHub(ctx, p.Object, scale, p.Replicas)
		scale.Scale = nil
		return err
	})
	if err != nil {
		return p.Refused(p.Now, err), false
	}
	klog.FromContext(ctx).Info("Scaled the workload", "workload", workload.Describe(p.Object.Spec.ScaleTargetRef),
		"from", p.scale.Replicas, "to", p.Replicas, "reason", p.Explanation.Reason)
	return p.Scaled(p.Now), true
}

// writeClusters sets the replicas of each cluster. Those that gain come first, and what could not be added is not taken away from
// others. On the way down nothing moves: that waits for the next sync, so that no more are taken away than are too many.
// A cluster that could not be told is retried then, too; the others do not make up for it, or both would run its
// replicas.
func (m *Mode) writeClusters(ctx context.Context, p *plan) []*part {
	var gains, losses []*part
	for _, c := range p.division.changed {
		if c.to = new(p.division.Replicas[c.Facts.Name]); *c.to > *c.assigned {
			gains = append(gains, c)
		} else {
			losses = append(losses, c)
		}
	}
	if p.Replicas < p.scale.Replicas-p.lost() {
		moving := p.division.gained(gains)
		gains, losses = p.division.lessen(gains, moving), p.division.lessen(losses, moving)
	}
	write := func(ctx context.Context, c **part) { (*c).write(ctx, p.Object) }
	workload.Each(ctx, m.Fleet.Timeout, gains, write)
	refused := slices.DeleteFunc(slices.Clone(gains), func(c *part) bool { return c.err == nil })
	losses = p.division.lessen(losses, p.division.gained(refused))
	workload.Each(ctx, m.Fleet.Timeout, losses, write)
	return slices.DeleteFunc(slices.Clone(p.division.changed), func(c *part) bool { return c.to == nil })
}

// gained is by how many replicas these clusters grow.
func (v *division) gained(clusters []*part) (n int32) {
	for _, p := range clusters {
		n += v.gain(p)
	}
	return n
}

// lessen reduces what these clusters gain, or lose, by so many replicas in all, and returns those that are still told others.
func (v *division) lessen(clusters []*part, by int32) []*part {
	var left []*part
	for _, p := range clusters {
		gain := v.gain(p)
		spared := min(by, max(gain, -gain))
		by -= spared
		if gain > 0 {
			spared = -spared
		}
		if *p.to += spared; *p.to == *p.assigned {
			p.to = nil
		} else {
			left = append(left, p)
		}
	}
	return left
}

// write sets the replicas.
func (p *part) write(ctx context.Context, object *v1alpha1.FederatedHPA) {
	p.err = workload.SetReplicas(ctx, p.Member, object.Spec.ScaleTargetRef, p.Scale, *p.to)
}

// complete completes the decision with what came of the writes. If only some clusters could be told, the fleet has come a
// part of the way, and that is what policies and windows count.
func (o *outcome) complete(ctx context.Context) {
	achieved, faults, desired := int64(o.scale.Replicas), []error{}, o.Replicas
	for _, p := range o.written {
		if p.err != nil {
			faults = append(faults, fmt.Errorf("cluster %s: %w", p.Facts.Name, p.err))
			continue
		}
		achieved += int64(o.division.gain(p))
		klog.FromContext(ctx).Info("Scaled the workload", "cluster", p.Facts.Name, "workload", workload.Describe(o.Object.Spec.ScaleTargetRef),
			"from", *p.assigned, "to", *p.to, "reason", o.Explanation.Reason)
	}
	err := errors.Join(faults...)
	if err == nil {
		achieved -= int64(o.lost())
	}
	switch {
	case !o.Rescale:
		o.Err = errors.Join(o.Err, err)
	case achieved == int64(o.scale.Replicas) && err == nil:
		o.Decision = o.Refused(o.Now, o.nobodyTold(o.Replicas))
	case achieved == int64(o.scale.Replicas):
		o.Decision = o.Refused(o.Now, oneLine(err))
	default:
		o.Replicas = int32(achieved)
		o.Decision = o.Scaled(o.Now)
		o.Status.DesiredReplicas = desired
		o.fail(err)
	}
}

// nobodyTold returns why no cluster is scaled although the fleet should be.
func (in *situation) nobodyTold(wanted int32) error {
	switch {
	case !slices.ContainsFunc(in.parts, func(p part) bool { return p.writable() }):
		return errors.New("no cluster can be scaled: status.clusters says why")
	case wanted > in.scale.Replicas:
		return errors.New("no cluster can take the replicas: all that can be scaled are " + in.atMost())
	default:
		return errors.New("no cluster that can be scaled runs a replica")
	}
}

// atMost is why clusters that can be scaled cannot have more.
func (in *situation) atMost() string {
	if slices.ContainsFunc(in.parts, func(p part) bool { return p.Standing.Standing != taints.Free }) {
		return "at their autoscalingMaxThreshold, cordoned or drained"
	}
	return "at their autoscalingMaxThreshold"
}

// fail records where a rescale that succeeded in part failed.
func (o *outcome) fail(err error) {
	if err == nil {
		return
	}
	o.Events = append(o.Events, replicas.Event{
		Type: corev1.EventTypeWarning, Reason: replicas.ReasonFailedRescale,
		Message: fmt.Sprintf("some clusters could not be scaled: %v", oneLine(err)),
	})
	o.Err = errors.Join(o.Err, err)
}

// oneLine is the error without the line breaks of several.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }
