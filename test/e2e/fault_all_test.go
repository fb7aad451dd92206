// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// When all members are silent there is no answer, and the reasons are given.
// Never is there an empty one, which would read as "no pods".
func TestAllMembersSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("freezing three clusters takes half a minute: run `make test-full PARTS=e2e`; TestFrozenMember freezes one cluster with -short too")
	}
	e := whole(t)
	for _, member := range allMembers() {
		e.freeze(t, member)
	}
	for _, path := range []string{allPath, shopPath, v1beta1 + "/nodes", v1beta1 + "/namespaces/never-asked-for/pods"} {
		e.sees(t, "nobody answers "+path, path, func(v view) error {
			switch {
			case v.Code == http.StatusOK && len(v.items) == 0:
				t.Errorf("GET %s: an empty 200", path)
				return nil
			case v.Code == http.StatusOK:
				return errors.New("it is still known")
			case v.Code != http.StatusServiceUnavailable || !strings.Contains(v.Message, "3 of 3 clusters did not answer: member1 (Timeout"):
				return fmt.Errorf("%d %s, want 503 with the reasons", v.Code, v.Message)
			}
			return nil
		})
	}
	for _, path := range []string{podsMetric(presence), serviceMetric(presence), externalMetric(presence), podsMetric("never_asked_for"),
		externalMetric("never_asked_for"), serviceMetric(presence, "fleetscale.io/partial=allow")} {
		e.hears(t, "nobody answers "+path, path, refuses(http.StatusServiceUnavailable, "3 of 3 clusters did not answer: member1 (Timeout"))
	}
	for path, name := range metricAPIs(presence) {
		e.lists(t, path, name, true)
	}
	if _, err := e.Ask(t.Context(), "top", "pods", "-n", shop); err == nil ||
		!strings.Contains(err.Error(), "3 of 3 clusters did not answer") {
		t.Errorf("kubectl top says %v", err)
	}
	for _, member := range allMembers() {
		e.thaw(t, member)
	}
	e.recovers(t)
}
