// SPDX-License-Identifier: Apache-2.0

package central

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

const period = 15 * time.Second

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	fleettest.Same(t, what, want, got, cmpopts.EquateComparable(replicas.Requests{}))
}
