// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/workload"
)

// hubTarget is the workload on the hub, which somebody else propagates to the members.
type hubTarget struct {
	*Reconciler
	// scale is as it was read, from resource; nil once it was written.
	scale    *autoscalingv1.Scale
	resource schema.GroupResource
}

func (t *hubTarget) read(ctx context.Context, in *situation) {
	scale, resource, err := t.get(ctx, in)
	if err != nil {
		in.scale.Err = err
		return
	}
	t.scale, t.resource = scale, resource
	in.scale = replicas.Scale{Replicas: scale.Spec.Replicas, StatusReplicas: scale.Status.Replicas, Selector: scale.Status.Selector}
}

// get reads the scale. Of several errors the first counts, as that of the preferred version; it is told as it is, as by a
// HorizontalPodAutoscaler.
func (t *hubTarget) get(ctx context.Context, in *situation) (*autoscalingv1.Scale, schema.GroupResource, error) {
	ref := in.object.Spec.ScaleTargetRef
	resources, err := resourcesOf(t.Mapper, ref)
	if err != nil {
		return nil, schema.GroupResource{}, err
	}
	var first error
	for _, resource := range resources {
		scale, err := t.Scales.Scales(in.object.Namespace).Get(ctx, resource, ref.Name, metav1.GetOptions{})
		if err == nil {
			return scale, resource, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, schema.GroupResource{}, first
}

// write sets the replicas even if somebody else did so meanwhile, as a HorizontalPodAutoscaler does.
func (t *hubTarget) write(ctx context.Context, in *situation, d decision) decision {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if t.scale == nil {
			if t.scale, t.resource, err = t.get(ctx, in); err != nil {
				return err
			}
		}
		if t.scale.Spec.Replicas == d.Replicas {
			return nil // somebody else did
		}
		t.scale.Spec.Replicas = d.Replicas
		_, err = t.Scales.Scales(in.object.Namespace).Update(ctx, t.resource, t.scale, metav1.UpdateOptions{FieldManager: fieldManager})
		t.scale = nil
		return err
	})
	if err != nil {
		d.Decision = d.Refused(in.now, err)
		return d
	}
	klog.FromContext(ctx).Info("Scaled the workload", "workload", workload.Describe(in.object.Spec.ScaleTargetRef),
		"from", in.scale.Replicas, "to", d.Replicas, "reason", d.Explanation.Reason)
	d.Decision = d.Scaled(in.now)
	return d
}

func (t *hubTarget) template(ctx context.Context, in *situation) *replicas.Requests {
	ref := in.object.Spec.ScaleTargetRef
	found := &unstructured.Unstructured{}
	found.SetAPIVersion(ref.APIVersion)
	found.SetKind(ref.Kind)
	if err := t.Live.Get(ctx, client.ObjectKey{Namespace: in.object.Namespace, Name: ref.Name}, found); err != nil {
		klog.FromContext(ctx).V(2).Info("Could not read the template of the workload's Pods", "workload", workload.Describe(ref), "err", err)
		return nil
	}
	return requestsOfTemplate(found)
}

// requestsOfTemplate reads spec.template, where all workloads of Kubernetes, and most others, have their Pods' template.
func requestsOfTemplate(workload *unstructured.Unstructured) *replicas.Requests {
	found, _, _ := unstructured.NestedMap(workload.Object, "spec", "template", "spec")
	spec := &corev1.PodSpec{}
	if guard.Unstructured(found, spec) != nil {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, spec); err != nil || len(spec.Containers) == 0 {
		return nil
	}
	return replicas.RequestsOf(spec)
}
