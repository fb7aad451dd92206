// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// outcome is the result of a plan.
type outcome struct {
	plan
	results []result
}

// result is what came of it in one cluster, which it shows as it was left.
type result struct {
	site
	// next is the assignment of the cluster.
	next assignment.SiteStep
	// took and failed are the kinds of writes that the cluster took, and did not; failure says why.
	took, failed kinds
	failure      string
	// accepted: by its own account it takes again what it refused.
	accepted bool
	// made: it got the workload from us.
	made bool
	// blocked: there is something to write, which waits for other clusters.
	blocked bool
	// fault is why the workload that was made there may still be there.
	fault error
}

// kinds of writes: replicas, and all the others.
type kinds struct{ bounds, scale bool }

func (k *kinds) of(c change) *bool {
	if c.scale != nil {
		return &k.scale
	}
	return &k.bounds
}

// apply makes come true what has not: in all clusters what becomes less, and then what becomes more; of that the maxima
// only if all that becomes less could be written. What could not be written is retried by the next reconcile.
func (m *Mode) apply(ctx context.Context, p plan) (outcome, error) {
	o := outcome{plan: p, results: make([]result, len(p.sites))}
	if p.fault != nil {
		return o, p.fault
	}
	for i, s := range p.sites {
		o.results[i] = result{site: s, next: p.step.Sites[s.Facts.Name]}
	}
	err := m.writeAll(ctx, &o, o.less())
	more := o.more()
	if !o.mayGrow() {
		for i, changes := range more {
			changes[0].result.blocked = slices.ContainsFunc(changes, change.grows)
			more[i] = slices.DeleteFunc(changes, change.grows)
		}
	}
	err = errors.Join(err, m.writeAll(ctx, &o, more))
	m.probe(ctx, &o)
	m.reportMade(&o)
	return o, errors.Join(err, m.clear(ctx, &o))
}

// probe finds out whether clusters still refuse whose part the others have: by asking, since to write it would take it from
// the others first.
func (m *Mode) probe(ctx context.Context, o *outcome) {
	workload.Each(ctx, m.Fleet.Timeout, o.results, func(ctx context.Context, r *result) {
		if r.presence != assignment.Refusing || !o.gaveUp(&r.site) || !r.here() || r.contested {
			return // what is set back is taken first, so to ask tells nothing
		}
		if r.trial.lately(o.Now) {
			r.blocked = true // it was asked lately, and refused all the same
			return
		}
		next := r.next
		next.Max = max(1, next.Share, r.stands())
		next.Min = min(max(1, next.Min), next.Max)
		var lacking *unstructured.Unstructured
		if r.template != nil {
			lacking = withReplicas(r.template, next.Min)
		}
		if err := r.Member.Accepts(ctx, claims.InMember(o.Object, true), r.rendered(&o.situation, next), lacking); err != nil {
			r.failed.bounds, r.failure = true, err.Error()
			return
		}
		r.took.bounds, r.accepted = true, true
	})
}

// reportMade makes one Event of all clusters that got the workload.
func (m *Mode) reportMade(o *outcome) {
	var made []string
	for r := range sight.Pointers(o.results) {
		if r.made {
			made = append(made, r.Facts.Name)
		}
	}
	if len(made) > 0 {
		m.event(o.Object, eventWorkloadMade, fmt.Sprintf("%s was created as on the hub in: %s",
			workload.Describe(o.Object.Spec.ScaleTargetRef), strings.Join(made, ", ")))
	}
}

// writeAll writes to all clusters side by side, and to each in order; after an error the rest of that cluster's waits.
func (m *Mode) writeAll(ctx context.Context, o *outcome, changes [][]change) error {
	type batch struct {
		changes []change
		err     error
	}
	batches := make([]batch, len(changes))
	for i := range changes {
		batches[i].changes = changes[i]
	}
	workload.Each(ctx, m.Fleet.Timeout, batches, func(ctx context.Context, b *batch) {
		for _, c := range b.changes {
			if b.err = m.write(ctx, o, c); b.err != nil {
				return
			}
		}
	})
	var faults []error
	for i := range batches {
		faults = append(faults, batches[i].err)
	}
	return errors.Join(faults...)
}

// write writes one change, and notes what came of it.
func (m *Mode) write(ctx context.Context, o *outcome, c change) error {
	r := c.result
	hpa, ran := placedOf(r.own), r.current() > 0
	err := c.apply(ctx, o.Object)
	m.Metrics.wrote(r.Facts.Name, c.kind(), err)
	if err != nil {
		r.failure, *r.failed.of(c) = err.Error(), true
		return fmt.Errorf("cluster %s: %w", r.Facts.Name, err)
	}
	r.noted(c, hpa, ran, o.Object.Generation, o.Now)
	if c.scale != nil || !o.gaveUp(&r.site) { // then what it is given up for was not written
		*r.took.of(c) = true
	}
	klog.FromContext(ctx).Info("Wrote to the cluster", append([]any{"cluster", r.Facts.Name}, c.about(o.Object)...)...)
	return nil
}

func (c change) apply(ctx context.Context, object *v1alpha1.FederatedHPA) (err error) {
	r := c.result
	switch {
	case c.remove != nil:
		if err = r.Member.Delete(ctx, c.remove); err == nil {
			r.lost(c.remove)
		}
	case c.write != nil:
		var stored *autoscalingv2.HorizontalPodAutoscaler
		if stored, err = r.Member.Apply(ctx, claims.InMember(object, true), c.write); err == nil {
			r.own, r.written = stored, stored
		}
	case c.make != nil:
		err = r.Member.Create(ctx, c.make)
		if r.made = err == nil; apierrors.IsAlreadyExists(err) {
			err = nil // the next reconcile sees it
		}
	case c.scale != nil:
		err = r.setScale(ctx, object, *c.scale)
	}
	return err
}

// lost notes that an autoscaler of ours is no longer there.
func (s *site) lost(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if hpa == s.own {
		s.own, s.written, s.removed = nil, nil, hpa
		return
	}
	s.surplus = slices.DeleteFunc(slices.Clone(s.surplus), func(other *autoscalingv2.HorizontalPodAutoscaler) bool { return other == hpa })
}

// setScale sets the replicas unless somebody else has begun or ended to run some meanwhile.
func (s *site) setScale(ctx context.Context, object *v1alpha1.FederatedHPA, n int32) error {
	scale, ref := s.Scale.DeepCopy(), object.Spec.ScaleTargetRef
	return retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if scale == nil {
			if scale, err = s.Member.Scale(ctx, object.Namespace, ref); err != nil {
				return err
			}
		}
		if (scale.Spec.Replicas == 0) == (n == 0) {
			return nil
		}
		scale.Spec.Replicas = n
		err = s.Member.SetScale(ctx, ref, scale)
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

func (c change) about(object *v1alpha1.FederatedHPA) []any {
	switch {
	case c.write != nil:
		return []any{"what", c.kind(), "hpa", c.write.Name, "min", ptr.Deref(c.write.Spec.MinReplicas, 0), "max", c.write.Spec.MaxReplicas,
			"held", held(c.write)}
	case c.scale != nil:
		return []any{"what", c.kind(), "workload", workload.Describe(object.Spec.ScaleTargetRef), "replicas", *c.scale}
	case c.remove != nil:
		return []any{"what", c.kind(), "hpa", c.remove.Name}
	default:
		return []any{"what", c.kind(), "workload", workload.Describe(object.Spec.ScaleTargetRef)}
	}
}
