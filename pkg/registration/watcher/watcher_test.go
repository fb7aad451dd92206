// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

var (
	thingsResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	olderResource  = schema.GroupVersionResource{Group: "example.com", Version: "v1alpha1", Resource: "things"}
	secretResource = corev1.SchemeGroupVersion.WithResource("secrets")
)

// things are a source such as might come: objects of all namespaces, each with credentials beside it.
type things struct{}

func (things) Name() string { return "thing" }

func (things) Watch() registration.Watch {
	return registration.Watch{What: "the Things", Resource: thingsResource}
}

func (things) Read(u *unstructured.Unstructured) registration.Object {
	return thing{registration.Reference{Namespace: u.GetNamespace(), Name: u.GetName() + "-secret", By: "its name tells",
		Keys: [2]string{"token"}}}
}

type thing struct{ ref registration.Reference }

func (t thing) Credentials() registration.Reference { return t.ref }

func (t thing) Register(c registration.Credentials) registration.Registration {
	r := registration.Registration{Name: t.ref.Name, Awaiting: c.Awaiting}
	if c.Awaiting == "" {
		r.Faults = []registration.Fault{{Reason: "Token", Message: string(c.Data["token"])}}
	}
	return r
}

// olderThings are of two namespaces, and may be served in an older version.
type olderThings struct{ things }

func (olderThings) Watch() registration.Watch {
	return registration.Watch{
		What: "the Things", Resource: thingsResource, Older: []string{olderResource.Version}, Namespaces: []string{"shop", "bank"},
	}
}

// hub is one whose API of Things may come and go.
type hub struct {
	*dynamicfake.FakeDynamicClient

	typed   *fake.Clientset
	serves  atomic.Pointer[metav1.APIResourceList]
	watches atomic.Int64 // that are open
	refuses atomic.Pointer[schema.GroupVersionResource]
}

// counted is a watch that tells when it is stopped.
type counted struct {
	watch.Interface

	stop func()
}

func (c counted) Stop() {
	c.Interface.Stop()
	c.stop()
}

func newHub() *hub {
	kinds := map[schema.GroupVersionResource]string{thingsResource: "ThingList", olderResource: "ThingList", secretResource: "SecretList"}
	h := &hub{FakeDynamicClient: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds), typed: fake.NewClientset()}
	h.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := h.Tracker().Watch(action.GetResource(), action.GetNamespace())
		h.watches.Add(1)
		return true, counted{w, sync.OnceFunc(func() { h.watches.Add(-1) })}, err
	})
	h.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		refused := h.refuses.Load()
		return refused != nil && *refused == action.GetResource(), nil, fleet.Silencef(fleet.ReasonTimeout, "late")
	})
	// The fake reads what it serves without a lock, so it is set by the one who asks.
	h.typed.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		if list := h.serves.Load(); list != nil {
			h.typed.Resources = []*metav1.APIResourceList{list}
		}
		return false, nil, nil
	})
	return h
}

func (h *hub) serve(resources ...string) { h.serveIn("v1", resources...) }

func (h *hub) serveIn(version string, resources ...string) {
	list := &metav1.APIResourceList{GroupVersion: "example.com/" + version}
	for _, r := range resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
	}
	h.serves.Store(list)
}

func (h *hub) create(t *testing.T, resource schema.GroupVersionResource, kind, name string, content map[string]any) {
	t.Helper()
	h.createIn(t, "shop", resource, kind, name, content)
}

func (h *hub) createIn(t *testing.T, namespace string, resource schema.GroupVersionResource, kind, name string, content map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"data": content}}
	u.SetAPIVersion(resource.GroupVersion().String())
	u.SetKind(kind)
	u.SetName(name)
	u.SetNamespace(namespace)
	if _, err := h.Resource(resource).Namespace(namespace).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// seen is what the watcher has told so far.
type seen struct {
	mu            sync.Mutex
	registrations map[string]string
	gone          []string
	told          int
}

func (s *seen) changed(_ context.Context, k registration.Key, r *registration.Registration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told++
	switch {
	case r == nil:
		s.gone = append(s.gone, k.String())
		delete(s.registrations, k.String())
	case r.Awaiting != "":
		s.registrations[k.String()] = r.Awaiting
	default:
		s.registrations[k.String()] = r.Refusal().Error()
	}
}

func (s *seen) becomes(t *testing.T, want string) {
	t.Helper()
	memberstest.Eventually(t, want, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Sprint(s.registrations)
	})
}

// A further source needs nothing here: its API comes and goes, its objects are told apart by namespaces, and the Secrets
// that they refer to are followed.
func TestFurtherSource(t *testing.T) {
	h, s := newHub(), &seen{registrations: map[string]string{}}
	w := New(Options{Hub: h.typed, HubDynamic: h, Sources: []registration.Source{things{}}, Timeout: time.Second,
		Period: 5 * time.Millisecond})
	fleettest.Same(t, "awaited at first", []string{"the hub's word whether it serves the Things"}, w.Awaited())
	synced := make(chan struct{}, 1000)
	stop := memberstest.Run(memberstest.Logged(t), t, func(ctx context.Context) error {
		w.Run(ctx, s.changed, func() { synced <- struct{}{} })
		return nil
	})
	<-synced // there is no such API
	if awaited := w.Awaited(); len(awaited) > 0 {
		t.Errorf("awaited while there is no such API: %v", awaited)
	}

	h.create(t, thingsResource, "Thing", "east", nil)
	h.serve("widgets", "things")
	s.becomes(t, "map[thing.shop.east:Token]") // there is no such Secret
	h.create(t, secretResource, "Secret", "east-secret", map[string]any{"token": "czNjcmV0", "key-of-a-ca": "Zm9yZWlnbg=="})
	s.becomes(t, "map[thing.shop.east:Token: s3cret]")
	if data, _ := w.sources[0].credentials["shop/east"].get("east-secret"); len(data) != 1 {
		t.Errorf("%d keys are kept, want the one that is used", len(data))
	}
	if err := h.Resource(thingsResource).Namespace("shop").Delete(t.Context(), "east", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.becomes(t, "map[]")
	open := func() string { return fmt.Sprintf("%d watches", h.watches.Load()) }
	memberstest.Eventually(t, "1 watches", open) // of Things, and of no Secret
	h.create(t, thingsResource, "Thing", "east", nil)
	s.becomes(t, "map[thing.shop.east:Token: s3cret]")
	h.serve("widgets")
	s.becomes(t, "map[]")
	memberstest.Eventually(t, "0 watches", open)
	stop()
	if len(w.sources[0].credentials) > 0 {
		t.Errorf("%d Secrets are followed for objects that are gone", len(w.sources[0].credentials))
	}
}

// Objects of several namespaces are told apart. In another version of their API they stay what they are, also while they cannot be read
// there, until they are read; one that is not there then is gone.
func TestVersionsAndNamespaces(t *testing.T) {
	h, s := newHub(), &seen{registrations: map[string]string{}}
	w := New(Options{Hub: h.typed, HubDynamic: h, Sources: []registration.Source{olderThings{}}, Timeout: time.Second,
		Period: 5 * time.Millisecond})
	if !w.Knows("other") || w.Knows("thing") {
		t.Error("of a source that is not watched all is known, and of one that was not read nothing")
	}
	for _, namespace := range []string{"shop", "bank", "vault"} {
		h.createIn(t, namespace, olderResource, "Thing", "east", nil)
	}
	h.create(t, thingsResource, "Thing", "east", nil)
	h.serveIn("v1alpha1", "things")
	synced := make(chan struct{})
	once := sync.OnceFunc(func() { close(synced) })
	memberstest.Run(memberstest.Logged(t), t, func(ctx context.Context) error {
		w.Run(ctx, s.changed, once)
		return nil
	})
	<-synced
	s.mu.Lock()
	fleettest.Same(t, "when all are said to be there", 2, len(s.registrations))
	s.mu.Unlock()
	s.becomes(t, "map[thing.bank.east:Token thing.shop.east:Token]")

	h.refuses.Store(&thingsResource)
	h.serveIn("v1", "things")
	memberstest.Eventually(t, "v1", func() string { return w.sources[0].objects.Load().version })
	s.mu.Lock()
	before := s.told
	s.mu.Unlock()
	w.Again(w.sources[0].key("bank/east"))
	memberstest.Eventually(t, "told again", func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.told == before {
			return ""
		}
		return "told again"
	})
	fleettest.Same(t, "gone while another version cannot be read", 0, len(s.gone))
	if !w.Knows("thing") || len(w.Awaited()) > 0 {
		t.Errorf("with another version what was known is not, and %v are awaited", w.Awaited())
	}
	h.refuses.Store(nil)
	s.becomes(t, "map[thing.shop.east:Token]")
}

// All first objects of all namespaces are awaited, and who cannot be read is named.
func TestEachNamespaceIsAwaited(t *testing.T) {
	s := New(Options{HubDynamic: newHub(), Sources: []registration.Source{olderThings{}}}).sources[0]
	o := s.newObjects("v1")
	s.objects.Store(o)
	if s.signed(s.absence()) || s.signed(s.mark("shop")) || s.synced.Load() {
		t.Error("one namespace is taken for all")
	}
	o.followers[1].note(t.Context(), fleet.Silencef(fleet.ReasonTimeout, "late"))
	if o.complete() || o.why() != "the Things of namespace bank (Timeout: late)" {
		t.Errorf("complete: %t, awaited: %q", o.complete(), o.why())
	}
	if !s.signed(s.mark("bank")) || !s.synced.Load() || !s.complete() {
		t.Error("not complete")
	}
	s.objects.Store(nil)
	if !s.signed(s.absence()) || s.complete() {
		t.Error("an API that is not served is awaited, or all of it is known")
	}
}

func TestFollowerTellsWhatHappened(t *testing.T) {
	object := func(namespace, name string) any {
		u := &unstructured.Unstructured{}
		u.SetNamespace(namespace)
		u.SetName(name)
		return u
	}
	var told []string
	f := newFollower(newHub(), registration.Watch{Namespace: "ns"}, "", (*unstructured.Unstructured).GetName, following{
		changed: func(name string) { told = append(told, name) },
		synced:  func() { told = append(told, "synced") },
	})
	steps := []struct {
		what  string
		do    func() error
		names string
		told  string // in order, but for what one replacement tells
	}{
		{"the first list", func() error { return f.Replace([]any{object("ns", "a"), object("ns", "b")}, "1") }, "a b", "a b synced"},
		{"one comes", func() error { return f.Add(object("ns", "c")) }, "a b c", "c"},
		{"one changes", func() error { return f.Update(object("ns", "a")) }, "a b c", "a"},
		{"one goes", func() error { return f.Delete(object("ns", "a")) }, "b c", "a"},
		{"another list, without b", func() error { return f.Replace([]any{object("ns", "c"), object("ns", "d")}, "2") }, "c d", "b c d"},
		{"nothing", f.Resync, "c d", ""},
		{"one of another namespace", func() error { return f.Add(object("other", "c")) }, "c d other/c", "other/c"},
	}
	for _, step := range steps {
		told = nil
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if last := len(told) - 1; last > 0 && told[last] == "synced" {
			slices.Sort(told[:last])
		} else {
			slices.Sort(told)
		}
		names := f.names()
		slices.Sort(names)
		fleettest.Same(t, step.what+": names, told",
			[]string{step.names, step.told}, []string{strings.Join(names, " "), strings.Join(told, " ")})
	}
}

// What cannot be read is named with the reason, until it can.
func TestTroubleIsNamed(t *testing.T) {
	failed := 0
	f := newFollower(newHub(), registration.Watch{}, "", (*unstructured.Unstructured).GetName, following{failed: func() { failed++ }})
	f.note(t.Context(), fleet.Silencef(fleet.ReasonTimeout, "late"))
	if got := f.why("the Things"); got != "the Things (Timeout: late)" || failed != 1 {
		t.Errorf("awaited: %q, told %d times", got, failed)
	}
	f.note(t.Context(), nil)
	if got := f.why("the Things"); got != "the Things" {
		t.Errorf("awaited: %q", got)
	}
}
