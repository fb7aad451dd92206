// SPDX-License-Identifier: Apache-2.0

package explanation

import "github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"

// Memory is by what the explanation of an object was limited that was written last; the zero value says that none was. A hub whose CRD
// lacks status.explanation drops it, so that the status does not tell.
type Memory struct{ limitedBy string }

// Wrote notes what limits by the explanation that was written.
func (m *Memory) Wrote(limitedBy string) { m.limitedBy = limitedBy }

// Otherwise reports whether another step limits than was written last; stored is what limits by the explanation in the status, by which it
// is judged until one was written. A fleet at rest is limited by the same all the time.
func (m *Memory) Otherwise(stored, limitedBy string) bool {
	if m.limitedBy != "" {
		return m.limitedBy != limitedBy
	}
	return stored != limitedBy
}

// LimitedByOf is what limits by an explanation; empty: there is none.
func LimitedByOf(e *v1alpha1.DecisionExplanation) string {
	if e == nil {
		return ""
	}
	return e.LimitedBy
}
