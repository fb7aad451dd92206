// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// findTemplate finds what clusters that lack the workload get. Where others place workloads they get nothing from us, and
// those others must not undo what the clusters' autoscalers set.
func (m *Mode) findTemplate(ctx context.Context, in *situation) error {
	byOthers := in.Rule.ByOthers()
	lacking := slices.ContainsFunc(in.sites, func(s site) bool { return s.lacks() })
	if !lacking && !byOthers {
		return nil
	}
	onHub, err := sight.OnHub(ctx, m.Live, in.Object)
	why := "none on the hub to copy"
	if apierrors.IsForbidden(err) && !byOthers { // it is not the other clusters' business
		why, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	if undone := in.Undone(onHub, true); undone.Reason != "" {
		return &fault{reason: undone.Reason, message: undone.Message}
	}
	var template *unstructured.Unstructured
	if !byOthers && onHub != nil {
		template = templateOf(onHub, in.Object)
	}
	why = fmt.Sprintf("there is no %s that can be scaled, and %s", workload.Describe(in.Object.Spec.ScaleTargetRef), why)
	for s := range sight.Pointers(in.sites) {
		if s.lacks() {
			s.offer(template, m.CreateWorkloads, why)
		}
	}
	return nil
}

// offer has a cluster that lacks the workload get it from the template, or take no part. Without a template why says that there is none.
func (s *site) offer(template *unstructured.Unstructured, byProgram bool, why string) {
	reason := record.ReasonTargetNotFound
	if template != nil {
		if why = uncreated(template, byProgram, s.Member.Creation()); why == "" {
			s.template = template
			return
		}
		reason = reasonNotCreated
	}
	if s.inSight() {
		s.leaves(v1alpha1.ClusterExcluded, reason, why)
	}
}

// templateOf is the workload of the hub as a member gets it, but for the replicas.
func templateOf(onHub *unstructured.Unstructured, object *v1alpha1.FederatedHPA) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{}}
	for field, content := range onHub.Object {
		if field != "metadata" && field != "status" {
			made.Object[field] = content
		}
	}
	made.SetNamespace(onHub.GetNamespace())
	made.SetName(onHub.GetName())
	labels := maps.Clone(onHub.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.ManagedByLabel] = string(object.UID)
	made.SetLabels(labels)
	annotations := maps.Clone(onHub.GetAnnotations())
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	delete(annotations, "deployment.kubernetes.io/revision")
	made.SetAnnotations(annotations)
	return made
}

// fault is why nothing may be done for an object.
type fault struct {
	reason, message string
	told            bool // its owner knows, be it in other words
}

func (f *fault) Error() string { return f.message }
