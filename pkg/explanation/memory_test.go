// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What was written counts, and not what the hub kept of it: a CRD without status.explanation drops it.
func TestOtherwiseLimited(t *testing.T) {
	byPolicy := &v1alpha1.DecisionExplanation{LimitedBy: "Policy"}
	tests := map[string]struct {
		written string
		stored  *v1alpha1.DecisionExplanation
		want    bool
	}{
		"a first decision":                         {"", nil, true},
		"after a restart, as it is stored":         {"", byPolicy, false},
		"after a restart, by another step":         {"", &v1alpha1.DecisionExplanation{LimitedBy: "Bounds"}, true},
		"as it was written, and the hub dropped":   {"Policy", nil, false},
		"as it was written, and not yet seen here": {"Policy", &v1alpha1.DecisionExplanation{LimitedBy: "Bounds"}, false},
		"by another step than was written":         {"Bounds", nil, true},
		"by another step than was written, stored": {"Bounds", byPolicy, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := &Memory{}
			m.Wrote(tc.written)
			if got := m.Otherwise(LimitedByOf(tc.stored), "Policy"); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
