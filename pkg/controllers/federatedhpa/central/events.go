// SPDX-License-Identifier: Apache-2.0

package central

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// action is the action of Events.
const action = "Autoscale"

// record reports what was decided and done: Events, and the status if it tells more than the one stored.
func (m *Mode) record(ctx context.Context, o *outcome, memory *Memory) error {
	status := o.status()
	if o.recorded != nil {
		m.Records.Record(o.finish(&status))
	}
	m.Recorder.Tell(o.Object, o.news(&status), action)
	klog.FromContext(ctx).V(2).Info("Decided", "replicas", o.scale.Replicas, "desired", o.Replicas, "metric", o.Explanation.Metric,
		"recommended", o.Explanation.Recommended, "held", o.Explanation.Held, "unseen", o.Explanation.Unseen)
	explained := o.scale.Err == nil
	limited := explained && memory.explained.Otherwise(explanation.LimitedByOf(o.Object.Status.Explanation),
		explanation.LimitedBy(o.decided()))
	if !worthWriting(&o.Object.Status, &status) && !limited {
		return nil
	}
	status.Explanation = o.explain()
	if err := m.Recorder.Status(ctx, o.Object, action, status); err != nil {
		return err
	}
	if explained {
		memory.explained.Wrote(status.Explanation.LimitedBy)
	}
	return nil
}

// news are the Events of a decision, and of what became of it.
func (o *outcome) news(status *v1alpha1.FederatedHPAStatus) (news record.Events) {
	for _, e := range o.Events {
		news.Add(e.Type, e.Reason, e.Message)
	}
	if moved := o.shifted(); moved != "" {
		news.Add(corev1.EventTypeNormal, eventMoved, moved)
	}
	for i := range status.Clusters {
		if now := &status.Clusters[i]; !o.proportional() || now.State != v1alpha1.ClusterExcluded || sight.Before(o.Object, now.Name).Name != "" {
			addCluster(&news, o.Object, now) // that clusters never had a workload is no news
		}
	}
	now, before := summary.Condition(status, v1alpha1.Propagated), summary.Condition(&o.Object.Status, v1alpha1.Propagated)
	if now.Status == corev1.ConditionFalse && before.Status != corev1.ConditionFalse {
		news.Add(corev1.EventTypeWarning, now.Reason, now.Message)
	}
	switch is, was := now.Reason == reasonInMembers, before.Reason == reasonInMembers; {
	case is && !was:
		news.Add(corev1.EventTypeNormal, reasonInMembers, now.Message)
	case was && !is && !o.inMembers:
		news.Add(corev1.EventTypeNormal, eventOnHub, fmt.Sprintf(
			"%s is on the hub now: its replicas are set there, for whoever propagates it to the clusters",
			workload.Describe(o.Object.Spec.ScaleTargetRef)))
	}
	return news
}

// shifted are the clusters that got replicas of others, if no more and no fewer are wanted.
func (o *outcome) shifted() string {
	if o.Rescale || o.division == nil {
		return ""
	}
	var all []string
	for _, p := range o.written {
		if p.err == nil {
			all = append(all, fmt.Sprintf("%s: %d to %d", p.Facts.Name, *p.assigned, *p.to))
		}
	}
	return strings.Join(all, ", ")
}

// addCluster reports a cluster whose state has changed. Those that cannot be seen are reported together.
func addCluster(news *record.Events, object *v1alpha1.FederatedHPA, now *v1alpha1.ClusterStatus) {
	before := sight.Before(object, now.Name)
	if word := record.Standing(&before, now); word != "" {
		news.Add(corev1.EventTypeNormal, record.EventClusterChanged, word)
		return
	}
	switch {
	case before.Name != "" && before.State == now.State, before.Name == "" && now.State == v1alpha1.ClusterActive:
		return
	case now.State == v1alpha1.ClusterUnreachable:
		return
	case now.State == v1alpha1.ClusterActive:
		news.Add(corev1.EventTypeNormal, record.EventClusterChanged, fmt.Sprintf("cluster %s is Active again", now.Name))
	default:
		news.Add(corev1.EventTypeWarning, record.EventClusterChanged, fmt.Sprintf("cluster %s is %s: %s", now.Name, now.State, now.Message))
	}
}

// Reasons of clusters and Events, beside those of package replicas, of package fleet and of package member.
const (
	// reasonFailedUpdateScale: the cluster could not be told its replicas.
	reasonFailedUpdateScale = "FailedUpdateScale"
	// reasonThresholds: the clusters may not run more.
	reasonThresholds = "Thresholds"
	// reasonNoRoom: no cluster is known to have room.
	reasonNoRoom = "NoRoom"
	// reasonRoom: some cluster has.
	reasonRoom = "Room"
	// reasonNotPropagated: members do not follow the workload on the hub. It is that of an Event, too.
	reasonNotPropagated = "NotPropagated"
	// reasonPropagated: they do.
	reasonPropagated = "MembersFollow"

	// reasonInMembers: the hub lacks the workload, and so each cluster is told its replicas. It is that of an Event, too.
	reasonInMembers = "ScaledInMembers"

	// eventOnHub: the hub has the workload by now, and is told its replicas.
	eventOnHub = "ScaledOnHub"
	// eventMoved: replicas went from one cluster to another.
	eventMoved = "ReplicasMoved"
)
