// SPDX-License-Identifier: Apache-2.0

package sight

import (
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/members/selection"
)

// Reader reads the fleet.
type Reader struct {
	selection.Reader

	Clock clock.PassiveClock
}
