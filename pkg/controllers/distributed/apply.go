// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// apply makes come true what has not: in all clusters what becomes less, and then what becomes more; of that the maxima
// only if all that becomes less could be written. What could not be written is tried again at the next look.
func (r *Reconciler) apply(ctx context.Context, in *situation, step *assignment.Step) error {
	if in.fault != nil {
		return in.fault
	}
	err := r.writeAll(ctx, in, in.less(step))
	more := in.more(step)
	if !in.mayGrow(step) {
		for i, changes := range more {
			changes[0].site.blocked = slices.ContainsFunc(changes, change.grows)
			more[i] = slices.DeleteFunc(changes, change.grows)
		}
	}
	err = errors.Join(err, r.writeAll(ctx, in, more))
	r.probe(ctx, in, step)
	r.tellMade(in)
	return errors.Join(err, r.clear(ctx, in, step))
}

// probe finds out whether clusters still refuse whose part the others have: by asking, since to write it would take it from
// the others first.
func (r *Reconciler) probe(ctx context.Context, in *situation, step *assignment.Step) {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	together(in.sites, func(s *site) {
		if s.presence != assignment.Refusing || !in.gaveUp(s) || !s.here() {
			return
		}
		if s.trial.lately(in.now) {
			s.blocked = true // it was asked lately, and refused all the same
			return
		}
		next := step.Sites[s.facts.Name]
		next.Max = max(1, next.Share, s.stands(in.object))
		next.Min = min(max(1, next.Min), next.Max)
		var lacking *unstructured.Unstructured
		if s.absent && in.template != nil {
			lacking = withReplicas(in.template, next.Min)
		}
		if err := s.cluster.Accepts(ctx, s.rendered(in, next), lacking); err != nil {
			s.failed.bounds, s.failure = true, err.Error()
			return
		}
		s.took.bounds, s.accepted = true, true
	})
}

// tellMade makes one Event of all clusters that got the workload.
func (r *Reconciler) tellMade(in *situation) {
	var made []string
	for i := range in.sites {
		if s := &in.sites[i]; s.made {
			made = append(made, s.facts.Name)
		}
	}
	if len(made) > 0 {
		r.event(in.object, corev1.EventTypeNormal, eventWorkloadMade, fmt.Sprintf("%s was made, as on the hub, in: %s", workload.Describe(in.object.Spec.ScaleTargetRef), strings.Join(made, ", ")))
	}
}

// writeAll writes to all clusters side by side, and to each in order; after an error the rest of that cluster's waits.
func (r *Reconciler) writeAll(ctx context.Context, in *situation, changes [][]change) error {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	faults := make([]error, len(changes))
	var all sync.WaitGroup
	for i, ofOne := range changes {
		all.Go(func() {
			for _, c := range ofOne {
				if faults[i] = r.write(ctx, in, c); faults[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// write writes one change, and notes what came of it.
func (r *Reconciler) write(ctx context.Context, in *situation, c change) error {
	s := c.site
	err := c.apply(ctx, in)
	r.Metrics.wrote(s.facts.Name, c.kind(), err)
	if err != nil {
		s.failure, *s.failed.of(c) = err.Error(), true
		return fmt.Errorf("cluster %s: %w", s.facts.Name, err)
	}
	if c.scale != nil || !in.gaveUp(s) { // then what it is given up for was not written
		*s.took.of(c) = true
	}
	klog.FromContext(ctx).Info("Wrote to a cluster", append([]any{"cluster", s.facts.Name}, c.about(in)...)...)
	return nil
}

func (c change) apply(ctx context.Context, in *situation) (err error) {
	s := c.site
	switch {
	case c.remove != nil:
		if err = s.cluster.Delete(ctx, c.remove); err == nil {
			s.lost(c.remove)
		}
	case c.write != nil:
		var stored *autoscalingv2.HorizontalPodAutoscaler
		if stored, err = s.cluster.Apply(ctx, c.write); err == nil {
			s.own, s.written = stored, stored
		}
	case c.make != nil:
		err = s.cluster.Create(ctx, c.make)
		if s.made = err == nil; apierrors.IsAlreadyExists(err) {
			err = nil // the next look sees it
		}
	case c.scale != nil:
		err = s.setScale(ctx, in, *c.scale)
	}
	return err
}

// lost notes that an autoscaler of ours is not there any more.
func (s *site) lost(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if hpa == s.own {
		s.own, s.written, s.removed = nil, nil, hpa
		return
	}
	s.surplus = slices.DeleteFunc(s.surplus, func(other *autoscalingv2.HorizontalPodAutoscaler) bool { return other == hpa })
}

// setScale sets the replicas unless somebody else has begun or ended to run some meanwhile.
func (s *site) setScale(ctx context.Context, in *situation, n int32) error {
	scale, ref := s.scale.DeepCopy(), in.object.Spec.ScaleTargetRef
	return retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if scale == nil {
			if scale, err = s.cluster.Scale(ctx, in.object.Namespace, ref); err != nil {
				return err
			}
		}
		if (scale.Spec.Replicas == 0) == (n == 0) {
			return nil
		}
		scale.Spec.Replicas = n
		err = s.cluster.SetScale(ctx, ref, scale)
		scale = nil
		return err
	})
}

// kind is a word for the change in metrics and logs.
func (c change) kind() string {
	switch {
	case c.remove != nil:
		return "delete"
	case c.write != nil:
		return "apply"
	case c.make != nil:
		return "create_workload"
	default:
		return "scale"
	}
}

func (c change) about(in *situation) []any {
	switch {
	case c.write != nil:
		return []any{"what", c.kind(), "hpa", c.write.Name, "min", value(c.write.Spec.MinReplicas), "max", c.write.Spec.MaxReplicas, "held", held(c.write)}
	case c.scale != nil:
		return []any{"what", c.kind(), "workload", workload.Describe(in.object.Spec.ScaleTargetRef), "replicas", *c.scale}
	case c.remove != nil:
		return []any{"what", c.kind(), "hpa", c.remove.Name}
	default:
		return []any{"what", c.kind(), "workload", workload.Describe(in.object.Spec.ScaleTargetRef)}
	}
}
