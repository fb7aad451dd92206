// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

func TestHubAsMember(t *testing.T) {
	t.Parallel()
	hub, self, metricsServer := memberstest.NewHub(t), newFakeMember(t, "hub-uid"), newFakeMember(t, "its metrics-server")
	self.nested = "/apis/metrics.k8s.io" // as the hub's API server asks us
	metricsServer.token = "for-the-hub"
	hub.Put(t, self.secret(t, "hub"))
	r := start(t, hub, func(o *Options) {
		o.HubMetricsServer = &rest.Config{
			Host: metricsServer.URL, BearerToken: "for-the-hub",
			TLSClientConfig: rest.TLSClientConfig{CAData: metricsServer.ca()},
		}
	})
	r.becomes("hub=Ready")
	if !r.member("hub").IsHub() {
		t.Error("IsHub() = false")
	}
	r.asks("hub", "its metrics-server")
	if _, err := r.member("hub").Client().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/pods").DoRaw(t.Context()); reasonOf(
		err) != connection.ReasonNestedHub {
		t.Errorf("asking the hub's API server for what we serve: %v, want NestedHub", err)
	}
	probes := self.probes.Load()
	memberstest.Eventually(t, "probed again", func() string {
		if self.probes.Load() > probes+3 {
			return "probed again"
		}
		return ""
	})
	r.becomes("hub=Ready") // it is no nested hub for that
}

func TestHubAsMemberWithoutItsMetricsServer(t *testing.T) {
	t.Parallel()
	hub, self := memberstest.NewHub(t), newFakeMember(t, "hub-uid")
	hub.Put(t, self.secret(t, "hub"))
	r := start(t, hub, func(o *Options) { o.Registrations.Access = registration.Read })
	r.becomes("hub=HubMetricsServerUnset")
	want := "the cluster is the hub, whose API server would forward requests back to us; " +
		"set --hub-metrics-server to the URL of its own metrics-server"
	if got := r.member("hub").State().Message; got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	if _, err := ask(t.Context(), r.member("hub")); reasonOf(err) != reasonHubMetricsServerUnset {
		t.Errorf("asking it: %v, want HubMetricsServerUnset", err)
	}
}

// Who writes does not ask members for metrics, and needs no metrics-server.
func TestHubAsMemberOfOneWhoWrites(t *testing.T) {
	t.Parallel()
	hub, self := memberstest.NewHub(t), newFakeMember(t, "hub-uid")
	hub.Put(t, self.secret(t, "hub"))
	r := start(t, hub, func(o *Options) { o.Registrations.Access = registration.Write })
	memberstest.Eventually(t, "hub=Ready, known as the hub", func() string {
		if r.summary() == "hub=Ready" && r.member("hub").IsHub() {
			return "hub=Ready, known as the hub"
		}
		return r.summary()
	})
}

// A hub that cannot be identified is served by us all the same, and so is
// found out as a nested one until it is known for what it is.
func TestHubIsIdentifiedLater(t *testing.T) {
	t.Parallel()
	hub, self, metricsServer := memberstest.NewHub(t), newFakeMember(t, "hub-uid"), newFakeMember(t, "its metrics-server")
	self.nested = "/apis/metrics.k8s.io"
	hub.Forbidden[identityPath] = true
	hub.Put(t, self.secret(t, "hub"))
	r := start(t, hub, func(o *Options) {
		o.HubMetricsServer = &rest.Config{
			Host: metricsServer.URL, BearerToken: "s3cret", TLSClientConfig: rest.TLSClientConfig{CAData: metricsServer.ca()},
		}
	})
	r.becomes("hub=NestedHub")
	hub.Set(func() { hub.Forbidden[identityPath] = false })
	r.becomes("hub=Ready")
	r.asks("hub", "its metrics-server")
}

func TestNestedHub(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prefix string
		nested string
		ask    string // what has to be asked for before it shows
	}{
		"found at first contact": {nested: "/apis/metrics.k8s.io/"},
		"found behind a proxy":   {prefix: "/apis/cluster.karmada.io/v1alpha1/clusters/east/proxy", nested: "/apis/metrics.k8s.io/"},
		"found behind a proxy when asked for its own metrics": {
			prefix: "/k8s/clusters/c-1", nested: "/apis/custom.metrics.k8s.io/v1beta2",
			ask: "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps",
		},
		"found when asked for its own metrics": {
			nested: "/apis/custom.metrics.k8s.io/v1beta2", ask: "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
			east.prefix, east.nested = tc.prefix, tc.nested
			hub.Put(t, east.secret(t, "east"))
			r := start(t, hub)
			if tc.ask != "" {
				r.becomes("east=Ready")
				_, err := r.member("east").Client().Get().AbsPath(tc.ask).DoRaw(t.Context())
				if silence, _ := fleet.Classify(err); silence == nil || silence.Reason != connection.ReasonNestedHub {
					t.Errorf("asking it: %v, want NestedHub", err)
				}
			}
			r.becomes("east=NestedHub")
			if got := r.member("east").State().Message; !strings.HasPrefix(got, "the cluster is itself served by fleetscale (/apis/") {
				t.Errorf("message = %q", got)
			}
			probes := east.probes.Load()
			memberstest.Eventually(t, "probed again", func() string {
				if east.probes.Load() > probes+3 {
					return "probed again"
				}
				return ""
			})
			r.becomes("east=NestedHub")
			east.set(func() { east.nested = "" })
			r.becomes("east=Ready")
			probes = east.probes.Load()
			others := east.requests.Load() - probes
			memberstest.Eventually(t, "probed again", func() string {
				if east.probes.Load() > probes+3 {
					return "probed again"
				}
				return ""
			})
			if more := east.requests.Load() - east.probes.Load() - others; more > 1 {
				t.Errorf("%d more searches for another hub, though there is none any more", more)
			}
		})
	}
}

// Until its own metrics-server is known to be asked, a hub must not be asked at all.
func TestMemberThatTurnsOutToBeTheHub(t *testing.T) {
	self := newFakeMember(t, "hub-uid")
	r := New(Options{HubMetricsServer: &rest.Config{Host: "https://metrics-server"}})
	reg := registration.Registration{Name: "hub", Endpoint: registration.Endpoint{
		Config: &rest.Config{Host: self.URL, TLSClientConfig: rest.TLSClientConfig{CAData: self.ca()}},
	}}
	e := newEntry(fromSecret("hub"), "hub", reg, r.options)
	r.entries[e.key] = e
	conn, err := e.member.peer.Connect(reg.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	r.conclude(t.Context(), e, finding{uid: "hub-uid", fresh: true, conn: conn})
	if state := e.member.State(); !state.Ready {
		t.Fatalf("state = %+v, want ready", state)
	}
	r.learnHub(t.Context(), "hub-uid")
	if state := e.member.State(); state.Reason != reasonNotContacted || len(e.wake) != 1 {
		t.Errorf("state = %+v with %d signals to sync again, want NotContacted with one", state, len(e.wake))
	}
	if _, err := ask(t.Context(), e.member); reasonOf(err) != reasonNotContacted {
		t.Errorf("asking it: %v, want NotContacted", err)
	}
}
