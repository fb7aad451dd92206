// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"

	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
)

// thing is what the tests keep of a ConfigMap.
type thing struct {
	key   Key
	value string
}

func (t *thing) Key() Key { return t.key }

func (t *thing) Bytes() int64 { return int64(len(t.value)) }

func keepThing(c *corev1.ConfigMap) *thing {
	return &thing{Key{c.Namespace, c.Name}, c.Data["value"]}
}

// fakeMember is a cluster with ConfigMaps, without a network: all of it happens
// in the test's bubble of time.
type fakeMember struct {
	*memberstest.Member

	objects  map[Key]*corev1.ConfigMap
	revision int
	oldest   int                                        // watches from before it are refused
	history  []change                                   // all of it
	watchers map[int]*pipe                              // in the order in which they began
	begun    int                                        // watches
	success  time.Time                                  // the last one, for State; zero: now
	tokens   []string                                   // of the clients that asked
	client   string                                     // what a client made now would be
	reversed bool                                       // lists are
	reading  int                                        // lists under way
	most     int                                        // such at one time
	slow     func(ctx context.Context, r *http.Request) // before a list is answered
}

type change struct {
	revision int
	kind     watch.EventType
	object   *corev1.ConfigMap
}

type pipe struct {
	*io.PipeWriter

	namespace string
	ended     chan struct{}
	end       func()
	wake      chan struct{}
}

var _ Member = (*fakeMember)(nil)

func newFakeMember(name string, objects ...string) *fakeMember {
	m := &fakeMember{objects: map[Key]*corev1.ConfigMap{}, watchers: map[int]*pipe{}, revision: 1000, oldest: 1000}
	m.Member = memberstest.New(name, m.answer)
	for _, o := range objects {
		m.put(o, "0")
	}
	return m
}

func (m *fakeMember) State() member.State {
	m.Lock()
	defer m.Unlock()
	if m.success.IsZero() {
		return member.State{LastSuccess: time.Now()}
	}
	return member.State{LastSuccess: m.success}
}

// WatchClient is one that knows when it was made.
func (m *fakeMember) WatchClient() rest.Interface {
	m.Lock()
	token := m.client
	m.Unlock()
	c := m.Client().(*restfake.RESTClient)
	c.Client = restfake.CreateHTTPClient(func(r *http.Request) (*http.Response, error) {
		m.Set(func() { m.tokens = append(m.tokens, token) })
		return m.Serve(r)
	})
	return c
}

// put makes or changes an object called "namespace/name".
func (m *fakeMember) put(name, value string) {
	m.Lock()
	defer m.Unlock()
	key, kind := keyNamed(name), watch.Modified
	if m.objects[key] == nil {
		kind = watch.Added
	}
	m.revision++
	o := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.Itoa(m.revision)},
		Data:       map[string]string{"value": value},
	}
	m.objects[key] = o
	m.happened(change{m.revision, kind, o})
}

func (m *fakeMember) remove(name string) {
	m.Lock()
	defer m.Unlock()
	m.revision++
	o := m.objects[keyNamed(name)].DeepCopy()
	o.ResourceVersion = strconv.Itoa(m.revision)
	delete(m.objects, keyNamed(name))
	m.happened(change{m.revision, watch.Deleted, o})
}

func (m *fakeMember) happened(c change) {
	m.history = append(m.history, c)
	for _, w := range m.watchers {
		w.poke()
	}
}

func (p *pipe) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// breakWatches ends all watches, and refuses those from before now if it says so.
func (m *fakeMember) breakWatches(forget bool) {
	m.Lock()
	defer m.Unlock()
	if forget {
		m.oldest = m.revision + 1
		m.revision++
	}
	for _, w := range m.watchers {
		w.end()
	}
}

func (m *fakeMember) watched() int {
	m.Lock()
	defer m.Unlock()
	return len(m.watchers)
}

// asked returns the requests since it was last called.
func (m *fakeMember) asked() []string { return m.Take(describe) }

func keyNamed(name string) Key {
	namespace, name, _ := strings.Cut(name, "/")
	return Key{namespace, name}
}

func (m *fakeMember) answer(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "true" {
		return m.watch(r), nil
	}
	m.Set(func() {
		m.reading++
		m.most = max(m.most, m.reading)
	})
	defer m.Set(func() { m.reading-- })
	if m.slow != nil {
		m.slow(r.Context(), r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return m.list(r), nil
}

func describe(u *url.URL) string {
	q := u.Query()
	words := []string{strings.TrimPrefix(u.Path, "/api/v1/")}
	for _, key := range []string{"watch", "limit", "continue", "resourceVersion", "sendInitialEvents"} {
		switch {
		case !q.Has(key):
		case key == "resourceVersion" && q.Get("watch") == "true":
		default:
			words = append(words, key+"="+q.Get(key))
		}
	}
	return strings.Join(words, " ")
}

func namespaceOf(r *http.Request) string {
	_, after, _ := strings.Cut(r.URL.Path, "/namespaces/")
	namespace, _, _ := strings.Cut(after, "/")
	return namespace
}

// list answers as an API server does; what is left is called by its number.
func (m *fakeMember) list(r *http.Request) *http.Response {
	m.Lock()
	defer m.Unlock()
	q := r.URL.Query()
	var all []corev1.ConfigMap
	for key, o := range m.objects {
		if namespace := namespaceOf(r); namespace == "" || namespace == key.Namespace {
			all = append(all, *o)
		}
	}
	slices.SortFunc(all, func(a, b corev1.ConfigMap) int { return keyOf(&a).compare(keyOf(&b)) })
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"}}
	list.ResourceVersion = strconv.Itoa(m.revision)
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	list.Items = all[min(from, len(all)):]
	if limit > 0 && len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.Continue = strconv.Itoa(from + limit)
	}
	if m.reversed {
		slices.Reverse(list.Items)
	}
	return memberstest.JSON(http.StatusOK, list)
}

func expired() *http.Response { return memberstest.Refusal(apierrors.NewResourceExpired("too old")) }

func (m *fakeMember) watch(r *http.Request) *http.Response {
	m.Lock()
	defer m.Unlock()
	since, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || since < m.oldest {
		return expired()
	}
	reader, writer := io.Pipe()
	w := &pipe{PipeWriter: writer, namespace: namespaceOf(r), ended: make(chan struct{}), wake: make(chan struct{}, 1)}
	w.end = sync.OnceFunc(func() { close(w.ended) })
	m.begun++
	id := m.begun
	m.watchers[id] = w
	go func() {
		m.send(w, since)
		m.Set(func() { delete(m.watchers, id) })
		writer.Close()
	}()
	context.AfterFunc(r.Context(), w.end)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: &body{reader, w.end}}
}

type body struct {
	io.ReadCloser

	end func()
}

func (b *body) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

// send writes what has happened since, and continues.
func (m *fakeMember) send(w *pipe, since int) {
	for {
		m.Lock()
		var changes []change
		for _, c := range m.history {
			if c.revision > since && (w.namespace == "" || w.namespace == c.object.Namespace) {
				changes = append(changes, c)
			}
		}
		m.Unlock()
		for _, c := range changes {
			object, err := json.Marshal(c.object)
			if err != nil {
				panic(err)
			}
			if _, err := fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", c.kind, object); err != nil {
				return
			}
			since = c.revision
		}
		select {
		case <-w.ended:
			return
		case <-w.wake:
		}
	}
}

// running is a mirror at work.
type running struct {
	*Mirror[*corev1.ConfigMap, *thing]

	t    *testing.T
	stop func()
}

// start runs a mirror until the test, or stop, ends it.
func start(t *testing.T, edits ...func(*Options[*corev1.ConfigMap, *thing])) *running {
	t.Helper()
	o := Options[*corev1.ConfigMap, *thing]{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Keep: keepThing}
	for _, edit := range edits {
		edit(&o)
	}
	r := &running{Mirror: New(o), t: t}
	r.stop = memberstest.Run(t.Context(), t, r.Run)
	return r
}

// ask puts a question and waits a minute at most.
func (r *running) ask(m Member, namespace string) Answer[*thing] {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	return r.Ask(ctx, m, namespace)
}

// tell is an answer in one line: objects with their values, and what else there is.
func tell(a Answer[*thing]) string {
	words := []string{}
	for _, o := range a.Objects {
		words = append(words, o.key.Namespace+"/"+o.key.Name+"="+o.value)
	}
	if !a.Known {
		words = append(words, "unknown")
	}
	if a.Silence != nil {
		words = append(words, string(a.Silence.Reason))
	}
	return strings.Join(words, " ")
}

func (r *running) expect(m Member, namespace, want string) Answer[*thing] {
	r.t.Helper()
	a := r.ask(m, namespace)
	if got := tell(a); got != want {
		r.t.Errorf("%s/%s = %q, want %q", m.Name(), namespace, got, want)
	}
	if a.Known == a.AsOf.IsZero() {
		r.t.Errorf("known %v as of %v", a.Known, a.AsOf)
	}
	return a
}
