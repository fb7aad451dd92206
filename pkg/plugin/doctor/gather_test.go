// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// hubOf answers with these objects by path and query; what else is asked for is not there. Its clock is ahead by an hour.
func hubOf(t *testing.T, answers map[string]string) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		path := r.URL.Path
		if next := r.URL.Query().Get("continue"); next != "" {
			path += "?" + next
		}
		answer, found := answers[path]
		if path == "/apis/authorization.k8s.io/v1/subjectaccessreviews" {
			review, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			denied := bytes.Contains(review, []byte("patch")) && bytes.Contains(review, []byte("secrets"))
			answer, found = fmt.Sprintf(`{"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": %v}}`, !denied), true
		}
		if !found {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
		}
		if path == "/apis/metrics.k8s.io/v1beta1/nodes" {
			w.Header().Set("Fleetscale-Coverage", "answered=east;silent=west:Timeout")
		}
		_, _ = fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// What the hub has is in the picture: every page of it, and of Secrets and quantities no more than is safe.
func TestGather(t *testing.T) {
	const metadata = `"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", `
	const ours = "/apis/autoscaling.karmada.io/v1alpha1/federatedhpas"
	hub := hubOf(t, map[string]string{
		"/version":           `{}`,
		"/api/v1/namespaces": `{"items": [{"metadata": {"name": "default"}}, {"metadata": {"name": "kube-system", "uid": "u"}}]}`,
		"/api/v1/namespaces/fleetscale-system/serviceaccounts":                    `{"items": [{"metadata": {"name": "controller-manager"}}]}`,
		"/api/v1/namespaces/fleetscale-system/serviceaccounts/controller-manager": `{"metadata": {"name": "controller-manager"}}`,
		"/api/v1/namespaces/fleetscale-system/services":                           `{"items": [{"metadata": {"name": "webhook"}}]}`,
		"/apis/discovery.k8s.io/v1/namespaces/fleetscale-system/endpointslices": `{"items": [{"metadata": {"labels":
			{"kubernetes.io/service-name": "webhook"}}, "endpoints": [{"conditions": {"ready": true}}, {"conditions": {"ready": false}}, {}]}]}`,
		"/apis/coordination.k8s.io/v1/leases":                  `{"items": [{"metadata": {"name": "controller-manager.fleetscale.io"}}]}`,
		"/apis/apiregistration.k8s.io/v1/apiservices":          `{"items": [{"metadata": {"name": "v1.metrics.k8s.io"}}]}`,
		"/apis/members.fleetscale.io/v1alpha1/members":         `{"items": [{"metadata": {"name": "east"}}]}`,
		"/apis/metrics.k8s.io/v1beta1/nodes":                   `{"items": []}`,
		"/api/v1/namespaces/fleetscale-clusters/secrets":       `{` + metadata + `"items": [{"metadata": {"name": "east", "namespace": "fleetscale-clusters"}}]}`,
		"/api/v1/namespaces/fleetscale-clusters-write/secrets": `{` + metadata + `"items": [{"metadata": {"name": "east", "namespace": "w"}}]}`,
		"/api/v1/secrets": `{` + metadata + `"items": []}`,
		"/api/v1/events":  `{"items": [{"message": "left"}]}`,
		ours: `{"metadata": {"continue": "2"}, "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "bad", "namespace": "shop"}, "spec":
			{"metrics": [{"type": "External", "external": {"target": {"value": "1e-2147483648"}}}]}}]}`,
		ours + "?2": `{"items": [{"metadata": {"name": "b"}}]}`,
	})
	var said int
	p, err := Gather(t.Context(), hub, healthy().Settings, nil, func(string) { said++ })
	if err != nil {
		t.Fatal(err)
	}
	if ahead := time.Until(p.Now); ahead < 58*time.Minute || ahead > 62*time.Minute {
		t.Errorf("the hub's clock is ahead by %v", ahead)
	}
	fleettest.Same(t, "hub", "u", string(p.HubID))
	fleettest.Same(t, "namespaces", Read[[]string]{Value: []string{"default", "kube-system"}}, p.Namespaces)
	fleettest.Same(t, "accounts", []string{"controller-manager"}, p.Accounts.Value)
	fleettest.Same(t, "ready", map[string]int{"webhook": 2}, p.Ready.Value)
	fleettest.Same(t, "denied", map[string][]string{"controller-manager": {"patch secrets in fleetscale-clusters",
		"patch secrets in fleetscale-clusters-write"}}, p.Denied.Value)
	if len(p.Services.Value) != 1 || len(p.Leases.Value) != 1 || len(p.APIServices.Value) != 1 || len(p.Members.Value) != 1 ||
		len(p.Secrets.Value) != 2 || len(p.Coverage.Value.Silent) != 1 || len(p.LeftBehind.Value) != 1 || p.LeftBehind.Unknown != "" {
		t.Errorf("the picture is %+v", p)
	}
	var names []string
	for _, f := range p.Federated.Value {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" || len(p.Unreadable) != 1 || p.Unreadable[0].Name != "bad" ||
		p.Unreadable[0].Namespace != "shop" || p.Unreadable[0].Kind != "FederatedHPA" {
		t.Errorf("unreadable %+v, read (-want +got):\n%s", p.Unreadable, diff)
	}
	if p.Cron.Unknown != "" || p.Trial != (Read[string]{}) {
		t.Errorf("what the hub does not serve is unknown: %q, %+v", p.Cron.Unknown, p.Trial)
	}
	if said < 15 {
		t.Errorf("progress was told %d times", said)
	}
	if _, err := Gather(t.Context(), hubOf(t, nil), Settings{}, nil, func(string) {}); err == nil {
		t.Error("a hub that does not answer has a picture")
	}
}

// answering is how a member is reached that answers so, after that time.
func answering(after time.Duration, code int, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(after):
			return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(body))}, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
}

// Members are asked at the same time, some of them, so that one that is silent keeps no other waiting.
func TestVisitsAreMadeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const members = 3 * visitsAtOnce
		s := Settings{Contexts: map[string]string{}}
		for i := range members {
			s.Contexts[fmt.Sprintf("m%02d", i)] = "context"
		}
		var mu sync.Mutex
		var asked, most int
		slow := answering(time.Second, http.StatusNotFound, "")
		counting := roundTripper(func(r *http.Request) (*http.Response, error) {
			count := func(more int) {
				mu.Lock()
				defer mu.Unlock()
				asked += more
				most = max(most, asked)
			}
			count(1)
			defer count(-1)
			return slow.RoundTrip(r)
		})
		found := visits(t.Context(), s, func(string) (*rest.Config, error) {
			return &rest.Config{Host: "http://member", Transport: counting}, nil
		}, func(string) {})
		for i := range found {
			if want := fmt.Sprintf("m%02d", i); found[i].Cluster != want || !strings.HasPrefix(found[i].Managed.Unknown, want+": ") {
				t.Errorf("visit %d is %+v, want one of %s", i, found[i], want)
			}
		}
		if len(found) != members || most != visitsAtOnce {
			t.Errorf("%d visits, %d at once; want %d and %d", len(found), most, members, visitsAtOnce)
		}
	})
}

// A member that answers slowly, and never ends, is given up.
func TestVisitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := answering(timeout-time.Second, http.StatusOK,
			`{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"continue": "more"}}`)
		began := time.Now()
		found := visits(t.Context(), Settings{Contexts: map[string]string{"east": "east", "west": "west"}},
			func(string) (*rest.Config, error) {
				return &rest.Config{Host: "http://member", Transport: endless}, nil
			}, func(string) {})
		if took := time.Since(began); took != visitTimeout || !strings.Contains(found[1].Managed.Unknown, "deadline exceeded") {
			t.Errorf("%+v took %v, want %v", found, took, visitTimeout)
		}
	})
}

// Why the hub refuses is what it says, and not that it refuses.
func TestWhatTheHubSays(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500, "message": "etcd is away"}`)
	}))
	defer server.Close()
	g, err := newGatherer(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var into any
	if err := g.raw(t.Context(), "/apis", &into); err == nil || !strings.Contains(err.Error(), "etcd is away") {
		t.Errorf("error %v", err)
	}
}
