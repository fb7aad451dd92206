// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/lab"
)

// A member without these APIs has answered: it has none. That is told to
// machines, and is no reason to complain.
func TestMemberWithoutMetricAPIs(t *testing.T) {
	e := whole(t)
	const metric = "absent_rps"
	e.tell(t, "services", "web", metric, figure{"member1": "1", "member2": "2", "member3": "4"})
	for _, member := range allMembers() {
		e.tellSeries(t, member, metric, map[string]string{"of=" + member: "1"})
	}
	e.withdraw(t, "member3", testAPIs()...)
	lacksMember3 := func(want ...string) func(told) error {
		return func(v told) error {
			if err := whollyTells(want...)(v); err != nil {
				return err
			}
			if got, want := v.Coverage.Header(), "answered=member1,member2,member3;absent=member3"; got != want {
				return fmt.Errorf("the coverage is %q, want %q", got, want)
			}
			return nil
		}
	}
	e.hears(t, "the sum is the others'", serviceMetric(metric), lacksMember3("web 3"))
	e.hears(t, "so is the average", serviceMetric(metric, "fleetscale.io/merge=avg"), lacksMember3("web 1500m"))
	e.hears(t, "so are the series", externalMetric(metric), lacksMember3("of=member1 1", "of=member2 1"))
	e.hears(t, "it alone has none", serviceMetric(metric, "fleetscale.io/cluster=member3"), refuses(http.StatusNotFound, metric, "member3"))
	registerTestAdapter(t, e.member(t, "member3"))
	e.hears(t, "it is back", serviceMetric(metric), whollyTells("web 7"))
	e.recovers(t)
}

// Members of different age: one knows only the first version.
func TestMemberWithTheFirstVersionOnly(t *testing.T) {
	e := whole(t)
	const metric = "older_rps"
	e.tell(t, "services", "web", metric, figure{"member1": "1", "member2": "2"})
	e.tell(t, "pods", "web-0", metric, figure{"member1": "1", "member2": "2"})
	e.withdraw(t, "member2", "v1beta2.custom.metrics.k8s.io")
	e.hears(t, "a sum", serviceMetric(metric), whollyTells("web 3"))
	e.hears(t, "pods", podsMetric(metric), whollyTells("member1/web-0 1", "member2/web-0 2"))
	for member, version := range map[string]string{"member1": "/v1beta2/", "member2": "/v1beta1/"} {
		uris := e.asked(t, member, metric)
		if len(uris) == 0 || !strings.Contains(uris[len(uris)-1], version) {
			t.Errorf("%s was asked %q, want %s in the last one", member, uris, version)
		}
	}
	registerTestAdapter(t, e.member(t, "member2"))
	e.recovers(t)
}

// A member's adapter is down, while its API server answers.
func TestMemberWithBrokenMetricsAdapter(t *testing.T) {
	e := whole(t)
	adapter := e.member(t, "member3").Process("test-adapter")
	if err := adapter.Freeze(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = adapter.Thaw() })
	for _, path := range []string{serviceMetric(presence), externalMetric(presence)} {
		e.hears(t, "nobody knows what the member has "+path, path,
			refuses(http.StatusServiceUnavailable, "1 of 3 clusters did not answer: member3 ("))
	}
	if err := isWhole(e.query(t, shopPath)); err != nil {
		t.Errorf("cpu and memory are not whole: %v", err)
	}
	if err := adapter.Thaw(); err != nil {
		t.Fatal(err)
	}
	e.recovers(t)
}

// testAPIs are the APIServices of a member's test-adapter.
func testAPIs() []string {
	return []string{"v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io", "v1beta1.external.metrics.k8s.io"}
}

// withdraw takes APIServices of a member away until the test ends.
func (e *env) withdraw(t *testing.T, member string, names ...string) {
	t.Helper()
	t.Cleanup(func() { registerTestAdapter(t, e.member(t, member)) })
	e.kubectl(t, append([]string{"--context", member, "delete", "apiservice"}, names...)...)
}

func registerTestAdapter(t *testing.T, c *lab.Cluster) {
	t.Helper()
	for _, name := range testAPIs() {
		version, group, _ := strings.Cut(name, ".")
		register(t, c, c.TestAdapterURL, lab.API{Group: group, Version: version, Service: "test-adapter"})
	}
}

// register has a cluster serve an API from a program of its own.
func register(t *testing.T, c *lab.Cluster, server string, api lab.API) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	if api.Port, err = strconv.Atoi(u.Port()); err != nil {
		t.Fatal(err)
	}
	if api.CABundle, err = c.CA(); err != nil {
		t.Fatal(err)
	}
	api.Namespace = "kube-system"
	// Cleanups run after the test's own context has ended.
	if err := c.RegisterAPI(afterwards(t), api); err != nil {
		t.Error(err)
	}
}

// isCovered wants a silent member's part to be known from others.
func isCovered(v told, member string) error {
	if !slices.Contains(v.Coverage.Covered, member) {
		return fmt.Errorf("the coverage is %q, want %s covered", v.Coverage.Header(), member)
	}
	return nil
}
