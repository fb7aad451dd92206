// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// clear takes away what we made in clusters that have no part any more: the workload, once the other clusters run what
// they should. A workload that others made stays, with its replicas.
func (m *Mode) clear(ctx context.Context, p *plan) {
	if !p.settled() {
		return
	}
	workload.Each(ctx, m.Fleet.Timeout, p.sites, func(ctx context.Context, s *site) {
		if s.leavesBehind() {
			s.fault = errors.Join(s.fault, m.removeWorkload(ctx, p.Object, s))
		}
	})
}

// settled: every cluster that takes part is in sight, has its bounds, and all that it runs is Ready.
func (in *situation) settled() bool {
	runs := int64(0)
	for s := range sight.Pointers(in.sites) {
		switch {
		case s.presence == assignment.Leaving, s.Drained():
			continue
		case s.presence == assignment.Silent, s.presence == assignment.Refusing:
			return false
		case s.next.Scale != nil || !s.has(s.next.Min, s.next.Max) || int32(s.Pods.Ready()) < s.current():
			return false
		}
		runs += int64(s.current())
	}
	return runs > 0 && runs >= int64(*in.Object.Spec.MinReplicas)
}

// leavesBehind: a cluster without a part that can be asked what there is of the workload.
func (s *site) leavesBehind() bool {
	return s.next.Max == 0 && s.here() && !s.lacks() && !s.cleared && s.own == nil && s.state != v1alpha1.ClusterConflict
}

// removeWorkload deletes the workload if we made it.
func (m *Mode) removeWorkload(ctx context.Context, object *v1alpha1.FederatedHPA, s *site) error {
	found, err := s.Member.Get(ctx, object.Namespace, object.Spec.ScaleTargetRef)
	if err != nil {
		silence, absent := fleet.Classify(err)
		if s.cleared = absent; absent {
			return nil
		}
		return fmt.Errorf("cluster %s: reading what was created there: %w", s.Facts.Name, silence)
	}
	if !claims.Ours(found, object.UID) {
		s.cleared = true
		return nil
	}
	if err := s.Member.Remove(ctx, found); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cluster %s: deleting what was created there: %w", s.Facts.Name, err)
	}
	s.cleared = true
	m.event(object, eventWorkloadRemoved, fmt.Sprintf("%s, which was created for cluster %s, was deleted there",
		workload.Describe(object.Spec.ScaleTargetRef), s.Facts.Name))
	return nil
}

// Leave takes the autoscalers out of the members, for an object that is of central mode now, and reports whether all are
// gone. No replica goes with them. Where it has to wait, the status says for whom.
func (m *Mode) Leave(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) (left bool, err error) {
	if err := m.refresh(ctx, object, memory); err != nil {
		return false, err
	}
	if waiting := m.withdraw(ctx, object, memory, false); len(waiting) > 0 {
		return false, m.wait(ctx, object, memory, waiting)
	}
	status := *object.Status.DeepCopy()
	status.Assignment, status.Conditions, status.Clusters = nil, nil, nil
	if err := m.Recorder.Status(ctx, object, action, status); err != nil {
		return false, err
	}
	object.Status = status
	return true, m.Recorder.Unbind(ctx, object)
}

// release lets an object go that is being deleted: its autoscalers go first, or become nobody's. As long as it keeps its
// finalizer it waits, and the status says for whom.
func (m *Mode) release(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) error {
	if !record.Bound(object) {
		return nil
	}
	orphan := object.Spec.DeletionPolicy == v1alpha1.DeletionPolicyOrphan
	waiting := m.withdraw(ctx, object, memory, orphan)
	switch {
	case len(waiting) > 0 && m.Fleet.Clock.Since(object.DeletionTimestamp.Time) < m.DeletionGrace:
		return m.wait(ctx, object, memory, waiting)
	case len(waiting) > 0:
		m.leaveBehind(ctx, object, waiting, orphan)
	}
	return m.Recorder.Unbind(ctx, object)
}

// leaveBehind reports what an object leaves in clusters that it no longer waits for.
func (m *Mode) leaveBehind(ctx context.Context, object *v1alpha1.FederatedHPA, waiting []waitedFor, orphan bool) {
	then := "they are removed once these are back"
	if orphan {
		then = "they stay, with the label " + v1alpha1.ManagedByLabel + ", which you can remove"
	}
	left := fmt.Sprintf("HorizontalPodAutoscalers are left behind in clusters that could not be written for %v: %s; %s", m.DeletionGrace,
		inWords(waiting), then)
	m.Recorder.Event(object, record.Event{Type: corev1.EventTypeWarning, Reason: eventLeftBehind, Message: left}, action)
	klog.FromContext(ctx).Info("Left HorizontalPodAutoscalers behind in clusters that could not be written", "clusters", inWords(waiting))
}

// waitedFor is a cluster that cannot be written, and what it says, which may read otherwise each time.
type waitedFor struct{ name, why string }

func inWords(all []waitedFor) string {
	var words []string
	for _, w := range all {
		word := w.name
		if w.why != "" {
			word += " (" + w.why + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// wait reports for which clusters an object waits, and again once these are others.
func (m *Mode) wait(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory, clusters []waitedFor) error {
	var names []string
	for _, w := range clusters {
		names = append(names, w.name)
	}
	told := slices.Equal(names, memory.waiting)
	memory.waiting = names
	return m.rest(ctx, object, &fault{reasonWaiting, fmt.Sprintf("HorizontalPodAutoscalers remain in clusters that cannot be written: %s; "+
		"they are removed once the clusters are back; for one that does not come back, delete its registration", inWords(clusters)), told})
}

// rest leaves all as it is. The status says why, and an Event, if it is something else than before.
func (m *Mode) rest(ctx context.Context, object *v1alpha1.FederatedHPA, why *fault) error {
	in := situation{Sight: sight.Sight{Object: object, Now: m.Fleet.Clock.Now()}, fault: why}
	return m.record(ctx, plan{situation: in}, &explanation.Memory{})
}

// withdraw deletes the object's autoscalers in all registered clusters, or makes them nobody's, and returns the clusters
// where that is not possible now, with what they say.
func (m *Mode) withdraw(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory, orphan bool) (waiting []waitedFor) {
	all := m.Fleet.All(object)
	sites := sitesOf(&all, memory, m.Grace)
	workload.Each(ctx, m.Fleet.Timeout, sites, func(ctx context.Context, s *site) {
		s.Autoscalers = s.Member.Autoscalers(ctx, object.Namespace)
		if s.seeAutoscalers(object); s.own != nil {
			s.surplus = append(s.surplus, s.own)
		}
		for _, hpa := range s.surplus {
			if s.here() && claims.Ours(hpa, object.UID) {
				s.fault = errors.Join(s.fault, s.give(ctx, object, hpa, orphan))
			}
		}
	})
	for s := range sight.Pointers(sites) {
		switch mayHave := s.mayHave() || len(s.surplus) > 0; {
		case s.fault != nil:
			waiting = append(waiting, waitedFor{s.Facts.Name, s.fault.Error()})
		case !s.here() && mayHave:
			waiting = append(waiting, waitedFor{name: s.Facts.Name})
		}
	}
	return waiting
}

// give deletes an autoscaler, or makes it nobody's. Nobody would let one go that is held.
func (s *site) give(ctx context.Context, object *v1alpha1.FederatedHPA, hpa *autoscalingv2.HorizontalPodAutoscaler, orphan bool) error {
	if !orphan {
		return s.Member.Delete(ctx, hpa)
	}
	free := hpa.DeepCopy()
	delete(free.Labels, v1alpha1.ManagedByLabel)
	delete(free.Annotations, v1alpha1.RemovedByAnnotation)
	if held(free) {
		free.Spec.Behavior = memberhpa.Render(object, free.Name, assignment.SiteStep{Min: 1, Max: 1}).Spec.Behavior
	}
	_, err := s.Member.Apply(ctx, claims.InMember(object, true), free)
	return err
}
