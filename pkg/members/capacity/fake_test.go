// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// fakeMember is a cluster without a network, so that it lives in a test's bubble of time.
type fakeMember struct {
	name string

	mu       sync.Mutex
	silence  error
	success  time.Time
	lists    map[string]runtime.Object // by path
	refused  string                    // of paths that end so
	hang     bool                      // answers come only when the question is given up
	requests []string
	watches  map[string]*io.PipeWriter // the last one of each path
}

var _ mirror.Member = (*fakeMember)(nil)

const (
	nodesPath  = "/api/v1/nodes"
	podsPath   = "/api/v1/pods"
	quotasPath = "/api/v1/namespaces/shop/resourcequotas"
)

// newFakeMember has one node of four CPUs, which takes ten Pods, and one Pod on it that has one.
func newFakeMember() *fakeMember {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node0"}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4"), "pods": resource.MustParse("10")}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return &fakeMember{
		name: "east", watches: map[string]*io.PipeWriter{},
		lists: map[string]runtime.Object{
			nodesPath:  &corev1.NodeList{Items: []corev1.Node{node}},
			podsPath:   &corev1.PodList{Items: []corev1.Pod{*pod("first")}},
			quotasPath: &corev1.ResourceQuotaList{},
		},
	}
}

// pod is one on the node that has one CPU.
func pod(name string) *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name,
		ResourceVersion: "2"}}
	p.Spec = oneCPU().Template.Spec
	p.Spec.NodeName = "node0"
	return p
}

func oneCPU() fit.Workload {
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "shop"}}}
	t.Spec.Containers = []corev1.Container{{Name: "a",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
	return fit.Workload{Namespace: "shop", Selector: labels.SelectorFromSet(t.Labels), Template: t}
}

func (m *fakeMember) Name() string { return m.name }

func (m *fakeMember) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *fakeMember) Silence() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silence
}

func (m *fakeMember) State() member.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return member.State{LastSuccess: m.success}
}

func (m *fakeMember) Client() rest.Interface { return m.WatchClient() }

func (m *fakeMember) WatchClient() rest.Interface {
	return &restfake.RESTClient{
		GroupVersion:         schema.GroupVersion{Version: "v1"},
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		Client:               restfake.CreateHTTPClient(m.serve),
	}
}

func (m *fakeMember) serve(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	watches := r.URL.Query().Get("watch") == "true"
	m.requests = append(m.requests, fmt.Sprintf("%s watch=%t", r.URL.Path, watches))
	switch {
	case m.hang:
		m.mu.Unlock()
		<-r.Context().Done()
		m.mu.Lock()
		return nil, r.Context().Err()
	case m.refused != "" && strings.HasSuffix(r.URL.Path, m.refused):
		return respond(http.StatusForbidden,
			io.NopCloser(strings.NewReader(
				`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"not for you"}`))), nil
	case watches:
		reader, writer := io.Pipe()
		m.watches[r.URL.Path] = writer
		context.AfterFunc(r.Context(), func() { writer.Close() })
		return respond(http.StatusOK, reader), nil
	}
	body, err := json.Marshal(typed(m.lists[r.URL.Path]))
	return respond(http.StatusOK, io.NopCloser(bytes.NewReader(body))), err
}

// typed names the list's kind, and the version that a watch continues from.
func typed(list runtime.Object) runtime.Object {
	kinds, _, err := scheme.Scheme.ObjectKinds(list)
	if err != nil {
		panic(err)
	}
	list.GetObjectKind().SetGroupVersionKind(kinds[0])
	list.(metav1.ListInterface).SetResourceVersion("1")
	return list
}

func respond(code int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// tell sends an event of a Pod.
func (m *fakeMember) tell(t *testing.T, kind watch.EventType, p *corev1.Pod) {
	t.Helper()
	object, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	w := m.watches[podsPath]
	m.mu.Unlock()
	if _, err := fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", kind, object); err != nil {
		t.Fatal(err)
	}
}

func (m *fakeMember) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.requests
	m.requests = nil
	return all
}

// estimatorOf is one with Pods of its own.
func estimatorOf(o Options) *Estimator {
	o.Pods = pods.New(pods.Options{KeepFor: o.KeepFor})
	return New(o)
}

// run has an estimator and its Pods at work until the test, or what it returns, ends them.
func run(t *testing.T, e *Estimator) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return e.members.pods.Run(ctx) })
		group.Go(func() error { return e.Run(ctx) })
		done <- group.Wait()
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// tellOf is an estimate in one line.
func tellOf(e Estimate) string {
	if e.Known && e.Unknown == nil && !e.AsOf.IsZero() {
		return fmt.Sprint(e.Additional)
	}
	if e.Known || e.Additional != 0 || !e.AsOf.IsZero() {
		return fmt.Sprintf("neither known nor unknown: %+v", e)
	}
	return e.Unknown.Error()
}

// hubWith is a hub that serves these Karmada Clusters.
func hubWith(clusters ...runtime.Object) *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{karmadaClusters: "ClusterList"}, clusters...)
}

var _ dynamic.Interface = (*dynamicfake.FakeDynamicClient)(nil)
