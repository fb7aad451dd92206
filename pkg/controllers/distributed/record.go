// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// record stores in the status what every cluster is to have, before any of it is written, and tells of what is new.
func (r *Reconciler) record(ctx context.Context, in *situation, step *assignment.Step) error {
	status := in.status(step)
	if !equality.Semantic.DeepEqual(&in.object.Status, &status) {
		if err := r.store(ctx, in.object, status); err != nil {
			return err
		}
	}
	r.tell(in, step, &status)
	return nil
}

// store writes the status. A conflict is not spoken of: it comes again.
func (r *Reconciler) store(ctx context.Context, object *v1alpha1.FederatedHPA, status v1alpha1.FederatedHPAStatus) error {
	after := object.DeepCopy()
	after.Status = status
	err := r.Hub.Status().Update(ctx, after, client.FieldOwner(fieldManager))
	switch {
	case err == nil:
		r.memories.wrote(after)
		object.ResourceVersion = after.ResourceVersion
		return nil
	case apierrors.IsConflict(err):
		return err
	}
	r.warn(object, eventFailedUpdateStatus, err.Error())
	return fmt.Errorf("writing the status: %w", err)
}

// tell makes Events of what the step does, and of clusters that take part in another way than before.
func (r *Reconciler) tell(in *situation, step *assignment.Step, status *v1alpha1.FederatedHPAStatus) {
	if moved := in.moved(status); moved != "" && step.Action != "" {
		r.event(in.object, corev1.EventTypeNormal, string(step.Action), moved)
		r.Metrics.stepped(step.Action)
	}
	if in.fault != nil {
		if c := in.able(); summary.Condition(&in.object.Status, c.kind).Message != c.message {
			r.warn(in.object, c.reason, c.message)
		}
		return
	}
	if len(in.gone) > 0 {
		r.warn(in.object, eventClusterRemoved, "not registered any more, so their HorizontalPodAutoscalers stay as they are: "+strings.Join(in.gone, ", "))
	}
	var better, worse []string
	for i := range status.Clusters {
		c, was := &status.Clusters[i], in.before(status.Clusters[i].Name)
		refuses, refused := c.Reason == reasonFailedWrite, was.Reason == reasonFailedWrite
		switch before := was.State; {
		case refuses && !refused:
			worse = append(worse, fmt.Sprintf("cluster %s refuses what is written to it: %s", c.Name, c.Message))
		case refuses, before == c.State && !refused, before == "" && c.State == v1alpha1.ClusterActive:
		case c.State == v1alpha1.ClusterActive, c.State == v1alpha1.ClusterScaledToZero, c.Reason == reasonNoShare:
			better = append(better, fmt.Sprintf("cluster %s is %s", c.Name, c.State))
		default:
			worse = append(worse, fmt.Sprintf("cluster %s is %s: %s", c.Name, c.State, c.Message))
		}
	}
	if len(worse) > 0 {
		r.warn(in.object, eventClusterChanged, strings.Join(slices.Concat(worse, better), "; "))
	} else if len(better) > 0 {
		r.event(in.object, corev1.EventTypeNormal, eventClusterChanged, strings.Join(better, "; "))
	}
}

// before is what the status stored last says of a cluster; of one that is new nothing.
func (in *situation) before(cluster string) v1alpha1.ClusterStatus {
	statuses := in.object.Status.Clusters
	if i := slices.IndexFunc(statuses, func(c v1alpha1.ClusterStatus) bool { return c.Name == cluster }); i >= 0 {
		return statuses[i]
	}
	return v1alpha1.ClusterStatus{}
}

// moved says which clusters get other bounds, or begin or cease to run.
func (in *situation) moved(status *v1alpha1.FederatedHPAStatus) string {
	var all []string
	for i := range status.Clusters {
		c := &status.Clusters[i]
		lower, upper := int32(0), int32(0)
		if at := slices.IndexFunc(in.sites, func(s site) bool { return s.facts.Name == c.Name }); at >= 0 {
			lower, upper = in.sites[at].bounds()
		}
		if value(c.AssignedMin) != lower || value(c.AssignedMax) != upper {
			all = append(all, fmt.Sprintf("%s: %d-%d to %d-%d", c.Name, lower, upper, *c.AssignedMin, *c.AssignedMax))
		}
		if c.AssignedReplicas != nil {
			all = append(all, fmt.Sprintf("%s: %d to %d replicas", c.Name, value(c.CurrentReplicas), *c.AssignedReplicas))
		}
	}
	return strings.Join(all, ", ")
}
