// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// record stores the assignment of every cluster in the status, before any of it is written, and reports what is new.
func (m *Mode) record(ctx context.Context, p plan, explained *explanation.Memory) error {
	status := p.status()
	limit := explanation.SplitLimitedBy(&p.step)
	limited := p.fault == nil && explained.Otherwise(explanation.LimitedByOf(p.Object.Status.Explanation), limit)
	if limited || !equality.Semantic.DeepEqual(&p.Object.Status, &status) {
		status.Explanation = p.explain(&status)
		if err := m.Recorder.Status(ctx, p.Object, action, status); err != nil {
			return err
		}
		if p.fault == nil {
			explained.Wrote(limit)
		}
	}
	if moved := p.moved(&status); moved != "" && p.step.Action != "" && p.Object.Spec.Mode != v1alpha1.ModeObserve {
		m.event(p.Object, string(p.step.Action), moved)
		m.Metrics.stepped(p.step.Action)
	}
	m.Recorder.Tell(p.Object, p.news(&status), action)
	return nil
}

func (m *Mode) event(object *v1alpha1.FederatedHPA, reason, message string) {
	m.Recorder.Event(object, record.Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}, action)
}

// news are the Events of a fault, or of clusters whose state has changed.
func (p *plan) news(status *v1alpha1.FederatedHPAStatus) (news record.Events) {
	if p.fault != nil {
		var own *fault
		told := errors.As(p.fault, &own) && own.told
		if c := p.able(); !told && summary.Condition(&p.Object.Status, c.Type).Message != c.Message {
			news.Add(corev1.EventTypeWarning, c.Reason, c.Message)
		}
		return news
	}
	if gone := p.deregistered(); len(gone) > 0 {
		news.Add(corev1.EventTypeWarning, eventClusterRemoved, "no longer registered, so their HorizontalPodAutoscalers are left unchanged: "+
			strings.Join(gone, ", "))
	}
	for c := range sight.Pointers(status.Clusters) {
		if c.Reason == record.ReasonScaleUndone && sight.Before(p.Object, c.Name).Reason != c.Reason {
			news.Add(corev1.EventTypeWarning, c.Reason, c.Message)
		}
	}
	better, worse := p.changed(status)
	if len(worse) > 0 {
		news.Add(corev1.EventTypeWarning, record.EventClusterChanged, strings.Join(slices.Concat(worse, better), "; "))
	} else if len(better) > 0 {
		news.Add(corev1.EventTypeNormal, record.EventClusterChanged, strings.Join(better, "; "))
	}
	return news
}

// changed says which clusters have changed since the last reconcile, for the better and for the worse.
func (p *plan) changed(status *v1alpha1.FederatedHPAStatus) (better, worse []string) {
	for i := range status.Clusters {
		c, was := &status.Clusters[i], sight.Before(p.Object, status.Clusters[i].Name)
		refuses, refused := rejects(c.Reason), rejects(was.Reason)
		if word := record.Standing(&was, c); word != "" {
			better = append(better, word)
			continue
		}
		switch before := was.State; {
		case c.Reason == record.ReasonScaleUndone: // of which there is an Event of its own
		case refuses && !refused:
			worse = append(worse, fmt.Sprintf("cluster %s rejects writes: %s", c.Name, c.Message))
		case refuses, before == c.State && !refused, before == "" && c.State == v1alpha1.ClusterActive:
		case c.State == v1alpha1.ClusterActive, c.State == v1alpha1.ClusterScaledToZero, c.Reason == reasonNoShare:
			better = append(better, fmt.Sprintf("cluster %s is %s", c.Name, c.State))
		default:
			worse = append(worse, fmt.Sprintf("cluster %s is %s: %s", c.Name, c.State, c.Message))
		}
	}
	return better, worse
}

// rejects reports whether a cluster keeps what it has for that reason.
func rejects(reason string) bool {
	return reason == reasonFailedWrite || reason == record.ReasonScaleUndone
}

// deregistered are the clusters that have an autoscaler of ours, and are no longer registered: what we made there cannot
// be taken back.
func (p *plan) deregistered() (names []string) {
	for c := range sight.Pointers(p.Deregistered) {
		if ptr.Deref(c.AssignedMax, 0) > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// moved returns which clusters get other bounds, or start or stop to run.
func (p *plan) moved(status *v1alpha1.FederatedHPAStatus) string {
	var all []string
	for c := range sight.Pointers(status.Clusters) {
		lower, upper := int32(0), int32(0)
		if at := slices.IndexFunc(p.sites, func(s site) bool { return s.Facts.Name == c.Name }); at >= 0 {
			lower, upper = p.sites[at].last.Min, p.sites[at].last.Max
		}
		if ptr.Deref(c.AssignedMin, 0) != lower || ptr.Deref(c.AssignedMax, 0) != upper {
			all = append(all, fmt.Sprintf("%s: %d-%d to %d-%d", c.Name, lower, upper, *c.AssignedMin, *c.AssignedMax))
		}
		if c.AssignedReplicas != nil && *c.AssignedReplicas != ptr.Deref(c.CurrentReplicas, 0) {
			all = append(all, fmt.Sprintf("%s: %d to %d replicas", c.Name, ptr.Deref(c.CurrentReplicas, 0), *c.AssignedReplicas))
		}
	}
	return strings.Join(all, ", ")
}

// Reasons of clusters, conditions and Events, beside the actions of package assignment and the reasons of package fleet.
const (
	// reasonNotSelected: neither affinity nor placement name the cluster any more.
	reasonNotSelected = "NotSelected"
	// reasonNoSelector: the workload does not say which Pods are its own.
	reasonNoSelector = "SelectorRequired"
	// reasonNotCreated: the cluster lacks the workload, and may not get it from us.
	reasonNotCreated = "CreationNotAllowed"
	// reasonNoShare: the split leaves nothing to the cluster.
	reasonNoShare = "NoShare"
	// reasonFailedWrite: the cluster refuses what we write.
	reasonFailedWrite = "FailedWrite"
	// reasonNotSupported: the cluster is too old for a part of the spec.
	reasonNotSupported = "MetricNotSupported"
	// reasonNoClusters: no cluster takes part.
	reasonNoClusters = "NoClusters"
	// reasonFailedReadHub: the workload on the hub, or where it is placed, cannot be read.
	reasonFailedReadHub = "FailedReadHub"
	// reasonWaiting: the object cannot go yet, or not into central mode.
	reasonWaiting = "WaitingForClusters"

	// eventClusterRemoved: a cluster with an autoscaler of ours is no longer registered.
	eventClusterRemoved = "ClusterRemoved"
	// eventLeftBehind: a deletion ended although autoscalers are still there.
	eventLeftBehind = "LeftBehind"
	// eventWorkloadMade and eventWorkloadRemoved: we created the workload in a cluster, or deleted it again.
	eventWorkloadMade    = "WorkloadCreated"
	eventWorkloadRemoved = "WorkloadDeleted"
)
