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

// kinds of writes: replicas, and all the others.
type kinds struct{ bounds, scale bool }

func (k *kinds) of(c change) *bool {
	if c.scale != nil {
		return &k.scale
	}
	return &k.bounds
}

// apply makes come true what has not: in all clusters what becomes less, and then what becomes more; of that the maxima
// only if all that becomes less could be written. What could not be written is retried by the next reconcile. The sites are then as
// they were left.
func (m *Mode) apply(ctx context.Context, p *plan) error {
	if p.fault != nil {
		return p.fault
	}
	m.writeAll(ctx, p, p.less())
	more := p.more()
	if !p.mayGrow() {
		for i, changes := range more {
			changes[0].site.blocked = slices.ContainsFunc(changes, change.grows)
			more[i] = slices.DeleteFunc(changes, change.grows)
		}
	}
	m.writeAll(ctx, p, more)
	m.probe(ctx, p)
	m.reportMade(p)
	m.clear(ctx, p)
	var faults []error
	for s := range sight.Pointers(p.sites) {
		faults = append(faults, s.fault)
	}
	return errors.Join(faults...)
}

// probe finds out whether clusters still refuse whose part the others have: by asking, since to write it would take it from
// the others first.
func (m *Mode) probe(ctx context.Context, p *plan) {
	workload.Each(ctx, m.Fleet.Timeout, p.sites, func(ctx context.Context, s *site) {
		if s.presence != assignment.Refusing || !p.gaveUp(s) || !s.here() || s.contested {
			return // what is set back is taken first, so to ask tells nothing
		}
		if s.trial.lately(p.Now) {
			s.blocked = true // it was asked lately, and refused all the same
			return
		}
		next := s.next
		next.Max = max(1, next.Share, s.stands())
		next.Min = min(max(1, next.Min), next.Max)
		var lacking *unstructured.Unstructured
		if s.template != nil {
			lacking = withReplicas(s.template, next.Min)
		}
		if err := s.Member.Accepts(ctx, claims.InMember(p.Object, true), s.rendered(&p.situation, next), lacking); err != nil {
			s.failed.bounds, s.failure = true, err.Error()
			return
		}
		s.took.bounds, s.accepted = true, true
	})
}

// reportMade makes one Event of all clusters that got the workload.
func (m *Mode) reportMade(p *plan) {
	made := p.words(func(s *site) string {
		if !s.made {
			return ""
		}
		return s.Facts.Name
	})
	if len(made) > 0 {
		m.event(p.Object, eventWorkloadMade, fmt.Sprintf("%s was created as on the hub in: %s",
			workload.Describe(p.Object.Spec.ScaleTargetRef), strings.Join(made, ", ")))
	}
}

// writeAll writes to all clusters side by side, and to each in order; after an error the rest of that cluster's waits.
func (m *Mode) writeAll(ctx context.Context, p *plan, changes [][]change) {
	workload.Each(ctx, m.Fleet.Timeout, changes, func(ctx context.Context, ofOne *[]change) {
		for _, c := range *ofOne {
			if err := m.write(ctx, p, c); err != nil {
				c.site.fault = errors.Join(c.site.fault, err)
				return
			}
		}
	})
}

// write writes one change, and notes what came of it.
func (m *Mode) write(ctx context.Context, p *plan, c change) error {
	s := c.site
	hpa, ran := placedOf(s.own), s.current() > 0
	err := c.apply(ctx, p.Object)
	m.Metrics.wrote(s.Facts.Name, c.kind(), err)
	if err != nil {
		s.failure, *s.failed.of(c) = err.Error(), true
		return fmt.Errorf("cluster %s: %w", s.Facts.Name, err)
	}
	s.noted(c, hpa, ran, p.Object.Generation, p.Now)
	if c.scale != nil || !p.gaveUp(s) { // then what it is given up for was not written
		*s.took.of(c) = true
	}
	klog.FromContext(ctx).Info("Wrote to the cluster", append([]any{"cluster", s.Facts.Name}, c.about(p.Object)...)...)
	return nil
}

func (c change) apply(ctx context.Context, object *v1alpha1.FederatedHPA) (err error) {
	s := c.site
	switch {
	case c.remove != nil:
		if err = s.Member.Delete(ctx, c.remove); err == nil {
			s.lost(c.remove)
		}
	case c.write != nil:
		var stored *autoscalingv2.HorizontalPodAutoscaler
		if stored, err = s.Member.Apply(ctx, claims.InMember(object, true), c.write); err == nil {
			s.own, s.written = stored, stored
		}
	case c.make != nil:
		err = s.Member.Create(ctx, c.make)
		if s.made = err == nil; apierrors.IsAlreadyExists(err) {
			err = nil // the next reconcile sees it
		}
	case c.scale != nil:
		err = s.setScale(ctx, object, *c.scale)
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
