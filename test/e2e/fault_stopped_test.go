// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
)

// A member's API server ends: connections break, and new ones are refused.
func TestStoppedMember(t *testing.T) {
	e := whole(t)
	member := e.cluster(t, "member1")
	if err := member.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := isWhole(e.query(t, shopPath)); err != nil {
		t.Errorf("what is known of the member is no longer served: %v", err)
	}
	e.sees(t, "all namespaces lack the stopped member", allPath, lacks("member1", "Unreachable"))
	e.hears(t, "a sum lacks the stopped member", serviceMetric(presence), refuses(http.StatusServiceUnavailable, "member1 (Unreachable"))
	e.hears(t, "a part of it does not", serviceMetric(presence, "fleetscale.io/partial=allow"),
		tellsWithout("member1", "Unreachable", "web 2"))
	if err := member.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.recovers(t)
}
