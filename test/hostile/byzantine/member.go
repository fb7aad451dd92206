// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Member is one cluster. All methods may be called from any goroutine.
type Member struct {
	honest    *sim.Member
	authority []byte
	sockets   *sockets
	server    *http.Server
	paths     *request.RequestInfoFactory

	mu   sync.Mutex
	mode *mode // nil: it is honest
}

// mode is one attack, from when it begins until it ends.
type mode struct {
	Attack

	everything bool
	ended      context.Context
	end        context.CancelFunc
}

// New returns a member with a certificate of its own. It is honest, until Attack.
func New(ctx context.Context, honest *sim.Member) (*Member, error) {
	authority, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of a byzantine member: %w", err)
	}
	pair, err := tls.X509KeyPair(authority, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of a byzantine member: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	settings := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	m := &Member{
		honest: honest, authority: authority,
		sockets: newSockets(listener, settings),
		paths:   &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
	m.server = &http.Server{
		Handler: m, TLSConfig: settings, ConnContext: withSocket, ReadHeaderTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), // of clients that go away
	}
	go func() { _ = m.server.ServeTLS(m.sockets, "", "") }() // ends with Close
	return m, nil
}

// Close ends it. The honest member behind it stays.
func (m *Member) Close() error {
	m.Behave()
	return m.server.Close()
}

// Name is that of the honest member.
func (m *Member) Name() string { return m.honest.Name() }

// URL is the API server's.
func (m *Member) URL() string { return "https://" + m.sockets.Addr().String() }

// Kubeconfig returns what a registration of the member holds.
func (m *Member) Kubeconfig() ([]byte, error) {
	config, name := clientcmdapi.NewConfig(), m.Name()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: m.URL(), CertificateAuthorityData: m.authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: m.honest.RESTConfig().BearerToken}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// Attack begins an attack, and ends any other. With everything it is also what the probe and discovery get.
func (m *Member) Attack(a Attack, everything bool) {
	ended, end := context.WithCancel(context.Background())
	m.become(&mode{a, everything, ended, end})
}

// Behave ends the attack, and all answers that belong to it.
func (m *Member) Behave() { m.become(nil) }

func (m *Member) become(next *mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode != nil {
		m.mode.end()
	}
	m.mode = next
	if next == nil {
		m.sockets.behave()
		return
	}
	m.sockets.attack(next.ended, next.socket)
}

// ServeHTTP implements http.Handler.
func (m *Member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	now := m.mode
	m.mu.Unlock()
	info, err := m.paths.NewRequestInfo(r)
	if now == nil || now.serve == nil || err != nil || !now.everything && !now.wants(info) {
		m.honest.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(now.ended, cancel)()
	measure.InIdleTime(func() { now.serve(m, w, question{r.WithContext(ctx), info}) })
}

// wants reports whether an attack is on a request at all.
func (a Attack) wants(info *request.RequestInfo) bool {
	if a.wanted != nil {
		return a.wanted(info)
	}
	return info.IsResourceRequest && info.Resource != "namespaces"
}

// question is one request.
type question struct {
	*http.Request

	info *request.RequestInfo
}

// truly has the honest member answer.
func (m *Member) truly(w http.ResponseWriter, q question) { m.honest.ServeHTTP(w, q.Request) }

// elapse waits, and returns whether the question is still there.
func (q question) elapse(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-q.Context().Done():
		return false
	case <-timer.C:
		return q.Context().Err() == nil
	}
}
