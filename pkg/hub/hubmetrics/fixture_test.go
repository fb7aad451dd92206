// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// said is what a hub answers.
type said struct {
	code     int // 0: 200
	kind     string
	body     []byte
	header   map[string]string
	hangs    bool
	coverage []string
}

// fakeHub answers without a network.
type fakeHub struct {
	mu sync.Mutex
	// answers are by path. A path that is not there is one that nobody serves.
	answers map[string]said
	asked   []*http.Request
}

func (h *fakeHub) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked = append(h.asked, r)
	answer, found := h.answers[r.URL.Path]
	h.mu.Unlock()
	if answer.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	if !found {
		http.NotFound(w, r)
		return w.Result(), nil
	}
	answer.write(w)
	return w.Result(), nil
}

func (s said) write(w http.ResponseWriter) {
	for key, value := range s.header {
		w.Header().Set(key, value)
	}
	for _, coverage := range s.coverage {
		w.Header().Add("Fleetscale-Coverage", coverage)
	}
	if s.kind != "" {
		w.Header().Set("Content-Type", s.kind)
	}
	if s.code != 0 {
		w.WriteHeader(s.code)
	}
	_, _ = w.Write(s.body)
}

func (h *fakeHub) says(path string, s said) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers[path] = s
}

// questions are the paths and queries that were asked for.
func (h *fakeHub) questions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, r := range h.asked {
		all = append(all, r.URL.RequestURI())
	}
	return all
}

// ofGroup is the discovery of custom.metrics.k8s.io, with the preferred version first.
func ofGroup(versions ...string) said {
	group := metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: "custom.metrics.k8s.io"}
	for _, version := range versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: "custom.metrics.k8s.io/" + version,
			Version: version})
	}
	if len(versions) > 0 {
		group.PreferredVersion = group.Versions[0]
	}
	body, err := json.Marshal(group)
	if err != nil {
		panic(err)
	}
	return said{kind: "application/json", body: body}
}

// asJSON completes a short form of an answer.
func asJSON(text string) said { return said{kind: "application/json", body: []byte(text)} }

// asStatus is an API server's error.
func asStatus(code int, reason metav1.StatusReason, message string) said {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
	if err != nil {
		panic(err)
	}
	return said{code: code, kind: "application/json", body: body}
}

// asProtobuf is the same object as API servers write it.
func asProtobuf(t testing.TB, scheme *runtime.Scheme, object runtime.Object) said {
	t.Helper()
	return said{kind: runtime.ContentTypeProtobuf, body: encode(t, scheme, runtime.ContentTypeProtobuf, object)}
}

func newHub(answers map[string]said) *fakeHub {
	if answers == nil {
		answers = map[string]said{}
	}
	return &fakeHub{answers: answers}
}

func (h *fakeHub) client(t testing.TB) *Client {
	t.Helper()
	c, _ := h.clientAndMetrics(t)
	return c
}

func (h *fakeHub) clientAndMetrics(t testing.TB) (*Client, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	c, err := New(&rest.Config{Host: "http://hub", Transport: h, QPS: -1}, kinds(), NewMetrics(registry))
	if err != nil {
		t.Fatal(err)
	}
	return c, registry
}

// kinds returns those that the hub knows.
func kinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion,
		{Group: "fleets.example", Version: "v1"}})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Group: "fleets.example", Version: "v1", Kind: "Namespace"}, meta.RESTScopeNamespace)
	return mapper
}

func cpu() autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU}}
}

func containerMemory(name string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type:              autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: corev1.ResourceMemory, Container: name},
	}
}

func rps(selector *metav1.LabelSelector) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.PodsMetricSourceType,
		Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "rps", Selector: selector}},
	}
}

func rpsOf(apiVersion, kind, name string, selector *metav1.LabelSelector) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ObjectMetricSourceType,
		Object: &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name},
			Metric:          autoscalingv2.MetricIdentifier{Name: "rps", Selector: selector},
		},
	}
}

func queue(selector *metav1.LabelSelector) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type:     autoscalingv2.ExternalMetricSourceType,
		External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "messages", Selector: selector}},
	}
}

func question(metric autoscalingv2.MetricSpec, clusters ...string) Question {
	return Question{
		Namespace: "shop", Metric: metric, Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Clusters: clusters,
	}
}

const (
	podMetricsPath = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
	groupPath      = "/apis/custom.metrics.k8s.io"
	rpsOfPodsPath  = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps"
	messagesPath   = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/messages"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sample was measured at noon, for so many seconds.
func sample(milli int64, seconds int) replicas.Sample {
	return replicas.Sample{Value: milli, At: noon, Window: time.Duration(seconds) * time.Second}
}

type samples = map[string]map[string]replicas.Sample

// differ compares errors by their words, and times by what they mean.
func differ(want, got replicas.Metric) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool {
		return a == nil && b == nil || a != nil && b != nil && a.Error() == b.Error()
	}))
}

func wantError(t *testing.T, m replicas.Metric, text string) {
	t.Helper()
	if m.Err == nil || !strings.Contains(m.Err.Error(), text) {
		t.Errorf("got error %v, want one with %q", m.Err, text)
	}
	if m.Pods != nil || m.Values != nil {
		t.Errorf("an answer beside an error: %v", m)
	}
}
