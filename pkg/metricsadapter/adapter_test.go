// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
)

var everything = usage.Question{Selector: labels.Everything(), Clusters: func(string) bool { return true }}

func twoClusters(t testing.TB) *hub {
	return newHub(t, "",
		&fakeMember{name: "west", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web"), pod("shop", "cart", "cart")}},
		&fakeMember{name: "east", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web"), pod("bank", "vault", "vault")}})
}

func TestLists(t *testing.T) {
	h := twoClusters(t)
	tests := map[string]struct {
		path string
		want []string
	}{
		"a namespace, by name and cluster": {"v1beta1/namespaces/shop/pods",
			[]string{"west/shop/cart", "east/shop/web-0", "west/shop/web-0"}},
		"the same in v1": {"v1/namespaces/shop/pods",
			[]string{"west/shop/cart", "east/shop/web-0", "west/shop/web-0"}},
		"all namespaces": {"v1beta1/pods",
			[]string{"east/bank/vault", "west/shop/cart", "east/shop/web-0", "west/shop/web-0"}},
		"a namespace that nobody has": {"v1beta1/namespaces/none/pods", []string{}},
		"by label": {"v1beta1/namespaces/shop/pods" + query("labelSelector", "app=web"),
			[]string{"east/shop/web-0", "west/shop/web-0"}},
		"by cluster": {"v1beta1/namespaces/shop/pods" + query("labelSelector", "fleetscale.io/cluster=west"),
			[]string{"west/shop/cart", "west/shop/web-0"}},
		"by label and cluster": {"v1beta1/namespaces/shop/pods" + query("labelSelector", "app=web,fleetscale.io/cluster in (east)"),
			[]string{"east/shop/web-0"}},
		"all clusters but one": {"v1beta1/pods" + query("labelSelector", "fleetscale.io/cluster!=west"),
			[]string{"east/bank/vault", "east/shop/web-0"}},
		"a cluster that does not exist": {"v1beta1/pods" + query("labelSelector", "fleetscale.io/cluster=typo"), []string{}},
		"by name": {"v1beta1/namespaces/shop/pods" + query("fieldSelector", "metadata.name=cart"),
			[]string{"west/shop/cart"}},
		"by namespace": {"v1beta1/pods" + query("fieldSelector", "metadata.namespace!=shop"), []string{"east/bank/vault"}},
		"nodes":        {"v1beta1/nodes", []string{"east//node-1", "west//node-1"}},
		"nodes by label": {"v1beta1/nodes" + query("labelSelector", "kubernetes.io/os=linux,fleetscale.io/cluster=east"),
			[]string{"east//node-1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := h.get(tc.path)
			fleettest.Same(t, "GET "+tc.path, tc.want, items(t, r))
			if warnings := r.Header().Values("Warning"); len(warnings) > 0 {
				t.Errorf("GET %s warns of a whole answer: %q", tc.path, warnings)
			}
			if r.Header().Get(fleet.HubHeader) == "" {
				t.Errorf("GET %s lacks the header %s, by which hubs know each other", tc.path, fleet.HubHeader)
			}
		})
	}
}

func TestItemsSayWhereTheyAreFrom(t *testing.T) {
	r := twoClusters(t).get("v1beta1/namespaces/shop/pods/cart")
	const want = `{
  "kind": "PodMetrics",
  "apiVersion": "metrics.k8s.io/v1beta1",
  "metadata": {
    "name": "cart",
    "namespace": "shop",
    "labels": {
      "app": "cart",
      "fleetscale.io/cluster": "west"
    },
    "annotations": {
      "resource.karmada.io/query-from-cluster": "west"
    }
  },
  "timestamp": "2026-01-02T03:04:05Z",
  "window": "15s",
  "containers": [
    {
      "name": "app",
      "usage": {
        "cpu": "250m",
        "memory": "64Mi"
      }
    },
    {
      "name": "proxy",
      "usage": {
        "cpu": "1500u",
        "memory": "1Mi"
      }
    }
  ]
}`
	fleettest.Same(t, "", decoded(t, want), decoded(t, r.Body.String()))
	if got := r.Header().Get(fleet.CoverageHeader); got != "answered=east,west" {
		t.Errorf("coverage %q", got)
	}
}

func decoded(t *testing.T, text string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

func TestRefusals(t *testing.T) {
	h := twoClusters(t)
	tests := map[string]struct {
		path string
		code int
		want string
	}{
		"a pod in two clusters": {"v1beta1/namespaces/shop/pods/web-0", http.StatusConflict,
			`Operation cannot be fulfilled on pods.metrics.k8s.io "web-0": it exists in 2 clusters: east, west; name one: ` +
				`kubectl get podmetrics -n shop --field-selector metadata.name=web-0 -l fleetscale.io/cluster=east`},
		"a node in two clusters": {"v1beta1/nodes/node-1", http.StatusConflict,
			`Operation cannot be fulfilled on nodes.metrics.k8s.io "node-1": it exists in 2 clusters: east, west; name one: ` +
				`kubectl get nodemetrics --field-selector metadata.name=node-1 -l fleetscale.io/cluster=east`},
		"a pod nowhere": {"v1beta1/namespaces/shop/pods/none", http.StatusNotFound, `pods.metrics.k8s.io "none" not found`},
		"another field": {"v1beta1/pods" + query("fieldSelector", "spec.nodeName=a"), http.StatusBadRequest,
			`"spec.nodeName" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		"half a selector": {"v1beta1/pods" + query("labelSelector", "a in ("), http.StatusBadRequest, "unable to parse requirement"},
		"a namespace of no sort": {"v1beta1/namespaces/A_B/pods", http.StatusBadRequest,
			`namespace "A_B": a lowercase RFC 1123 label must consist of`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := h.get(tc.path)
			if r.Code != tc.code {
				t.Fatalf("GET %s: %d, want %d: %s", tc.path, r.Code, tc.code, r.Body)
			}
			if !strings.Contains(message(t, r), tc.want) {
				t.Errorf("GET %s says %q, want %q", tc.path, message(t, r), tc.want)
			}
		})
	}
}

func TestPartialAnswersSaySo(t *testing.T) {
	away := &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer within the deadline"}
	east := &fakeMember{name: "east", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web")}}
	h := newHub(t, "", east, &fakeMember{name: "north", code: 404}, &fakeMember{name: "west", silence: away})
	for _, path := range []string{"v1beta1/namespaces/shop/pods", "v1beta1/pods", "v1beta1/namespaces/shop/pods/web-0"} {
		r := h.get(path)
		if r.Code != http.StatusOK {
			t.Fatalf("GET %s: %d: %s", path, r.Code, r.Body)
		}
		want := `299 fleetscale/partial "1 of 3 clusters did not answer: west (Timeout: no answer within the deadline); not served by: north"`
		fleettest.Same(t, "GET "+path+": warning", []string{want}, r.Header().Values("Warning"))
		if got, want := r.Header().Get(fleet.CoverageHeader), "answered=east,north;absent=north;silent=west:Timeout"; got != want {
			t.Errorf("GET %s: coverage %q, want %q", path, got, want)
		}
	}
	r := h.get("v1beta1/namespaces/shop/pods/web-9")
	if want := `pods "web-9" is in none of the clusters that answered, and 1 of 3 clusters did not answer: west`; r.Code != http.StatusServiceUnavailable || !strings.Contains(message(t, r), want) {
		t.Errorf("a pod that the silent cluster may have: %d %s, want 503 with %q", r.Code, r.Body, want)
	}
	if r := h.get("v1beta1/pods" + query("labelSelector", "fleetscale.io/cluster=east")); len(r.Header().Values("Warning")) != 0 {
		t.Errorf("who asks for east only is warned of others: %q", r.Header().Values("Warning"))
	}
}

func TestNobodyAnsweredIsNotNoPods(t *testing.T) {
	away := &fleet.Silence{Reason: fleet.ReasonUnreachable, Detail: "connection refused"}
	tests := map[string]struct {
		members []*fakeMember
		want    string
	}{
		"all are silent": {[]*fakeMember{{name: "east", silence: away}, {name: "west", code: 403}},
			"2 of 2 clusters did not answer: east (Unreachable: connection refused), west (Forbidden"},
		"none is registered": {nil, "no member cluster is registered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, "", tc.members...)
			for _, path := range []string{"v1beta1/namespaces/shop/pods", "v1beta1/pods", "v1/nodes", "v1beta1/namespaces/shop/pods/a"} {
				r := h.get(path)
				if r.Code != http.StatusServiceUnavailable || !strings.Contains(message(t, r), tc.want) {
					t.Errorf("GET %s: %d %s, want 503 with %q", path, r.Code, r.Body, tc.want)
				}
			}
		})
	}
}

func TestMemberThatTheMemoryHasNotTakenUpIsSilent(t *testing.T) {
	h := twoClusters(t)
	h.adapter.clusters = func() ([]string, string) { return []string{"east", "new", "west"}, "" }
	if got, want := h.get("v1beta1/namespaces/shop/pods").Header().Get(fleet.CoverageHeader),
		"answered=east,west;silent=new:NotYetAsked"; got != want {
		t.Errorf("coverage %q, want %q", got, want)
	}
	r := h.get("v1beta1/pods" + query("labelSelector", "fleetscale.io/cluster=new"))
	if r.Code != http.StatusServiceUnavailable {
		t.Errorf("%d for a cluster that was not asked, want 503: %s", r.Code, r.Body)
	}
}

func TestLocalUsersGetTheHubsOwn(t *testing.T) {
	members := []*fakeMember{
		{name: "home", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web")}},
		{name: "west", pods: []metricsv1beta1.PodMetrics{pod("shop", "web-0", "web")}},
	}
	tests := map[string]struct {
		hub, user string
		want      []string
	}{
		"a controller of the hub":             {"home", "hpa-controller", []string{"home/shop/web-0"}},
		"anybody else":                        {"home", "alice", []string{"home/shop/web-0", "west/shop/web-0"}},
		"a controller, and the hub no member": {"", "hpa-controller", []string{"home/shop/web-0", "west/shop/web-0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newHub(t, tc.hub, members...).get("v1beta1/namespaces/shop/pods", "Test-User: "+tc.user)
			fleettest.Same(t, "", tc.want, items(t, r))
		})
	}
}

func TestTables(t *testing.T) {
	h := twoClusters(t)
	for path, want := range map[string][]string{
		"v1beta1/namespaces/shop/pods": {"Name Cluster CPU Memory Window", "cart west 252m 65Mi 15s", "web-0 east 252m 65Mi 15s",
			"web-0 west 252m 65Mi 15s"},
		"v1beta1/namespaces/shop/pods/cart": {"Name Cluster CPU Memory Window", "cart west 252m 65Mi 15s"},
		"v1beta1/namespaces/none/pods":      {"Name Cluster CPU Memory Window"},
		"v1/nodes":                          {"Name Cluster CPU Memory Window", "node-1 east 2000m 3072Mi 20s", "node-1 west 2000m 3072Mi 20s"},
	} {
		var table struct {
			ColumnDefinitions []struct{ Name string }
			Rows              []struct{ Cells []string }
		}
		if err := json.Unmarshal(h.get(path, "Accept: "+asTable).Body.Bytes(), &table); err != nil {
			t.Fatal(err)
		}
		var columns []string
		for _, c := range table.ColumnDefinitions {
			columns = append(columns, c.Name)
		}
		got := []string{strings.Join(columns, " ")}
		for _, row := range table.Rows {
			got = append(got, strings.Join(row.Cells, " "))
		}
		fleettest.Same(t, "GET "+path+" as a table", want, got)
	}
}

func TestTooManyBigAnswersAreRefused(t *testing.T) {
	h := twoClusters(t)
	held := &conversation{budget: h.adapter.budget}
	if err := held.hold(1<<20, bytesPerObject); err != nil {
		t.Fatalf("a single answer, however big, is refused: %v", err)
	}
	r := h.get("v1beta1/namespaces/shop/pods")
	if r.Code != http.StatusTooManyRequests || r.Header().Get("Retry-After") != "1" {
		t.Errorf("%d with Retry-After %q, want 429 with 1: %s", r.Code, r.Header().Get("Retry-After"), r.Body)
	}
	held.release()
	for range 1000 { // more than would fit if each kept what it holds
		if r := h.get("v1beta1/namespaces/shop/pods"); r.Code != http.StatusOK {
			t.Fatalf("%d once there is room again: %s", r.Code, r.Body)
		}
	}
}

func TestDiscovery(t *testing.T) {
	h := twoClusters(t)
	for path, want := range map[string]string{
		"":        `"preferredVersion":{"groupVersion":"metrics.k8s.io/v1","version":"v1"}`,
		"v1beta1": `{"name":"pods","singularName":"","namespaced":true,"kind":"PodMetrics","verbs":["get","list"]}`,
		"v1":      `{"name":"nodes","singularName":"","namespaced":false,"kind":"NodeMetrics","verbs":["get","list"]}`,
	} {
		if got := h.get(path).Body.String(); !strings.Contains(got, want) {
			t.Errorf("GET /apis/metrics.k8s.io/%s: %s, want it to hold %s", path, got, want)
		}
	}
}
