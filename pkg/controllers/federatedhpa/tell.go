// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

const (
	// action is what Events say was being done.
	action = "Autoscale"
	// summary.LongestNote is what an Event holds of a text, in bytes.
)

// record tells what was decided and done: Events, and the status if it tells more than the one stored.
func (r *Reconciler) record(ctx context.Context, in *situation, d *decision) error {
	status := in.status(d)
	r.tellOf(ctx, in, d, &status)
	if !worthWriting(&in.object.Status, &status) {
		return nil
	}
	bare := *in.object
	bare.Status = v1alpha1.FederatedHPAStatus{}
	after := bare.DeepCopy()
	after.Status = status
	err := r.Hub.Status().Update(ctx, after, client.FieldOwner(fieldManager))
	switch {
	case err == nil:
		r.memories.wrote(in.object, after)
	case !apierrors.IsConflict(err):
		r.event(in.object, corev1.EventTypeWarning, eventFailedUpdateStatus, err.Error())
		err = fmt.Errorf("writing the status: %w", err)
	}
	return err
}

func (r *Reconciler) tellOf(ctx context.Context, in *situation, d *decision, status *v1alpha1.FederatedHPAStatus) {
	var news news
	for _, e := range d.Events {
		news.add(e.Type, e.Reason, e.Message)
	}
	if moved := in.moved(d); moved != "" {
		news.add(corev1.EventTypeNormal, eventMoved, moved)
	}
	for i := range status.Clusters {
		news.addCluster(in, &status.Clusters[i])
	}
	now, before := summary.Condition(status, v1alpha1.Propagated), summary.Condition(&in.object.Status, v1alpha1.Propagated)
	if now.Status == corev1.ConditionFalse && before.Status != corev1.ConditionFalse {
		news.add(corev1.EventTypeWarning, now.Reason, now.Message)
	}
	for _, e := range news {
		r.event(in.object, e.Type, e.Reason, e.Message)
	}
	klog.FromContext(ctx).V(2).Info("Decided", "replicas", in.scale.Replicas, "desired", d.Replicas, "metric", d.Explanation.Metric,
		"recommended", d.Explanation.Recommended, "held", d.Explanation.Held, "unseen", d.Explanation.Unseen)
}

// moved says which clusters got replicas of others, if no more and no fewer are wanted.
func (in *situation) moved(d *decision) string {
	if d.Rescale || d.division == nil {
		return ""
	}
	var all []string
	for _, c := range d.division.changes {
		if c.err == nil {
			all = append(all, fmt.Sprintf("%s: %d to %d", c.part.facts.Name, c.from, c.to))
		}
	}
	return strings.Join(all, ", ")
}

// news are the Events of one look, one for each reason: several of one object would be taken for one that repeats, and
// only the first would be told.
type news []replicas.Event

func (n *news) add(kind, reason, message string) {
	i := slices.IndexFunc(*n, func(e replicas.Event) bool { return e.Type == kind && e.Reason == reason })
	if i < 0 {
		*n = append(*n, replicas.Event{Type: kind, Reason: reason, Message: message})
		return
	}
	(*n)[i].Message += "; " + message
}

// addCluster tells of a cluster that takes part in another way than before. That it can not be seen is said of all
// together.
func (n *news) addCluster(in *situation, now *v1alpha1.ClusterStatus) {
	i := slices.IndexFunc(in.object.Status.Clusters, func(c v1alpha1.ClusterStatus) bool { return c.Name == now.Name })
	switch {
	case i >= 0 && in.object.Status.Clusters[i].State == now.State, i < 0 && now.State == v1alpha1.ClusterActive:
		return
	case now.State == v1alpha1.ClusterUnreachable:
		return
	case now.State == v1alpha1.ClusterActive:
		n.add(corev1.EventTypeNormal, eventClusterChanged, fmt.Sprintf("cluster %s takes part fully", now.Name))
	default:
		n.add(corev1.EventTypeWarning, eventClusterChanged, fmt.Sprintf("cluster %s is %s: %s", now.Name, now.State, now.Message))
	}
}

func (r *Reconciler) event(object *v1alpha1.FederatedHPA, kind, reason, message string) {
	r.Events.Eventf(object, nil, kind, reason, action, "%s", summary.Brief(message, summary.LongestNote))
}
