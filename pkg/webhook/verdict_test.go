// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// A rule that is broken twice refuses once, and warnings come along.
func TestRefusal(t *testing.T) {
	faults := field.ErrorList{
		field.Required(field.NewPath("b"), "").WithOrigin("Second"), field.Required(field.NewPath("a"), "").WithOrigin("First"),
		field.Required(field.NewPath("c"), "").WithOrigin("Second"),
	}
	v := refused(schema.GroupKind{Kind: "FederatedHPA"}, "web", faults, []string{"mind the gap"})
	fleettest.Same(t, "rules", []string{"First", "Second"}, v.rules)
	fleettest.Same(t, "warnings", []string{"mind the gap"}, v.Warnings)
	if v.Allowed || len(v.Result.Details.Causes) != 3 {
		t.Errorf("allowed = %v, %v; want three causes", v.Allowed, v.Result)
	}
}
