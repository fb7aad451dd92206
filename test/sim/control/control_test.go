// SPDX-License-Identifier: Apache-2.0

package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/test/sim"
)

type stand struct {
	fleet *sim.Fleet
	url   string
}

func newStand(t *testing.T) stand {
	t.Helper()
	fleet, err := sim.New(t.Context(), sim.Options{Members: 2})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Handler(fleet))
	t.Cleanup(func() { server.Close(); _ = fleet.Close() })
	return stand{fleet, server.URL}
}

func (s stand) do(t *testing.T, method, path, body string) (code int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(read)
}

// codes returns what the members answer.
func (s stand) codes(t *testing.T) (codes []int) {
	t.Helper()
	for _, m := range s.fleet.Members() {
		client, err := rest.HTTPClientFor(m.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(m.URL() + "/api/v1/pods")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		codes = append(codes, resp.StatusCode)
	}
	return codes
}

func TestConductIsSet(t *testing.T) {
	s := newStand(t)
	for _, step := range []struct {
		member, conduct string
		want            []int
	}{
		{"sim-002", `{"failing": 1, "code": 429, "latency": "1ms"}`, []int{200, 429}},
		{"*", `{"failing": 1}`, []int{503, 503}},
		{"sim-001", `{}`, []int{200, 503}},
	} {
		if code, said := s.do(t, http.MethodPut, "/members/"+step.member+"/conduct", step.conduct); code != http.StatusOK {
			t.Errorf("%s: %d %s", step.conduct, code, said)
		}
		fleettest.Same(t, fmt.Sprintf("%s of %s", step.conduct, step.member), step.want, s.codes(t))
	}
}

func TestRefusals(t *testing.T) {
	s := newStand(t)
	for name, tc := range map[string]struct {
		path, body string
		code       int
		want       string
	}{
		"nobody":          {"/members/sim-009/conduct", `{}`, 404, `there is no member "sim-009"`},
		"more than all":   {"/members/*/conduct", `{"failing": 1.5}`, 400, "failing: must be from 0 to 1, got 1.5"},
		"no failure":      {"/members/*/conduct", `{"code": 200}`, 400, "code: must be from 400 to 599, got 200"},
		"before its time": {"/members/*/conduct", `{"latency": "-1s"}`, 400, "latency, jitter and flap: must be 0 or more"},
		"an unknown word": {"/members/*/conduct", `{"hangs": true}`, 400, `reading the conduct: json: unknown field "hangs"`},
	} {
		t.Run(name, func(t *testing.T) {
			if code, said := s.do(t, http.MethodPut, tc.path, tc.body); code != tc.code || strings.TrimSpace(said) != tc.want {
				t.Errorf("%d %s, want %d %s", code, said, tc.code, tc.want)
			}
		})
	}
	fleettest.Same(t, "a refused conduct was taken", []int{200, 200}, s.codes(t))
}

func TestRequestsAreTold(t *testing.T) {
	s := newStand(t)
	s.codes(t)
	s.codes(t)
	_, said := s.do(t, http.MethodGet, "/members/sim-001/requests", "")
	var got []Requests
	if err := json.Unmarshal([]byte(said), &got); err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "", []Requests{{Verb: "list", Resource: "pods", Times: 2}}, got)
	_, said = s.do(t, http.MethodGet, "/members", "")
	var members []Member
	if err := json.Unmarshal([]byte(said), &members); err != nil || len(members) != 2 || members[1].Requests != 2 ||
		members[1].URL != s.fleet.Members()[1].URL() {
		t.Errorf("%s, %v", said, err)
	}
}
