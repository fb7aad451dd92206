// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
)

// A member's API server ends: connections break, and new ones are refused.
func TestStoppedMember(t *testing.T) {
	e := whole(t)
	member, err := e.Cluster("member1")
	if err != nil {
		t.Fatal(err)
	}
	if err := member.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := isWhole(e.look(t, shopPath)); err != nil {
		t.Errorf("what is known of the member is not served any more: %v", err)
	}
	e.sees(t, "all namespaces lack the stopped member", allPath, lacks("member1", "Unreachable"))
	if err := member.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.recovers(t)
}
