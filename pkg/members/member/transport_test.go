// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
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
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	hole := newBlackHole(t, east.Listener.Addr().String())
	hub.Put(t, registrationtest.Secret(east.kubeconfig(t, registrationtest.OnCluster(func(c *clientcmdapi.Cluster) {
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

func TestLeavingLeavesNothingBehind(t *testing.T) {
	hub := memberstest.NewHub(t)
	east := newFakeMember(t, "1")
	r := start(t, hub)
	r.settles()
	before := runtime.NumGoroutine()
	for range 20 {
		hub.Put(t, east.secret(t, "east"))
		r.becomes("east=Ready")
		hub.Remove(memberstest.FleetSecretsPath, "east")
		r.becomes("")
	}
	memberstest.Eventually(t, "0 open", func() string { return fmt.Sprintf("%d open", east.open.Load()) })
	memberstest.Eventually(t, "as before", func() string {
		if n := runtime.NumGoroutine(); n > before+2 {
			return fmt.Sprintf("%d goroutines, %d before", n, before)
		}
		return "as before"
	})
}

func TestOnChange(t *testing.T) {
	hub, east := memberstest.NewHub(t), newFakeMember(t, "1")
	o := optionsOf(t, hub)
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
	hub.Put(t, east.secret(t, "east"))
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
	hub.Remove(memberstest.FleetSecretsPath, "east")
	awaitCall("")
}
