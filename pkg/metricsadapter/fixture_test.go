// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
)

// fakeMember is a cluster with the given pods and one node, or a silent one.
type fakeMember struct {
	name    string
	pods    []metricsv1beta1.PodMetrics
	silence error
	code    int // in place of an answer
}

func (m *fakeMember) Reading() *connection.Reading { return connection.NewReading() }

func (m *fakeMember) Name() string   { return m.name }
func (m *fakeMember) Silence() error { return m.silence }

func (m *fakeMember) MetricsClient() rest.Interface {
	return &restfake.RESTClient{
		GroupVersion:         schema.GroupVersion{Version: "v1"},
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		Client:               restfake.CreateHTTPClient(m.serve),
	}
}

func (m *fakeMember) serve(r *http.Request) (*http.Response, error) {
	if m.code != 0 {
		return reply(m.code, []byte(http.StatusText(m.code))), nil
	}
	var list any = metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{node("node-1")}}
	if strings.HasSuffix(r.URL.Path, "/pods") {
		pods := metricsv1beta1.PodMetricsList{}
		for _, p := range m.pods {
			if !strings.Contains(r.URL.Path, "/namespaces/") || strings.Contains(r.URL.Path, "/namespaces/"+p.Namespace+"/") {
				pods.Items = append(pods.Items, p)
			}
		}
		list = pods
	}
	body, err := json.Marshal(list)
	return reply(http.StatusOK, body), err
}

func reply(code int, body []byte) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body))}
}

var measured = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

func pod(namespace, name, app string) metricsv1beta1.PodMetrics {
	return metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}},
		Timestamp:  measured, Window: metav1.Duration{Duration: 15 * time.Second},
		Containers: []metricsv1beta1.ContainerMetrics{
			{Name: "app", Usage: use("250m", "64Mi")}, {Name: "proxy", Usage: use("1500u", "1Mi")},
		},
	}
}

func node(name string) metricsv1beta1.NodeMetrics {
	return metricsv1beta1.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/os": "linux"}},
		Timestamp:  measured, Window: metav1.Duration{Duration: 20 * time.Second}, Usage: use("2", "3Gi"),
	}
}

func use(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// hub serves an adapter as the hub's API server would reach it.
type hub struct {
	t       testing.TB
	handler http.Handler
	adapter *Adapter
	relay   *fakeRelay
	drained string // a member
}

// newHub starts an adapter over the members; hubMember, if any, is the hub itself.
func newHub(t testing.TB, hubMember string, members ...*fakeMember) *hub {
	t.Helper()
	var sources []usage.Source
	var names []string
	for _, m := range members {
		sources, names = append(sources, m), append(names, m.name)
	}
	store := usage.New(usage.Options{
		Members: func() []usage.Source { return sources },
		Period:  time.Minute, MaxAge: time.Hour, IdleAfter: time.Hour, Timeout: 5 * time.Second, MaxHot: 100,
		Memory:  memory.New(1<<30, memory.NewMetrics(prometheus.NewRegistry())),
		Metrics: usage.NewMetrics(prometheus.NewRegistry()),
	})
	done := make(chan struct{})
	go func() { defer close(done); store.Run(t.Context()) }()
	t.Cleanup(func() { <-done })

	h := &hub{t: t, relay: &fakeRelay{}}
	h.adapter = New(Options{
		APIs:  apiservice.Groups(),
		Usage: store, Relay: h.relay, MemberGrace: time.Minute, Clusters: func() ([]string, string) { return names, hubMember },
		Drained:    func(name string) bool { return h.drained == name },
		LocalUsers: []string{"hpa-controller"}, MaxAnswerBytes: 1 << 20,
	})
	h.serve(authorizerfactory.NewAlwaysAllowAuthorizer())
	h.waitFor(func() bool { // the store to have taken up its members
		a := h.adapter.usage.Nodes(h.t.Context(), everything)
		return len(a.Values)+len(a.Silent) == len(members)
	})
	return h
}

// serve makes a server of the adapter that asks whether an asker may.
func (h *hub) serve(mayAsk authorizer.Authorizer) *genericapiserver.GenericAPIServer {
	h.t.Helper()
	config := NewConfig()
	config.ExternalAddress = "adapter.test:443"
	config.LoopbackClientConfig = &rest.Config{}
	config.Authorization.Authorizer = mayAsk
	config.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: r.Header.Get("Test-User")}}, true, nil
	})
	server, err := h.adapter.NewServer(config)
	if err != nil {
		h.t.Fatal(err)
	}
	server.PrepareRun()
	h.handler = server.Handler
	return server
}

// waitFor asks until it is true.
func (h *hub) waitFor(condition func() bool) {
	h.t.Helper()
	for start := time.Now(); time.Since(start) < 10*time.Second; {
		if condition() {
			return
		}
	}
	h.t.Fatal("the members are not taken up after 10 s")
}

// get asks as a client does. Options are headers, as "Name: value".
func (h *hub) get(path string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	return h.ask("/apis/metrics.k8s.io/"+path, headers...)
}

// ask is get with the whole path.
func (h *hub) ask(path string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	request := httptest.NewRequestWithContext(h.t.Context(), http.MethodGet, "https://hub"+path, nil)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	h.handler.ServeHTTP(recorder, request)
	return recorder
}

// items are "cluster/namespace/name" of a list.
func items(t testing.TB, r *httptest.ResponseRecorder) []string {
	t.Helper()
	var list metricsv1beta1.PodMetricsList
	if r.Code != http.StatusOK {
		t.Fatalf("%d: %s", r.Code, r.Body)
	}
	if err := json.Unmarshal(r.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, item := range list.Items {
		out = append(out, fmt.Sprintf("%s/%s/%s", item.Labels["fleetscale.io/cluster"], item.Namespace, item.Name))
	}
	return out
}

// message returns that of a refusal.
func message(t testing.TB, r *httptest.ResponseRecorder) string {
	t.Helper()
	var status metav1.Status
	if err := json.Unmarshal(r.Body.Bytes(), &status); err != nil {
		t.Fatalf("%s: %v", r.Body, err)
	}
	return status.Message
}

func query(key, value string) string { return "?" + url.Values{key: {value}}.Encode() }
