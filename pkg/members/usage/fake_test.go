// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// fakeMember answers for one cluster, without a network.
type fakeMember struct {
	name string
	asks atomic.Int64

	mu       sync.Mutex
	pods     []metricsv1beta1.PodMetrics
	measured time.Duration // the resolution: timestamps change this often; 0: never
	started  time.Time
	handle   func(*http.Request) (*http.Response, error) // in place of pods
	silence  error
	queries  []string
}

var _ Source = (*fakeMember)(nil)

func newFakeMember(name string, pods ...metricsv1beta1.PodMetrics) *fakeMember {
	return &fakeMember{name: name, pods: pods, measured: resolution, started: time.Now()}
}

func (m *fakeMember) Name() string { return m.name }

func (m *fakeMember) Silence() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silence
}

func (m *fakeMember) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *fakeMember) MetricsClient() rest.Interface {
	return &restfake.RESTClient{
		GroupVersion:         schema.GroupVersion{Version: "v1"},
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		Client:               restfake.CreateHTTPClient(m.serve),
	}
}

func (m *fakeMember) serve(r *http.Request) (*http.Response, error) {
	m.asks.Add(1)
	m.mu.Lock()
	handle := m.handle
	m.queries = append(m.queries, r.URL.RequestURI())
	m.mu.Unlock()
	if handle != nil {
		return handle(r)
	}
	return m.list(r), nil
}

func (m *fakeMember) list(r *http.Request) *http.Response {
	m.mu.Lock()
	defer m.mu.Unlock()
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return respond(http.StatusBadRequest, "", []byte(err.Error()))
	}
	if strings.HasSuffix(r.URL.Path, "/nodes") {
		list := &metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{{
			ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"kubernetes.io/os": "linux"}},
			Timestamp:  m.timestamp(), Window: metav1.Duration{Duration: resolution},
			Usage: corev1.ResourceList{"cpu": resource.MustParse("750m")},
		}}}
		return respond(http.StatusOK, contentTypeProtobuf, protobufOf(list))
	}
	list := &metricsv1beta1.PodMetricsList{}
	for _, p := range m.pods {
		if strings.Contains(r.URL.Path, "/namespaces/"+p.Namespace+"/") || !strings.Contains(r.URL.Path, "/namespaces/") {
			if selector.Matches(labels.Set(p.Labels)) || p.Labels == nil {
				p.Timestamp = m.timestamp()
				list.Items = append(list.Items, p)
			}
		}
	}
	return respond(http.StatusOK, contentTypeProtobuf, protobufOf(list))
}

func (m *fakeMember) timestamp() metav1.Time {
	if m.measured == 0 {
		return metav1.NewTime(m.started)
	}
	return metav1.NewTime(time.Now().Truncate(m.measured))
}

func respond(code int, contentType string, body []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {contentType}},
		Body: io.NopCloser(bytes.NewReader(body)),
	}
}

func refuse(code int) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		return respond(code, "text/plain", []byte(http.StatusText(code))), nil
	}
}

// hang answers nothing until the asker gives up.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func protobufOf(list interface{ Marshal() ([]byte, error) }) []byte {
	raw, err := list.Marshal()
	if err != nil {
		panic(err)
	}
	return enveloped(raw)
}

// enveloped is an encoded object as it is sent.
func enveloped(raw []byte) []byte {
	envelope := runtime.Unknown{Raw: raw, ContentType: contentTypeProtobuf}
	body, err := envelope.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte(wire.Magic), body...)
}

// pod is one with two containers.
func pod(namespace, name string, set map[string]string) metricsv1beta1.PodMetrics {
	use := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	return metricsv1beta1.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set},
		Timestamp:  metav1.NewTime(time.Unix(1_700_000_000, 0)),
		Window:     metav1.Duration{Duration: resolution},
		Containers: []metricsv1beta1.ContainerMetrics{
			{Name: "app", Usage: use("123456789n", "65536Ki")}, {Name: "sidecar", Usage: use("10m", "12Mi")},
		},
	}
}

func pods(namespace string, n int) []metricsv1beta1.PodMetrics {
	list := make([]metricsv1beta1.PodMetrics, n)
	for i := range list {
		list[i] = pod(namespace, fmt.Sprintf("web-%d", i), map[string]string{"app": "web"})
	}
	return list
}

// fleetOf is a running store over members that a test may exchange.
type fleetOf struct {
	*Store
	mu       sync.Mutex
	members  []Source
	registry *prometheus.Registry
}

func (f *fleetOf) setMembers(members ...Source) {
	f.mu.Lock()
	f.members = members
	f.mu.Unlock()
	f.MembersChanged()
}

func startStore(t *testing.T, members ...Source) *fleetOf {
	t.Helper()
	return startStoreOf(t, 8, members...)
}

func startStoreOf(t *testing.T, maxHot int, members ...Source) *fleetOf {
	t.Helper()
	f := &fleetOf{members: members, registry: prometheus.NewRegistry()}
	f.Store = New(Options{
		Members: func() []Source {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.members
		},
		Period: resolution, MaxAge: time.Minute, IdleAfter: 5 * time.Minute, Timeout: 5 * time.Second,
		MaxHot: maxHot, Metrics: NewMetrics(f.registry),
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
	return f
}

func everywhere(string) bool { return true }

func inNamespace(namespace string) Question {
	return Question{Namespace: namespace, Selector: labels.Everything(), Clusters: everywhere}
}

// names are "cluster/namespace/name" of all that an answer holds.
func names(a fleet.Answer[Selection]) []string {
	var out []string
	for _, cluster := range a.Coverage().Answered {
		s := a.Values[cluster]
		for i := range s.Len() {
			out = append(out, cluster+"/"+s.At(i).Namespace()+"/"+s.At(i).Name())
		}
	}
	return out
}
