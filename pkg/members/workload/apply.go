// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Apply implements [Cluster].
func (c memberCluster) Apply(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler,
	error) {
	return c.applyOr(ctx, hpa, storing)
}

// Accepts implements [Cluster].
func (c memberCluster) Accepts(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, lacking *unstructured.Unstructured) error {
	if lacking != nil {
		if err := c.create(ctx, lacking, trying); err != nil {
			return err
		}
	}
	_, err := c.applyOr(ctx, hpa, trying)
	return err
}

// How a request is meant.
func storing(r *rest.Request) *rest.Request { return r }
func trying(r *rest.Request) *rest.Request  { return r.Param("dryRun", metav1.DryRunAll) }

func (c memberCluster) applyOr(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler,
	meant func(*rest.Request) *rest.Request) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.mayApply(ctx, hpa, version); err != nil {
		return nil, fmt.Errorf("applying %s %q: %w", autoscalerKind, hpa.Name, err)
	}
	stored, err := c.apply(ctx, hpa, version, meant)
	if knowsNoTolerance(err) {
		stored, err = c.apply(ctx, withoutTolerance(hpa), version, meant)
	}
	if err != nil {
		return nil, fmt.Errorf("applying %s %q: %w", autoscalerKind, hpa.Name, err)
	}
	return stored, nil
}

// mayApply is an error if somebody else has made one of that name, perhaps just now: to apply would take it over. And one
// that is to be nobody's is not made.
func (c memberCluster) mayApply(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, version schema.GroupVersion) error {
	there, err := c.stored(ctx, hpa, version)
	switch {
	case apierrors.IsNotFound(err) && hpa.Labels[v1alpha1.ManagedByLabel] != "":
		return nil
	case err == nil && there.Labels[v1alpha1.ManagedByLabel] == "" && there.Annotations[v1alpha1.AdoptByAnnotation] == "":
		return apierrors.NewAlreadyExists(current.WithResource(autoscalerResource).GroupResource(), hpa.Name)
	}
	return err
}

func (c memberCluster) apply(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, version schema.GroupVersion,
	meant func(*rest.Request) *rest.Request) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	body, err := memberhpa.Encode(hpa, version.String())
	if err != nil {
		return nil, err
	}
	request := autoscalersAt(c.Client().Patch(types.ApplyPatchType), version, hpa.Namespace).Name(hpa.Name).
		Param("fieldManager", FieldManager).Param("force", "true").Body(body)
	return c.autoscalerIn(ctx, meant(request))
}

// knowsNoTolerance returns what Kubernetes before 1.33 says of behavior.*.tolerance. Of other requests it drops a field that it
// does not know; a server-side apply fails.
func knowsNoTolerance(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && strings.Contains(status.Status().Message, ".tolerance: field not declared in schema")
}

func withoutTolerance(hpa *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	hpa = hpa.DeepCopy()
	if behavior := hpa.Spec.Behavior; behavior != nil {
		for _, rules := range []*autoscalingv2.HPAScalingRules{behavior.ScaleUp, behavior.ScaleDown} {
			if rules != nil {
				rules.Tolerance = nil
			}
		}
	}
	return hpa
}

// Delete implements [Cluster].
func (c memberCluster) Delete(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler) error {
	if hpa.UID == "" {
		return fmt.Errorf("deleting %s %q: its uid is not known", autoscalerKind, hpa.Name)
	}
	version, err := c.version(ctx)
	if err != nil {
		return err
	}
	request := autoscalersAt(c.Client().Delete(), version, hpa.Namespace).Name(hpa.Name)
	err = remove(ctx, request, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &hpa.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && c.isGone(ctx, hpa, version) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting %s %q: %w", autoscalerKind, hpa.Name, err)
	}
	return nil
}

// isGone is true if the object, or at least one of its uid, is no longer there.
func (c memberCluster) isGone(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, version schema.GroupVersion) bool {
	there, err := c.stored(ctx, hpa, version)
	return apierrors.IsNotFound(err) || err == nil && there.UID != hpa.UID
}

// stored returns what the cluster has under the name.
func (c memberCluster) stored(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler,
	version schema.GroupVersion) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return c.autoscalerIn(ctx, autoscalersAt(c.Client().Get(), version, hpa.Namespace).Name(hpa.Name))
}

// autoscalerIn returns what is kept of the answer to a request.
func (c memberCluster) autoscalerIn(ctx context.Context, request *rest.Request) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	answer, err := answerTo(ctx, request)
	if err != nil {
		return nil, err
	}
	stored, err := connection.Decode(ctx, c.Reading(), answer, func(answer []byte) (*autoscalingv2.HorizontalPodAutoscaler, error) {
		stored := &autoscalingv2.HorizontalPodAutoscaler{}
		return stored, decode(answer, stored, autoscalerKind)
	})
	if err != nil {
		return nil, err
	}
	return recordOf(stored).HorizontalPodAutoscaler, nil
}

// remove sends a deletion.
func remove(ctx context.Context, request *rest.Request, o metav1.DeleteOptions) error {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding a deletion: %w", err)
	}
	return request.SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
}
