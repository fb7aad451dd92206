// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// The API server refuses a CustomResourceDefinition whose schema is not structural, whose CEL rules do not compile, or
// might cost too much for the largest object that the schema allows.
func TestAPIServerAcceptsTheCRDs(t *testing.T) {
	for _, file := range crds(t) {
		if errs := validation.ValidateCustomResourceDefinition(t.Context(), load(t, file)); len(errs) > 0 {
			t.Errorf("%s is refused:\n%v", file, errs.ToAggregate())
		}
	}
}
