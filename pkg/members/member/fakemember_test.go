// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// fakeMember is an API server over TLS and HTTP/2 that knows its kube-system
// and can be made to fail in each way a member can.
type fakeMember struct {
	*httptest.Server

	mu     sync.Mutex
	token  string
	uid    string
	prefix string           // of all paths, as in front of one cluster of several
	nested string           // paths that begin so are served by fleetscale, unless empty
	code   int              // answers with it, unless zero
	handle http.HandlerFunc // answers what nothing else does, unless nil
	hang   chan struct{}    // answers nothing until closed, unless nil
	tokens []string         // as presented, in order
	ahead  time.Duration    // of its clock

	requests, probes, opened, open, streams atomic.Int64
}

func newFakeMember(t testing.TB, uid string) *fakeMember {
	m := &fakeMember{token: "s3cret", uid: uid}
	m.Server = httptest.NewUnstartedServer(m)
	m.EnableHTTP2 = true
	m.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			m.opened.Add(1)
			m.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			m.open.Add(-1)
		}
	}
	m.StartTLS()
	t.Cleanup(func() {
		m.thaw()
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *fakeMember) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *fakeMember) freeze() { m.set(func() { m.hang = make(chan struct{}) }) }

func (m *fakeMember) thaw() {
	m.set(func() {
		if m.hang != nil {
			close(m.hang)
			m.hang = nil
		}
	})
}

func (m *fakeMember) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m.requests.Add(1)
	m.mu.Lock()
	prefix := m.prefix
	token, hang, code, uid, nested, ahead, handle := m.token, m.hang, m.code, m.uid, m.nested, m.ahead, m.handle
	presented := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	m.tokens = append(m.tokens, presented)
	m.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-req.Context().Done():
			return
		}
	}
	req.URL.Path = strings.TrimPrefix(req.URL.Path, prefix)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
	switch {
	case code != 0:
		w.WriteHeader(code)
	case presented != token:
		w.WriteHeader(http.StatusUnauthorized)
	case req.URL.Path == identityPath:
		m.probes.Add(1)
		memberstest.Answer(w, memberstest.KubeSystem(uid))
	case nested != "" && strings.HasPrefix(req.URL.Path, nested):
		w.Header().Set(fleet.HubHeader, "a-hub")
		memberstest.Answer(w, map[string]any{})
	case handle != nil:
		handle(w, req)
	case req.URL.Path == "/apis/metrics.k8s.io/v1beta1/pods":
		memberstest.Answer(w, map[string]any{"from": uid, "agent": req.UserAgent()})
	case req.URL.Path == streamPath:
		m.stream(w, req)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// streamPath is answered for as long as the asker listens.
const streamPath = "/api/v1/pods"

func (m *fakeMember) stream(w http.ResponseWriter, req *http.Request) {
	m.streams.Add(1)
	defer m.streams.Add(-1)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		fmt.Fprintln(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}`)
		w.(http.Flusher).Flush()
		select {
		case <-req.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *fakeMember) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})
}

// kubeconfig leads to the member with the token that it accepts.
func (m *fakeMember) kubeconfig(t testing.TB, edits ...func(*clientcmdapi.Config)) []byte {
	t.Helper()
	return registrationtest.Kubeconfig(t, append([]func(*clientcmdapi.Config){
		registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.Server, c.CertificateAuthorityData = m.URL+m.prefix, m.ca() }),
		registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { m.set(func() { u.Token = m.token }) }),
	}, edits...)...)
}

// secret registers the member under a name.
func (m *fakeMember) secret(t testing.TB, name string, edits ...func(*corev1.Secret)) *corev1.Secret {
	t.Helper()
	return registrationtest.Secret(m.kubeconfig(t), append([]func(*corev1.Secret){registrationtest.Named(name)}, edits...)...)
}
