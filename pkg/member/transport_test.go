// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// lastEvent keeps the last event.
type lastEvent struct {
	record.EventRecorder

	object  corev1.ObjectReference
	message string
}

func (l *lastEvent) Event(object apiruntime.Object, _, _, message string) {
	l.object, l.message = *object.(*corev1.ObjectReference), message
}

func TestDigest(t *testing.T) {
	ca, key := selfSigned()
	base := func() *clientcmdapi.Config {
		return &clientcmdapi.Config{
			Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: "https://a"}},
			AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Exec: &clientcmdapi.ExecConfig{Command: "aws"}}},
		}
	}
	edits := map[string]func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo){
		"nothing":     func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {},
		"server":      func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://b" },
		"authority":   func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = ca },
		"CA file":     func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthority = "/f" },
		"server name": func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.TLSServerName = "n" },
		"insecure":    func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.InsecureSkipTLSVerify = true },
		"proxy":       func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.ProxyURL = "http://p" },
		"compression": func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.DisableCompression = true },
		"certificate": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.ClientCertificateData, u.ClientKeyData = ca, key
		},
		"files":         func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientCertificate, u.ClientKey = "/c", "/k" },
		"token":         func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token = "t" },
		"token file":    func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.TokenFile = "/t" },
		"user":          func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Username = "me" },
		"password":      func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Password = "pw" },
		"impersonation": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ImpersonateGroups = []string{"g"} },
		"command":       func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Exec.Args = []string{"x"} },
		"command's env": func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec.Env = []clientcmdapi.ExecEnvVar{{Name: "a", Value: "b"}}
		},
		"command's extension": func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Extensions = map[string]apiruntime.Object{execExtension: &apiruntime.Unknown{Raw: []byte(`{"a":1}`)}}
		},
	}
	seen := map[[32]byte]string{}
	add := func(name string, e endpoint) {
		d := e.digest()
		if other, taken := seen[d]; taken {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
		if d != e.digest() {
			t.Errorf("%s: the digest changes by itself", name)
		}
	}
	for name, edit := range edits {
		c := base()
		edit(c.Clusters["c"], c.AuthInfos["u"])
		e, faults := buildEndpoint(c.Clusters["c"], c.AuthInfos["u"])
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		add(name, e)
	}
	add("proxy header", endpoint{config: &rest.Config{Host: "https://a"}, proxyHeader: http.Header{"X": {"1"}}})
	add("another proxy header", endpoint{config: &rest.Config{Host: "https://a"}, proxyHeader: http.Header{"X": {"2"}}})
}

// blackHole is a TCP proxy whose connections can be made to swallow everything.
type blackHole struct {
	net.Listener

	target string
	mu     sync.Mutex
	holes  []*atomic.Bool
}

func newBlackHole(t *testing.T, target string) *blackHole {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &blackHole{Listener: listener, target: target}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.carry(conn)
		}
	}()
	return b
}

func (b *blackHole) carry(down net.Conn) {
	up, err := net.Dial("tcp", b.target)
	if err != nil {
		down.Close()
		return
	}
	hole := &atomic.Bool{}
	b.mu.Lock()
	b.holes = append(b.holes, hole)
	b.mu.Unlock()
	pump := func(to, from net.Conn) {
		defer to.Close()
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			if hole.Load() {
				continue
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go pump(up, down)
	go pump(down, up)
}

// swallow makes the present connections black holes; later ones work.
func (b *blackHole) swallow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, hole := range b.holes {
		hole.Store(true)
	}
}

// A connection whose peer has vanished is ended by pings, in constant use or not.
func TestDeadConnectionIsLeftForANewOne(t *testing.T) {
	t.Parallel() // it takes a ping's time
	hub, east := newFakeHub(t), newFakeMember(t, "1")
	hole := newBlackHole(t, east.Listener.Addr().String())
	hub.put(t, secretWith(east.kubeconfig(t, onCluster(func(c *clientcmdapi.Cluster) {
		c.Server = "https://" + hole.Addr().String()
	}))))
	r := start(t, hub, impatiently)
	r.becomes("east=Ready")
	hole.swallow()
	m := r.member("east")
	for range 4 { // overlapping, so that there is always one under way
		go func() {
			for t.Context().Err() == nil {
				_, _ = ask(t.Context(), m)
			}
		}()
	}
	r.becomes("east=Timeout")
	r.becomes("east=Ready")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := newFakeMember(t, "2")
	m := &meter{}
	redirecting := newFakeMember(t, "1")
	redirecting.Config.Handler = http.RedirectHandler(elsewhere.URL+identityPath, http.StatusFound)
	e, faults := parseKubeconfig(redirecting.kubeconfig(t), "", Policy{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c, err := (dialing{options: Options{}.withDefaults(), meter: m, onFail: ignore}).connect(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, silence := c.identify(t.Context()); silence == nil || silence.Error() != "BadAnswer: 302 to GET /api/v1/namespaces/kube-system" {
		t.Errorf("silence = %v, want the redirection itself", silence)
	}
	if n := elsewhere.requests.Load(); n != 0 {
		t.Errorf("%d requests went where the answer pointed, with our token", n)
	}
}

func TestResults(t *testing.T) {
	tests := map[int]string{200: "Answered", 404: "Answered", 401: "Forbidden", 403: "Forbidden", 429: "RateLimited", 500: "ServerError", 504: "Timeout", 400: "BadAnswer", 302: "BadAnswer"}
	for code, want := range tests {
		if got := resultOf(&http.Response{StatusCode: code}, nil); got != want {
			t.Errorf("resultOf(%d) = %s, want %s", code, got, want)
		}
	}
	if got := resultOf(nil, fmt.Errorf("asking: %w", context.Canceled)); got != "Canceled" {
		t.Errorf("resultOf(our own change of mind) = %s, want Canceled", got)
	}
}

func TestBodyIsMeteredOnce(t *testing.T) {
	var results []string
	b := &meteredBody{ReadCloser: io.NopCloser(strings.NewReader("x")), done: func(err error) { results = append(results, fmt.Sprint(err)) }}
	if _, err := io.ReadAll(b); err != nil {
		t.Fatal(err)
	}
	b.Close()
	broken := &meteredBody{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader("x"), failing{})), done: func(err error) { results = append(results, fmt.Sprint(err)) }}
	_, _ = io.ReadAll(broken)
	broken.Close()
	if got := strings.Join(results, ","); got != "<nil>,unexpected EOF" {
		t.Errorf("results = %s", got)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestLeavingLeavesNothingBehind(t *testing.T) {
	hub := newFakeHub(t)
	east := newFakeMember(t, "1")
	r := start(t, hub)
	r.eventually("settled", func() string { return orSettled(r.Settled()) })
	before := runtime.NumGoroutine()
	for range 20 {
		hub.put(t, east.secret(t, "east"))
		r.becomes("east=Ready")
		hub.remove("/api/v1/namespaces/fleet/secrets", "east")
		r.becomes("")
	}
	r.eventually("0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
	r.eventually("as before", func() string {
		if n := runtime.NumGoroutine(); n > before+2 {
			return fmt.Sprintf("%d goroutines, %d before", n, before)
		}
		return "as before"
	})
}

func TestOnChange(t *testing.T) {
	hub, east := newFakeHub(t), newFakeMember(t, "1")
	o := hub.options(t)
	o.ProbePeriod = 10 * time.Millisecond
	r := New(o)
	calls := make(chan string, 1000)
	r.OnChange(func() {
		state := ""
		for _, m := range r.Members() {
			state += m.Name() + "=" + string(m.State().Reason)
		}
		calls <- state
	})
	runRegistry(t, r)
	awaitCall := func(want string) {
		t.Helper()
		deadline := time.After(10 * time.Second)
		for {
			select {
			case got := <-calls:
				if got == want {
					return
				}
			case <-deadline:
				t.Fatalf("no call showed %q", want)
			}
		}
	}
	hub.put(t, east.secret(t, "east"))
	awaitCall("east=Ready")
	east.set(func() { east.code = 401 })
	awaitCall("east=Forbidden")
	east.set(func() { east.code = 0 })
	awaitCall("east=Ready")
	probes := east.probes.Load()
	for east.probes.Load() < probes+10 {
		runtime.Gosched()
	}
	if n := len(calls); n != 0 {
		t.Errorf("%d calls although nothing changed, the first with %s", n, <-calls)
	}
	hub.remove("/api/v1/namespaces/fleet/secrets", "east")
	awaitCall("")
}

func ignore(fleet.Reason) {}
