// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

// The API server refuses a CustomResourceDefinition whose schema is not structural, whose CEL rules do not compile, or
// might cost too much for the largest object that the schema allows.
func TestAPIServerAcceptsTheCRDs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(crds, "autoscaling.karmada.io_*.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("CustomResourceDefinitions in %s: %v (%v), want four", crds, files, err)
	}
	for _, file := range files {
		if errs := validation.ValidateCustomResourceDefinition(t.Context(), load(t, file)); len(errs) > 0 {
			t.Errorf("%s is refused:\n%v", file, errs.ToAggregate())
		}
	}
}
