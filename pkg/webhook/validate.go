// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	judged "github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// validator judges objects of a kind, next to what else the hub has.
type validator[T client.Object] struct {
	kind[T]
	hub      client.Reader
	scope    tenancy.Scope // of hub
	kinds    *Kinds
	reviewer Reviewer
}

func (v validator[T]) judge(ctx context.Context, request admission.Request) verdict {
	object, before := v.empty(), *new(T)
	if err := read(request.Object.Raw, object); err != nil {
		return failed(http.StatusBadRequest, fmt.Errorf("reading the %s: %w", v.name, err))
	}
	if object.GetNamespace() == "" { // as old API servers send what is created
		object.SetNamespace(request.Namespace)
	}
	if len(request.OldObject.Raw) > 0 {
		before = v.empty()
		if err := read(request.OldObject.Raw, before); isHarmful(err) {
			before = *new(T) // stored while there was no webhook; what fixes it is judged as if it were new
		} else if err != nil {
			return failed(http.StatusBadRequest, fmt.Errorf("reading the %s as it was: %w", v.name, err))
		}
	}
	known, outside, err := v.neighbours(ctx, request.Namespace, object)
	if err != nil {
		return failed(http.StatusServiceUnavailable, err)
	}
	known.Target = v.kinds.of(ctx, v.target(object))
	faults, warnings := v.validate(object, before, known)
	warnings = append(outside, warnings...)
	if len(faults) == 0 {
		if faults, err = v.judgeAuthor(ctx, request, object, before); err != nil {
			return failed(http.StatusServiceUnavailable, err)
		}
	}
	if len(faults) > 0 {
		return refused(v1alpha1.SchemeGroupVersion.WithKind(v.name).GroupKind(), object.GetName(), faults, warnings)
	}
	return allowed(warnings)
}

// neighbours are what bears on the object beside it; where its namespace is out of scope, nothing that is known, and outside says so.
// Such an object is judged by itself, and its author is asked: nobody is asked again when the namespace comes into scope.
func (v validator[T]) neighbours(ctx context.Context, namespace string, object T) (known judged.Neighbours, outside []string, err error) {
	if !v.scope.Has(namespace) {
		return judged.Neighbours{}, []string{v.scope.Outside(namespace)}, nil
	}
	known, err = v.gather(ctx, v.hub, namespace, object)
	return known, nil, err
}

// judgeAuthor asks about who writes the object, if it has more created than before.
func (v validator[T]) judgeAuthor(ctx context.Context, request admission.Request, object, before T) (field.ErrorList, error) {
	var former judged.Creation
	if any(before) != any(*new(T)) {
		former = v.creation(before)
	}
	creation := v.creation(object)
	if object.GetDeletionTimestamp() != nil || !judged.AsksAuthor(creation, former) {
		return nil, nil
	}
	return v.kinds.authorFaults(ctx, v.reviewer, request.UserInfo, object.GetNamespace(), *creation)
}
