// SPDX-License-Identifier: Apache-2.0

package mirror

import "github.com/fleetscale/fleetscale/pkg/fleet"

// ReasonNotListed: the member's objects were not asked for before, and are being listed.
const ReasonNotListed fleet.Reason = "NotListed"
