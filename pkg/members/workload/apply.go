// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/memberhpa"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Apply implements [Cluster].
func (c memberCluster) Apply(ctx context.Context, by claims.Autoscaler,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return c.applyOr(ctx, by, hpa, storing)
}

// Accepts implements [Cluster].
func (c memberCluster) Accepts(ctx context.Context, by claims.Autoscaler, hpa *autoscalingv2.HorizontalPodAutoscaler,
	lacking *unstructured.Unstructured) error {
	if lacking != nil {
		if err := c.create(ctx, lacking, trying); err != nil {
			return err
		}
	}
	_, err := c.applyOr(ctx, by, hpa, trying)
	return err
}

// How a request is meant.
func storing(r *rest.Request) *rest.Request { return r }
func trying(r *rest.Request) *rest.Request  { return r.Param("dryRun", metav1.DryRunAll) }

// applyOr writes to what is there as it was read, and reads it again if somebody was faster.
func (c memberCluster) applyOr(ctx context.Context, by claims.Autoscaler, hpa *autoscalingv2.HorizontalPodAutoscaler,
	meant func(*rest.Request) *rest.Request) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	var stored *autoscalingv2.HorizontalPodAutoscaler
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		stored, err = autoscalerWriter{c, version, meant}.write(ctx, by, hpa)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("applying %s %q: %w", autoscalerKind, hpa.Name, err)
	}
	return recordOf(stored).HorizontalPodAutoscaler, nil
}

// autoscalerWriter writes HorizontalPodAutoscalers to a cluster in a version, or only tries to.
type autoscalerWriter struct {
	memberCluster
	version schema.GroupVersion
	meant   func(*rest.Request) *rest.Request
}

// write makes it if there is none of its name, and changes it if there is one of the same owner, or one that was given to that.
// One that belongs to somebody else is left as it is; so is one that changes hands, or is made, while it is written.
func (w autoscalerWriter) write(ctx context.Context, by claims.Autoscaler,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	there, err := w.stored(ctx, hpa, w.version)
	switch {
	case apierrors.IsNotFound(err) && hpa.Labels[v1alpha1.ManagedByLabel] != "": // one that is to be nobody's is not made
		return w.make(ctx, hpa)
	case err != nil:
		return nil, err
	case !by.Owns(claims.Of(there)):
		return nil, apierrors.NewAlreadyExists(current.WithResource(autoscalerResource).GroupResource(), hpa.Name)
	}
	if there, err = w.own(ctx, there); err != nil {
		return nil, err
	}
	hpa = hpa.DeepCopy()
	hpa.UID, hpa.ResourceVersion = there.UID, there.ResourceVersion
	stored, err := w.change(ctx, hpa)
	if knowsNoTolerance(err) {
		stored, err = w.change(ctx, withoutTolerance(hpa))
	}
	return stored, err
}

// make is an error if there is one of that name, which an apply would change.
func (w autoscalerWriter) make(ctx context.Context,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	hpa = hpa.DeepCopy()
	hpa.UID, hpa.ResourceVersion = "", ""
	body, err := memberhpa.Encode(hpa, w.version.String())
	if err != nil {
		return nil, err
	}
	request := autoscalersAt(w.Client().Post(), w.version, hpa.Namespace).
		Param("fieldManager", FieldManager).SetHeader("Content-Type", "application/json").Body(body)
	return w.autoscalerIn(ctx, w.meant(request))
}

// own has the fields of one that we made be ours as those that we apply are: an apply does not take away what it lacks otherwise.
func (w autoscalerWriter) own(ctx context.Context,
	there *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(there, sets.New(FieldManager), FieldManager)
	if err != nil || patch == nil {
		return there, err
	}
	request := autoscalersAt(w.Client().Patch(types.JSONPatchType), w.version, there.Namespace).Name(there.Name).Body(patch)
	return w.autoscalerIn(ctx, w.meant(request))
}

// change is a conflict unless uid and resourceVersion are those that the object has.
func (w autoscalerWriter) change(ctx context.Context,
	hpa *autoscalingv2.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	body, err := memberhpa.Encode(hpa, w.version.String())
	if err != nil {
		return nil, err
	}
	request := autoscalersAt(w.Client().Patch(types.ApplyPatchType), w.version, hpa.Namespace).Name(hpa.Name).
		Param("fieldManager", FieldManager).Param("force", "true").Body(body)
	return w.autoscalerIn(ctx, w.meant(request))
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

// stored returns what the cluster has under the name.
func (c memberCluster) stored(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler,
	version schema.GroupVersion) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	return c.autoscalerIn(ctx, autoscalersAt(c.Client().Get(), version, hpa.Namespace).Name(hpa.Name))
}

// autoscalerIn returns the answer to a request.
func (c memberCluster) autoscalerIn(ctx context.Context, request *rest.Request) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	answer, err := connection.Answer(ctx, request)
	if err != nil {
		return nil, err
	}
	return connection.DecodeKind(ctx, c.Reading(), answer, &autoscalingv2.HorizontalPodAutoscaler{}, autoscalerKind)
}
