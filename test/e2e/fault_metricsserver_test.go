// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/lab"
)

// A member that does not serve metrics at all has answered: it has none. That
// is said, and is no silence.
func TestMemberWithoutMetricsServer(t *testing.T) {
	e := whole(t)
	member := e.cluster(t, "member3")
	e.kubectl(t, "--context", "member3", "delete", "apiservice", "v1beta1.metrics.k8s.io")
	t.Cleanup(func() { registerMetricsServer(t, member) })
	for _, path := range []string{allPath, shopPath} {
		e.sees(t, "the member has no metrics at "+path, path, func(v view) error {
			if err := hasPods(v, "member1", "member2"); err != nil {
				return err
			}
			if got, want := v.Coverage.Header(), "answered=member1,member2,member3;absent=member3"; got != want {
				return fmt.Errorf("the coverage is %q, want %q", got, want)
			}
			if !strings.Contains(v.Warning, "not served by: member3") {
				return fmt.Errorf("the warning is %q", v.Warning)
			}
			return nil
		})
	}
	registerMetricsServer(t, member)
	e.recovers(t)
}

func registerMetricsServer(t *testing.T, c *lab.Cluster) {
	t.Helper()
	register(t, c, c.MetricsServerURL, lab.API{Group: "metrics.k8s.io", Version: "v1beta1", Service: "metrics-server"})
}

// A member whose metrics-server is down has not answered.
func TestMemberWithBrokenMetricsServer(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in the long form, `make test-full PARTS=e2e`: metrics-server takes two measurements to come back")
	}
	e := whole(t)
	member := e.cluster(t, "member3")
	server := member.Process("metrics-server")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	e.sees(t, "the metrics-server is missed", allPath, lacks("member3", "ServerError"))
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.recovers(t)
}
