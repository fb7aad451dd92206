// SPDX-License-Identifier: Apache-2.0

package mirror

import (
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
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
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
	resp, err := s.Serve(r)
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
func (s *served) secret(t *testing.T) *corev1.Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	return registrationtest.Secret(registrationtest.Kubeconfig(t,
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = s.token }),
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) {
			c.Server = "https://" + s.proxy.Addr().String()
			c.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
		})))
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

// registry runs a real one.
func registry(t *testing.T, h *memberstest.Hub) *member.Registry {
	t.Helper()
	typed, untyped := h.Clients(t)
	r := member.New(member.Options{
		Hub: typed, HubDynamic: untyped, Registrations: registration.Options{Namespace: "fleet"},
		Connections: connection.Options{Timeout: time.Second, AllowLocal: true}, ProbePeriod: 50 * time.Millisecond,
	})
	memberstest.Run(memberstest.Logged(t), t, r.Run)
	return r
}

// theMember is the one member, which is another than before.
func theMember(t *testing.T, r *member.Registry, before *member.Member) (m *member.Member) {
	t.Helper()
	memberstest.Eventually(t, "ready", func() string {
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
	h := memberstest.NewHub(t)
	h.Put(t, east.secret(t))
	members := registry(t, h)
	m := theMember(t, members, nil)
	r := start(t)
	shows := func(want string) {
		t.Helper()
		memberstest.Eventually(t, want, func() string { return tell(r.ask(m, "shop")) })
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
	h.Put(t, east.secret(t))
	old := m.WatchClient()
	memberstest.Eventually(t, "other", func() string {
		if m.WatchClient() != old && m.Silence() == nil {
			return "other"
		}
		return "former"
	})
	watches := func() int { return strings.Count(strings.Join(east.asked(), "\n"), "watch=true") }
	watches()
	memberstest.Eventually(t, "watched again", func() string { // the former connection's watch is ended
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
