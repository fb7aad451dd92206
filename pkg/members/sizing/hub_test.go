// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

const hubVPAPath = "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers"

// hubOf watches s as the hub.
func hubOf(t *testing.T, s server, namespaces ...string) *Hub {
	t.Helper()
	scope, err := tenancy.NewScope(namespaces)
	if err != nil {
		t.Fatal(err)
	}
	config := &rest.Config{Host: s.URL, QPS: -1}
	h, err := NewHub(config, s.Client(), time.Minute, scope)
	if err != nil {
		t.Fatal(err)
	}
	memberstest.Run(memberstest.Logged(t), t, h.Run)
	return h
}

// Where some namespaces are in scope, each is watched by itself, and others are not.
func TestVPAsOfSomeNamespacesOfTheHub(t *testing.T) {
	t.Parallel()
	const path = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers"
	s := newServer(t, "v2")
	s.Says("GET "+path, 200, verticalList("", verticalItem("b", "{"+onWeb+"}")))
	s.Says("GET "+path+" watch", 200, "")
	h := hubOf(t, s, "shop", "pay")
	fleettest.Same(t, "in shop", VPAs{Known: true, Objects: []*vpa.VerticalPodAutoscaler{keptVertical("b", "", web)}},
		h.VPAs(t.Context(), "shop"))
	if seen := h.VPAs(t.Context(), "bank"); seen.Known || seen.Silence == nil || seen.Silence.Reason != mirror.ReasonOutOfScope {
		t.Errorf("in bank: %+v", seen)
	}
	for _, request := range s.Heard() {
		if !strings.HasPrefix(request, "GET "+path) {
			t.Errorf("the hub was asked %s", request)
		}
	}
}

func inNamespace(namespace, item string) string {
	return strings.Replace(item, `"namespace":"shop"`, `"namespace":"`+namespace+`"`, 1)
}

// All namespaces are watched at once, and each is told its own.
func TestVPAsOfTheHub(t *testing.T) {
	t.Parallel()
	s := newServer(t, "v2")
	s.Says("GET "+hubVPAPath, 200, verticalList("", inNamespace("bank", verticalItem("a", "{"+onWeb+"}")),
		verticalItem("b", "{"+onWeb+"}"), verticalItem("c", "{"+onWeb+off+"}"), inNamespace("zoo", verticalItem("d", "{"+onWeb+"}"))))
	s.Says("GET "+hubVPAPath+" watch", 200, "")
	h := hubOf(t, s)
	fleettest.Same(t, "in shop",
		VPAs{Known: true, Objects: []*vpa.VerticalPodAutoscaler{keptVertical("b", "", web), keptVertical("c", "Off", web)}},
		h.VPAs(t.Context(), "shop"))
	for namespace, want := range map[string]int{"bank": 1, "zoo": 1, "a": 0, "c": 0, "zz": 0} {
		if got := h.VPAs(t.Context(), namespace); !got.Known || got.Silence != nil || len(got.Objects) != want {
			t.Errorf("in %s: %+v, want %d", namespace, got, want)
		}
	}
	if requests := s.Heard(); len(requests) > 2 {
		t.Errorf("requests %q, want a list and a watch", requests)
	}
}

// A hub that does not serve the kind has none, and one that refuses it is not waited for. Neither is asked for each namespace.
func TestHubWithoutVPAs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer answer
		want   fleet.Reason
	}{
		"not served": {answer{404, "404 page not found\n"}, ""},
		"forbidden":  {answer{403, memberstest.Status(403, "Forbidden", "")}, fleet.ReasonForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, "v2")
			s.Says("GET "+hubVPAPath, tc.answer.code, tc.answer.body)
			h := hubOf(t, s)
			for _, namespace := range []string{"shop", "bank", "zoo"} {
				seen := h.VPAs(t.Context(), namespace)
				reason := fleet.Reason("")
				if seen.Silence != nil {
					reason = seen.Silence.Reason
				}
				if reason != tc.want || len(seen.Objects) > 0 || seen.Known != (tc.want == "") {
					t.Errorf("%s: %+v", namespace, seen)
				}
			}
			if requests := s.Heard(); len(requests) > 2 { // a second one only if the machine is slow
				t.Errorf("requests %q", requests)
			}
		})
	}
}

// A list that does not end is given up.
func TestHubThatHangs(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(s.Close)
	h, err := NewHub(&rest.Config{Host: s.URL, QPS: -1}, s.Client(), 50*time.Millisecond, tenancy.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	memberstest.Run(memberstest.Logged(t), t, h.Run)
	if seen := h.VPAs(t.Context(), "shop"); seen.Known || seen.Silence == nil || seen.Silence.Reason != fleet.ReasonTimeout {
		t.Errorf("seen %+v, silence %v", seen, seen.Silence)
	}
}
