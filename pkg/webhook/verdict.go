// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// verdict is an answer, and what it is counted by.
type verdict struct {
	admission.Response
	result string
	rules  []string // that refused, each once
}

func allowed(warnings []string) verdict {
	return verdict{Response: admission.Allowed("").WithWarnings(warnings...), result: resultAllowed}
}

// refused reports every fault in one response, as the API server does for its own kinds.
func refused(kind schema.GroupKind, name string, faults field.ErrorList, warnings []string) verdict {
	status := apierrors.NewInvalid(kind, name, faults).ErrStatus
	response := admission.Denied("").WithWarnings(warnings...)
	response.Result = &status
	v := verdict{Response: response, result: resultRefused}
	for _, fault := range faults {
		v.rules = append(v.rules, fault.Origin)
	}
	slices.Sort(v.rules)
	v.rules = slices.Compact(v.rules)
	return v
}

// failed is for what could not be judged.
func failed(code int, err error) verdict {
	return verdict{Response: admission.Errored(int32(code), err), result: resultFailed}
}
