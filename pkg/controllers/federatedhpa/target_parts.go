// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// partsTarget is the workload's part in each member.
type partsTarget struct{ *Reconciler }

// read reads every cluster's part. A cluster without the workload takes no part; one that can not be asked runs what it
// was told last.
func (t partsTarget) read(ctx context.Context, in *situation) {
	if _, in.scale.Err = groupKindOf(in.object.Spec.ScaleTargetRef); in.scale.Err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.MemberTimeout)
	defer cancel()
	together(in.parts, func(p *part) { p.readScale(ctx, in.object) })
	if err := in.prefer(); err != nil {
		in.scale.Err = err
		return
	}
	in.addUp()
}

func (p *part) readScale(ctx context.Context, object *v1alpha1.FederatedHPA) {
	p.assigned = p.before.AssignedReplicas
	if p.state != v1alpha1.ClusterActive {
		return
	}
	scale, err := p.cluster.Scale(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	if err == nil {
		p.scale, p.assigned = scale, &scale.Spec.Replicas
		return
	}
	silence, absent := fleet.Classify(err)
	switch {
	case absent, meta.IsNoMatchError(err):
		p.assigned = nil
		p.exclude(reasonTargetNotFound, fmt.Sprintf("there is no %s that can be scaled: %v", workload.Describe(object.Spec.ScaleTargetRef), err))
	default:
		p.silent(silence)
	}
}

// prefer notes each cluster's preference. One without, where that matters, takes no part.
func (in *situation) prefer() error {
	d := in.object.Spec.ReplicaDistribution
	var facts []assignment.ClusterFacts
	for i := range in.parts {
		facts = append(facts, in.parts[i].facts)
	}
	preferences, err := assignment.Preferences(assignment.Policy(d.Type), d.ClusterAutoscalingPreference, facts)
	if err != nil {
		return fmt.Errorf("spec.replicaDistribution: %w", err)
	}
	for i := range in.parts {
		p := &in.parts[i]
		preference, preferred := preferences[p.facts.Name]
		p.preference = preference
		if !preferred && p.takesPart() {
			p.exclude(reasonNotPreferred, "no entry of clusterAutoscalingPreference selects the cluster")
		}
	}
	return nil
}

// addUp makes one scale of all parts.
func (in *situation) addUp() {
	told, reported, read := int64(0), int64(0), false
	for i := range in.parts {
		p := &in.parts[i]
		if !p.takesPart() {
			continue
		}
		told += int64(p.told())
		if p.scale == nil {
			reported += int64(p.told())
			continue
		}
		read = true
		reported += int64(p.reported())
		in.scale.Selector = cmp.Or(in.scale.Selector, p.scale.Status.Selector)
	}
	in.scale.Replicas, in.scale.StatusReplicas = int32(min(told, math.MaxInt32)), int32(min(reported, math.MaxInt32))
	if !read {
		in.scale.Err = in.nowhere()
	}
}

// nowhere says why no cluster's part could be read.
func (in *situation) nowhere() error {
	ref := workload.Describe(in.object.Spec.ScaleTargetRef)
	if len(in.parts) == 0 {
		return fmt.Errorf("no registered cluster is selected for %s: look at spec.clusterAffinity, and at the registrations", ref)
	}
	var each []string
	for i := range in.parts {
		p := &in.parts[i]
		each = append(each, fmt.Sprintf("%s: %s", p.facts.Name, p.reason))
	}
	return fmt.Errorf("no cluster can scale %s: %s", ref, strings.Join(each, "; "))
}

// write tells each cluster its replicas. Those that gain come first, and what could not be added is not taken away from
// others. On the way down nothing moves: that waits for the next sync, so that no more are taken away than are too many.
// A cluster that could not be told is tried again then, too; the others do not make up for it, or both would run its
// replicas.
func (t partsTarget) write(ctx context.Context, in *situation, d decision) decision {
	ctx, cancel := context.WithTimeout(ctx, t.MemberTimeout)
	defer cancel()
	changes := d.division.changes
	gains := slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.to < c.from })
	losses := slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.to > c.from })
	if d.Replicas < in.scale.Replicas {
		moving := gained(gains)
		gains, losses = lessen(gains, moving), lessen(losses, moving)
	}
	together(gains, func(c **change) { (*c).write(ctx, in.object) })
	refused := slices.DeleteFunc(slices.Clone(gains), func(c *change) bool { return c.err == nil })
	losses = lessen(losses, gained(refused))
	together(losses, func(c **change) { (*c).write(ctx, in.object) })
	d.division.changes = slices.DeleteFunc(changes, func(c *change) bool { return c.to == c.from })
	return complete(ctx, in, d)
}

// gained is by how many replicas these clusters grow.
func gained(changes []*change) (n int32) {
	for _, c := range changes {
		n += c.gain
	}
	return n
}

// lessen has these clusters gain, or lose, so many replicas less in all, and returns those that still change.
func lessen(changes []*change, by int32) []*change {
	for _, c := range changes {
		spared := min(by, max(c.gain, -c.gain))
		by -= spared
		if c.gain > 0 {
			spared = -spared
		}
		c.to, c.gain = c.to+spared, c.gain+spared
	}
	return slices.DeleteFunc(changes, func(c *change) bool { return c.to == c.from })
}

// write sets the replicas even if somebody else did so meanwhile, as a HorizontalPodAutoscaler does.
func (c *change) write(ctx context.Context, object *v1alpha1.FederatedHPA) {
	scale, ref := c.part.scale.DeepCopy(), object.Spec.ScaleTargetRef
	c.err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if scale == nil {
			if scale, err = c.part.cluster.Scale(ctx, object.Namespace, ref); err != nil {
				return err
			}
		}
		if scale.Spec.Replicas == c.to {
			return nil // somebody else did
		}
		scale.Spec.Replicas = c.to
		err = c.part.cluster.SetScale(ctx, ref, scale)
		scale = nil
		return err
	})
}

// complete says what came of the writes. If only some clusters could be told, the fleet has come a part of the way, and
// that is what policies and windows count.
func complete(ctx context.Context, in *situation, d decision) decision {
	achieved, faults, desired := int64(in.scale.Replicas), []error{}, d.Replicas
	for _, c := range d.division.changes {
		name := c.part.facts.Name
		if c.err != nil {
			faults = append(faults, fmt.Errorf("cluster %s: %w", name, c.err))
			continue
		}
		c.part.assigned = &c.to
		achieved += int64(c.gain)
		klog.FromContext(ctx).Info("Scaled the workload", "cluster", name, "workload", workload.Describe(in.object.Spec.ScaleTargetRef),
			"from", c.from, "to", c.to, "reason", d.Explanation.Reason)
	}
	err := errors.Join(faults...)
	switch {
	case !d.Rescale:
		d.Err = errors.Join(d.Err, err)
	case achieved == int64(in.scale.Replicas) && err == nil:
		d.Decision = d.Refused(in.now, in.nobodyTold(d.Replicas))
	case achieved == int64(in.scale.Replicas):
		d.Decision = d.Refused(in.now, oneLine(err))
	default:
		d.Replicas = int32(achieved)
		d.Decision = d.Scaled(in.now)
		d.Status.DesiredReplicas = desired
		d.fail(err)
	}
	return d
}

// nobodyTold says why no cluster's part changes where that of the whole should.
func (in *situation) nobodyTold(wanted int32) error {
	switch {
	case !slices.ContainsFunc(in.parts, func(p part) bool { return p.writable() }):
		return errors.New("no cluster can be told: status.clusters says why")
	case wanted > in.scale.Replicas:
		return errors.New("no cluster can take the replicas: all that can be told are at their autoscalingMaxThreshold")
	default:
		return errors.New("no cluster that can be told runs any replica")
	}
}

// fail says of a rescale that succeeded in part where it did not.
func (d *decision) fail(err error) {
	if err == nil {
		return
	}
	d.Events = append(d.Events, replicas.Event{
		Type: corev1.EventTypeWarning, Reason: replicas.ReasonFailedRescale, Message: fmt.Sprintf("some clusters could not be told: %v", oneLine(err)),
	})
	d.Err = errors.Join(d.Err, err)
}

// oneLine is the error without the line breaks of several.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }

func (t partsTarget) template(context.Context, *situation) *replicas.Requests { return nil }
