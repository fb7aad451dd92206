// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// Estimate is a member's room for further replicas of a workload: those that wait for a node are among them. While some
// have waited for long it should not be believed, since they know better.
type Estimate struct {
	Additional int32
	// Known is false when Additional says nothing.
	Known bool
	// Unknown is why it is not Known; nil if it is.
	Unknown *fleet.Silence
	// AsOf is the time at which it was so; zero if not Known.
	AsOf time.Time
}

func unknown(why *fleet.Silence) Estimate { return Estimate{Unknown: why} }

// source is one way to an estimate. It waits for what is not in memory, at most until ctx ends.
type source interface {
	estimate(ctx context.Context, m mirror.Member, w fit.Workload) Estimate
}
