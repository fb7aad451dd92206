// SPDX-License-Identifier: Apache-2.0

package mirror

import "github.com/fleetscale/fleetscale/pkg/fleet"

const (
	// ReasonNotListed: the member's objects were not asked for before, and are being listed.
	ReasonNotListed fleet.Reason = "NotListed"
	// ReasonOutOfScope: the objects are not in [Options].Scope, so that no member is asked for them.
	ReasonOutOfScope fleet.Reason = "OutOfScope"
)
