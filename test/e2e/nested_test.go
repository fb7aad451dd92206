// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
)

// A member becomes the hub of a fleet of its own. Its answers would hold pods
// of several clusters, so it is refused, until it is a plain cluster again.
func TestMemberThatIsAHubIsRefused(t *testing.T) {
	e := whole(t)
	member := e.cluster(t, "member3")
	if err := e.InstallHub(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	nested, err := e.StartAdapter(t.Context(), member, "nested-adapter")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.TakeOver(t.Context(), nested); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { registerMetricsServer(t, member) })
	t.Cleanup(func() { registerTestAdapter(t, member) })
	e.sees(t, "the member is refused", allPath, lacks("member3", "NestedHub"))
	e.hears(t, "its custom metrics are not counted", serviceMetric(presence), refuses(http.StatusServiceUnavailable, "member3 (NestedHub"))
	if _, err := e.Restore(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	if err := nested.Stop(); err != nil {
		t.Error(err)
	}
	e.recovers(t)
}
