// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
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
	object.SetManagedFields(nil) // they are most of what is sent, and in no patch
	before, err := json.Marshal(object)
	if err == nil {
		before, err = withFractions(before, map[string]any{"spec": sent.Spec})
	}
	if err != nil {
		return failed(http.StatusInternalServerError, fmt.Errorf("writing the %s: %w", m.name, err))
	}
	warnings := m.mutate(object)
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
