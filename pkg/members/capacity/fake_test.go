// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
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

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// fakeMember is a cluster without a network, so that it lives in a test's bubble of time.
type fakeMember struct {
	*memberstest.Member

	success time.Time
	lists   map[string]runtime.Object // by path
	refused string                    // of paths that end so
	watches map[string]*io.PipeWriter // the last one of each path
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
	m := &fakeMember{
		watches: map[string]*io.PipeWriter{},
		lists: map[string]runtime.Object{
			nodesPath:  &corev1.NodeList{Items: []corev1.Node{node}},
			podsPath:   &corev1.PodList{Items: []corev1.Pod{*pod("first")}},
			quotasPath: &corev1.ResourceQuotaList{},
		},
	}
	m.Member = memberstest.New("east", m.answer)
	return m
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

func (m *fakeMember) State() member.State {
	m.Lock()
	defer m.Unlock()
	return member.State{LastSuccess: m.success}
}

func (m *fakeMember) answer(r *http.Request) (*http.Response, error) {
	m.Lock()
	defer m.Unlock()
	switch {
	case m.refused != "" && strings.HasSuffix(r.URL.Path, m.refused):
		return memberstest.Respond(http.StatusForbidden, runtime.ContentTypeJSON,
			[]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"not for you"}`)), nil
	case r.URL.Query().Get("watch") == "true":
		reader, writer := io.Pipe()
		m.watches[r.URL.Path] = writer
		context.AfterFunc(r.Context(), func() { writer.Close() })
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: reader}, nil
	}
	return memberstest.JSON(http.StatusOK, typed(m.lists[r.URL.Path])), nil
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

// tell sends an event of a Pod.
func (m *fakeMember) tell(t *testing.T, kind watch.EventType, p *corev1.Pod) {
	t.Helper()
	object, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m.Lock()
	w := m.watches[podsPath]
	m.Unlock()
	if _, err := fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", kind, object); err != nil {
		t.Fatal(err)
	}
}

func (m *fakeMember) asked() []string {
	return m.Take(func(u *url.URL) string { return fmt.Sprintf("%s watch=%t", u.Path, u.Query().Get("watch") == "true") })
}

// estimatorOf is one with Pods of its own.
func estimatorOf(o Options) *Estimator {
	o.Pods = pods.New(pods.Options{KeepFor: o.KeepFor})
	return New(o)
}

// run has an estimator and its Pods at work until the test, or what it returns, ends them.
func run(t *testing.T, e *Estimator) (stop func()) {
	t.Helper()
	return memberstest.Run(t.Context(), t, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return e.members.pods.Run(ctx) })
		group.Go(func() error { return e.Run(ctx) })
		return group.Wait()
	})
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
