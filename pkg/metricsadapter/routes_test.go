// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// asked is what an API server makes of a request, and asks its authorizer about.
type asked struct {
	Verb, Group, Namespace, Resource, Subresource, Name string
}

// witness is a member whose API server has every metric, and notes the paths it is asked.
type witness struct {
	fakeMember
	client rest.Interface

	mu    sync.Mutex
	paths []string
}

var _ relay.Source = (*witness)(nil)

func newWitness(t *testing.T) *witness {
	w := &witness{fakeMember: fakeMember{name: "east"}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	var err error
	w.client, err = rest.RESTClientFor(&rest.Config{
		Host: server.URL, QPS: -1,
		ContentConfig: rest.ContentConfig{
			GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *witness) State() member.State           { return member.State{Ready: true} }
func (w *witness) IsHub() bool                   { return false }
func (w *witness) Client() rest.Interface        { return w.client }
func (w *witness) MetricsClient() rest.Interface { return w.client }

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.paths = append(w.paths, r.URL.RequestURI())
	w.mu.Unlock()
	rw.Header().Set("Content-Type", "application/json")
	group, inGroup, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis/"), "/")
	version := apiVersionOf(group)
	switch {
	case inGroup == "":
		fmt.Fprintf(rw, `{"kind":"APIGroup","apiVersion":"v1","name":%q,"versions":[{"groupVersion":%q,"version":%q}]}`,
			group, group+"/"+version, version)
	case !strings.Contains(inGroup, "/"):
		fmt.Fprint(rw, `{"kind":"APIResourceList","apiVersion":"v1"}`)
	case group == custom_metrics.GroupName:
		namespace, name := objectAt(r.URL.EscapedPath())
		fmt.Fprintf(rw, `{"kind":"MetricValueList","apiVersion":%q,"items":[{"describedObject":{"namespace":%q,"name":%q},"value":"1"}]}`,
			group+"/"+version, namespace, name)
	case group == external_metrics.GroupName:
		fmt.Fprintf(rw, `{"kind":"ExternalMetricValueList","apiVersion":%q,"items":[{"value":"1"}]}`, group+"/"+version)
	case strings.HasSuffix(inGroup, "/nodes"):
		fmt.Fprint(rw, `{"items":[{"metadata":{"name":"web-0"},"usage":{}}]}`)
	default:
		fmt.Fprint(rw, `{"items":[{"metadata":{"name":"web-0","namespace":"shop"},"containers":[]}]}`)
	}
}

// objectAt is the object that a path of custom metrics means: web-0 where it means all.
func objectAt(escaped string) (namespace, name string) {
	segments := strings.Split(escaped, "/")[4:] // after /apis/GROUP/VERSION
	for i := range segments {
		segments[i], _ = url.PathUnescape(segments[i])
	}
	switch {
	case len(segments) == 4 && segments[0] == "namespaces": // its own metrics
		return "", segments[1]
	case len(segments) > 4:
		namespace, segments = segments[1], segments[2:]
	}
	if name = segments[1]; name == "*" {
		name = "web-0"
	}
	return namespace, name
}

func apiVersionOf(group string) string {
	if group == custom_metrics.GroupName {
		return "v1beta2"
	}
	return "v1beta1"
}

// take empties the list of what was asked, and gives what of it is about resources.
func (w *witness) take(t *testing.T) []asked {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []asked
	for _, path := range w.paths {
		resolver := genericapirequest.RequestInfoFactory{APIPrefixes: sets.NewString("apis")}
		info, err := resolver.NewRequestInfo(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if err != nil {
			t.Fatalf("the member was asked %s: %v", path, err)
		}
		if info.IsResourceRequest {
			all = append(all, asked{info.Verb, info.APIGroup, info.Namespace, info.Resource, info.Subresource, info.Name})
		}
	}
	w.paths = nil
	return all
}

// notary allows everything, and notes what it was asked.
type notary struct{ asked []asked }

func (n *notary) authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	n.asked = append(n.asked, asked{a.GetVerb(), a.GetAPIGroup(), a.GetNamespace(), a.GetResource(), a.GetSubresource(), a.GetName()})
	return authorizer.DecisionAllow, "", nil
}

// newWitnessedHub serves an adapter over one member, both APIs of which are really asked.
func newWitnessedHub(t *testing.T, namespaces ...string) (*hub, *genericapiserver.GenericAPIServer, *witness, *notary) {
	t.Helper()
	scope, err := tenancy.NewScope(namespaces)
	if err != nil {
		t.Fatal(err)
	}
	w, n := newWitness(t), &notary{}
	kept := memory.New(1<<30, memory.NewMetrics(prometheus.NewRegistry()))
	asking := relay.New(relay.Options{
		Members: func() []relay.Source { return []relay.Source{w} },
		Timeout: 10 * time.Second, KeepFor: 50 * time.Millisecond, IdleAfter: time.Hour, DiscoveryPeriod: time.Hour,
		Memory: kept, Custom: true, External: true, Metrics: relay.NewMetrics(prometheus.NewRegistry()),
	})
	store := usage.New(usage.Options{
		Members: func() []usage.Source { return []usage.Source{w} },
		Period:  time.Hour, MaxAge: time.Hour, IdleAfter: time.Hour, Timeout: 10 * time.Second, MaxHot: 100,
		Memory:  kept,
		Scope:   scope,
		Metrics: usage.NewMetrics(prometheus.NewRegistry()),
	})
	var running sync.WaitGroup
	running.Go(func() { asking.Run(t.Context()) })
	running.Go(func() { store.Run(t.Context()) })
	t.Cleanup(running.Wait)
	h := &hub{t: t, adapter: New(Options{
		APIs: apiservice.Groups(), Usage: store, Relay: asking, MemberGrace: time.Minute,
		Clusters: func() ([]string, string) { return []string{w.name}, "" }, Drained: func(string) bool { return false },
		MaxAnswerBytes: 1 << 20, Scope: scope,
	})}
	server := h.serve(authorizer.AuthorizerFunc(n.authorize))
	h.waitFor(func() bool {
		elsewhere := everything
		elsewhere.Namespace = "elsewhere"
		pods := h.adapter.usage.Pods(t.Context(), elsewhere)
		series := asking.External(t.Context(), relay.ExternalQuestion{Namespace: "elsewhere", Metric: "depth", Clusters: everything.Clusters})
		return len(pods.Values) == 1 && len(series.Values) == 1
	})
	return h, server, w, n
}

// words are put in place of a route's parameters, in every combination. With
// the first of each the route is to be served.
var words = map[string][]string{
	"namespace": {"shop", "*", "", "..", "namespaces", "shop%2Fother", "%2e"},
	"resource": {"deployments.apps", "pods", "namespaces", "namespaces.", "Namespaces", "metrics",
		"status", "finalize", "watch", "proxy", "*", "", "..", "pods%2Fweb-0"},
	"name":        {"web-0", "other", "*", "", "..", "other%2Fmetrics"},
	"subresource": {"rps", "status", "*", "", "..", "rps%2Frps"},
}

// queries are added to the path with the first words.
var queries = []string{
	"", "/", "?labelSelector=app%3Dweb", "?fieldSelector=metadata.name%3Dweb-0", "?fieldSelector=metadata.name%3Dother",
	"?fieldSelector=metadata.namespace%3Dother", "?watch=true", "?labelSelector=app%3Dweb&labelSelector=app%3Dother",
}

// paths returns those of a route, the plainest first.
func paths(t *testing.T, route string) []string {
	all := []string{""}
	for segment := range strings.SplitSeq(strings.TrimPrefix(route, "/"), "/") {
		choice := []string{segment}
		if strings.HasPrefix(segment, "{") {
			if choice = words[strings.Trim(segment, "{}")]; choice == nil {
				t.Fatalf("%s: there are no words for %s", route, segment)
			}
		}
		var longer []string
		for _, path := range all {
			for _, word := range choice {
				longer = append(longer, path+"/"+word)
			}
		}
		all = longer
	}
	plain := all[0]
	all = all[1:]
	for _, query := range slices.Backward(queries) {
		all = append([]string{plain + query}, all...)
	}
	return all
}

// TestMemberIsAskedWhatRBACWasAsked walks every route of every API, with plain
// words and with odd ones. Members are asked with our own identity, which may
// read everything: what RBAC of the hub allowed is all that holds an asker back.
func TestMemberIsAskedWhatRBACWasAsked(t *testing.T) {
	_, server, _, _ := newWitnessedHub(t)
	groups := map[string]bool{}
	for _, ws := range server.Handler.GoRestfulContainer.RegisteredWebServices() {
		for _, route := range ws.Routes() {
			if !strings.HasPrefix(route.Path, "/apis/") || strings.Count(route.Path, "/") < 5 && strings.HasSuffix(route.Path, "/") {
				continue // discovery
			}
			groups[strings.Join(strings.Split(route.Path, "/")[2:4], "/")] = true
			t.Run(route.Method+" "+strings.TrimPrefix(route.Path, "/apis/"), func(t *testing.T) {
				if route.Method != http.MethodGet {
					t.Fatal("the adapter writes nothing")
				}
				walk(t, paths(t, route.Path))
			})
		}
	}
	want := []string{
		"custom.metrics.k8s.io/v1beta1", "custom.metrics.k8s.io/v1beta2", "external.metrics.k8s.io/v1beta1",
		"metrics.k8s.io/v1", "metrics.k8s.io/v1beta1",
	}
	fleettest.Same(t, "versions whose routes were walked", want, slices.Sorted(maps.Keys(groups)))
}

// unlikeBefore has a relayed question differ from those before it, whose
// answers would serve it for a moment.
func unlikeBefore(path string, i int) string {
	if strings.HasPrefix(path, "/apis/"+groupName) {
		return path
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	unique := fmt.Sprintf("i%%3D%d", i)
	return path + separator + "metricLabelSelector=" + unique + "&labelSelector=" + unique
}

// walk asks one adapter for paths, of which it is to serve the first.
func walk(t *testing.T, paths []string) {
	h, _, w, n := newWitnessedHub(t)
	for i, path := range paths {
		path = unlikeBefore(path, i)
		w.take(t)
		n.asked = nil
		r := h.ask(path)
		authorized, members := n.asked, w.take(t)
		if i == 0 && (r.Code != http.StatusOK || len(members) == 0) {
			t.Errorf("GET %s: %d %s, and the member was asked %v", path, r.Code, r.Body, members)
		}
		if r.Code >= http.StatusInternalServerError && len(authorized) > 0 {
			t.Errorf("GET %s: %d %s", path, r.Code, r.Body)
		}
		for _, got := range members {
			want := authorized[len(authorized)-1]
			if want.Group == groupName { // its items are told apart here
				want.Verb, want.Name = "list", ""
			}
			if len(authorized) != 1 || got != want {
				t.Errorf("GET %s: RBAC was asked %+v, and the member %+v", path, authorized, got)
			}
		}
	}
}
