// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

// mutator completes objects of a kind.
type mutator[T client.Object] struct{ kind[T] }

// judge answers with what changed of the object as we know it. Fields of a
// later version, which we do not, are in no patch and stay.
func (m mutator[T]) judge(_ context.Context, request admission.Request) verdict {
	object := m.empty()
	if err := read(request.Object.Raw, object); err != nil {
		return failed(http.StatusBadRequest, fmt.Errorf("reading the %s: %w", m.name, err))
	}
	var sent struct{ Spec map[string]any }
	if err := json.Unmarshal(request.Object.Raw, &sent); err != nil || sent.Spec == nil {
		return allowed(nil) // there is nothing to complete, and the schema refuses it
	}
	written := speccopy.Sent(object)
	object.SetManagedFields(nil) // they are most of what is sent, and in no patch
	before, err := json.Marshal(object)
	if err == nil {
		before, err = withFractions(before, map[string]any{"spec": sent.Spec})
	}
	if err != nil {
		return failed(http.StatusInternalServerError, fmt.Errorf("writing the %s: %w", m.name, err))
	}
	warnings := m.mutate(object)
	if stored, err := m.stored(request); err != nil {
		return failed(http.StatusBadRequest, err)
	} else if object.GetDeletionTimestamp() == nil {
		speccopy.Admit(object, written, stored)
	}
	after, err := json.Marshal(object)
	if err != nil {
		return failed(http.StatusInternalServerError, fmt.Errorf("writing the %s: %w", m.name, err))
	}
	v := allowed(warnings)
	if !bytes.Equal(before, after) {
		v.Response = admission.PatchResponseFromRaw(before, after).WithWarnings(warnings...)
	}
	return v
}

// stored is the object as it is stored; nil: it is new, or cannot be decoded in bounded time, and then it is as good as new.
func (m mutator[T]) stored(request admission.Request) (metav1.Object, error) {
	if len(request.OldObject.Raw) == 0 {
		return nil, nil //nolint:nilnil // none is an answer
	}
	before := m.empty()
	if err := read(request.OldObject.Raw, before); isHarmful(err) {
		return nil, nil //nolint:nilnil // none is an answer
	} else if err != nil {
		return nil, fmt.Errorf("reading the %s as it was: %w", m.name, err)
	}
	return before, nil
}
