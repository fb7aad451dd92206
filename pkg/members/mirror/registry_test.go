// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// served is a cluster behind TLS, HTTP/2 and a proxy that can freeze.
type served struct {
	*fakeMember

	server *httptest.Server
	proxy  *freezer
	mu     sync.Mutex
	uid    string
	token  string
}

func serve(t *testing.T, m *fakeMember) *served {
	s := &served{fakeMember: m, uid: "1", token: "first"}
	s.server = httptest.NewUnstartedServer(s)
	s.server.EnableHTTP2 = true
	s.server.StartTLS()
	s.proxy = newFreezer(t, s.server.Listener.Addr().String())
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	uid, token := s.uid, s.token
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"uid": uid}})
	case !strings.Contains(r.URL.Path, "configmaps"):
		w.WriteHeader(http.StatusNotFound)
	default:
		s.pass(w, r)
	}
}

// pass sends what the fake answers, as it comes.
func (s *served) pass(w http.ResponseWriter, r *http.Request) {
	resp, err := s.serve(r)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	w.(http.Flusher).Flush()
	buffer := make([]byte, 4096)
	for {
		n, err := resp.Body.Read(buffer)
		_, _ = w.Write(buffer[:n])
		w.(http.Flusher).Flush()
		if err != nil {
			return
		}
	}
}

// secret registers the cluster as east.
func (s *served) secret(t *testing.T) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "c",
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://" + s.proxy.Addr().String(), CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: s.token}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// freezer is a TCP proxy. Frozen, it holds all bytes back, and the connections.
type freezer struct {
	net.Listener

	mu     sync.Mutex
	thawed chan struct{} // closed unless frozen
}

func newFreezer(t *testing.T, target string) *freezer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &freezer{Listener: listener, thawed: make(chan struct{})}
	f.thaw()
	t.Cleanup(func() {
		f.thaw()
		listener.Close()
	})
	go func() {
		for {
			down, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", target)
			if err != nil {
				down.Close()
				continue
			}
			go f.pump(up, down)
			go f.pump(down, up)
		}
	}()
	return f
}

func (f *freezer) pump(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		f.mu.Lock()
		thawed := f.thawed
		f.mu.Unlock()
		<-thawed
		if _, werr := to.Write(buffer[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.thawed:
	default:
		close(f.thawed)
	}
}

// hub holds the registration of one cluster.
type hub struct {
	*httptest.Server

	mu       sync.Mutex
	secret   []byte
	revision int
	changed  chan struct{} // closed at the next change
}

func newHub(t *testing.T) *hub {
	h := &hub{changed: make(chan struct{})}
	h.Server = httptest.NewServer(h)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *hub) register(kubeconfig []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.secret = kubeconfig
	h.revision++
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *hub) state() (corev1.Secret, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return corev1.Secret{
		TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "east", Labels: map[string]string{registration.MemberLabel: "true"},
			ResourceVersion: time.Unix(int64(h.revision), 0).Format("150405"),
		},
		Data: map[string][]byte{"kubeconfig": h.secret},
	}, h.changed
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	secret, changed := h.state()
	switch {
	case !strings.HasSuffix(r.URL.Path, "/secrets"):
		w.WriteHeader(http.StatusNotFound)
	case r.URL.Query().Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusBadRequest) // it knows plain lists only
	case r.URL.Query().Get("watch") != "true":
		list := corev1.SecretList{TypeMeta: metav1.TypeMeta{Kind: "SecretList", APIVersion: "v1"}, Items: []corev1.Secret{secret}}
		list.ResourceVersion = secret.ResourceVersion
		_ = json.NewEncoder(w).Encode(list)
	default:
		h.watch(w, r, changed)
	}
}

func (h *hub) watch(w http.ResponseWriter, r *http.Request, changed <-chan struct{}) {
	for {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
		var secret corev1.Secret
		secret, changed = h.state()
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": secret})
	}
}

// registry runs a real one.
func registry(t *testing.T, h *hub) *member.Registry {
	t.Helper()
	config := &rest.Config{Host: h.URL, QPS: -1}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	r := member.New(member.Options{
		Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"},
		Connections: connection.Options{Timeout: time.Second}, ProbePeriod: 50 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))))
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("registry: %v", err)
		}
	})
	return r
}

func eventually(t *testing.T, want string, see func() string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		got := see()
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after 30 s: %q, want %q", got, want)
		}
	}
}

// theMember is the one member, which is another than before.
func theMember(t *testing.T, r *member.Registry, before *member.Member) (m *member.Member) {
	t.Helper()
	eventually(t, "ready", func() string {
		for _, m = range r.Members() {
			if m != before && m.Silence() == nil {
				return "ready"
			}
		}
		return "none"
	})
	return m
}

func TestOverRealConnections(t *testing.T) {
	t.Parallel()
	east := serve(t, newFakeMember("east", "shop/a"))
	h := newHub(t)
	h.register(east.secret(t))
	members := registry(t, h)
	m := theMember(t, members, nil)
	r := start(t)
	shows := func(want string) {
		t.Helper()
		eventually(t, want, func() string { return tell(r.ask(m, "shop")) })
	}
	r.expect(m, "shop", "shop/a=0")
	east.put("shop/b", "1")
	shows("shop/a=0 shop/b=1")

	t.Log("frozen")
	frozen := time.Now()
	east.proxy.freeze()
	shows("shop/a=0 shop/b=1 Timeout")
	if took := time.Since(frozen); took > 10*time.Second {
		t.Errorf("silent %v after the member froze", took)
	}
	if a := r.ask(m, "shop"); a.AsOf.After(frozen.Add(time.Second)) {
		t.Errorf("as of %v, though frozen at %v", a.AsOf, frozen)
	}
	east.put("shop/b", "2")
	east.proxy.thaw()
	shows("shop/a=0 shop/b=2")

	t.Log("credentials")
	east.mu.Lock()
	east.token = "second"
	east.mu.Unlock()
	h.register(east.secret(t))
	old := m.WatchClient()
	eventually(t, "other", func() string {
		if m.WatchClient() != old && m.Silence() == nil {
			return "other"
		}
		return "former"
	})
	watches := func() int { return strings.Count(strings.Join(east.asked(), "\n"), "watch=true") }
	watches()
	eventually(t, "watched again", func() string { // the former connection's watch is ended
		if a := r.ask(m, "shop"); a.Silence != nil {
			t.Fatalf("silent while credentials change: %v", a.Silence)
		}
		if watches() > 0 {
			return "watched again"
		}
		return "as before"
	})
	east.put("shop/b", "3")
	shows("shop/a=0 shop/b=3")

	t.Log("another cluster")
	east.mu.Lock()
	east.uid = "2"
	east.mu.Unlock()
	other := theMember(t, members, m)
	r.expect(other, "shop", "shop/a=0 shop/b=3")
	r.mu.Lock()
	clusters := len(r.clusters)
	r.mu.Unlock()
	if clusters != 2 {
		t.Errorf("%d clusters, want two", clusters)
	}
}
