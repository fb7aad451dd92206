// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Member is one simulated cluster. All methods may be called from any goroutine.
type Member struct {
	name      string
	token     string
	authority []byte

	own, foreign *tls.Certificate
	sockets      *sockets
	server       *http.Server
	paths        *request.RequestInfoFactory
	scheme       *runtime.Scheme
	codecs       serializer.CodecFactory

	conduct *conducting
	tally   *tally
	scaled  scaled
	world   *world
	figures *figures
	usage   *usage

	delegates *delegates
	onRequest *observer
}

func newMember(ctx context.Context, name string, m measuring) (*Member, error) {
	own, authority, err := newCertificate(name)
	if err != nil {
		return nil, err
	}
	foreign, _, err := newCertificate("stranger")
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	scheme := newScheme()
	member := &Member{
		name: name, token: rand.Text(), authority: authority, own: own, foreign: foreign,
		sockets: newSockets(listener),
		paths:   &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		scheme:  scheme,
		codecs:  serializer.NewCodecFactory(scheme),
		conduct: newConducting(), tally: newTally(), figures: newFigures(),
		delegates: newDelegates(), onRequest: &observer{},
	}
	member.world = newWorld(name, member.port())
	member.usage = newUsage(member.world, m)
	member.server = &http.Server{
		Handler:           member,
		TLSConfig:         &tls.Config{GetCertificate: member.certificate, MinVersion: tls.VersionTLS12},
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, 0), // of clients that go away
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = member.server.ServeTLS(member.sockets, "", "") }() // ends with close
	return member, nil
}

func (m *Member) close() error {
	m.Behave(Conduct{}) // lets go of what hangs
	return m.server.Close()
}

func (m *Member) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if m.conduct.now().ForeignCertificate {
		return m.foreign, nil
	}
	return m.own, nil
}

func (m *Member) port() int { return m.sockets.Addr().(*net.TCPAddr).Port }

// Name is unique in the fleet.
func (m *Member) Name() string { return m.name }

// URL is the API server's.
func (m *Member) URL() string { return "https://" + m.sockets.Addr().String() }

// Authority is the certificate to verify the member by, PEM. No two members share one.
func (m *Member) Authority() []byte { return m.authority }

// RESTConfig connects to the member.
func (m *Member) RESTConfig() *rest.Config {
	return &rest.Config{Host: m.URL(), BearerToken: m.token, TLSClientConfig: rest.TLSClientConfig{CAData: m.authority}, QPS: -1}
}

// Kubeconfig returns what a registration of the member holds. It refers to no file.
func (m *Member) Kubeconfig() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[m.name] = &clientcmdapi.Cluster{Server: m.URL(), CertificateAuthorityData: m.authority}
	config.AuthInfos[m.name] = &clientcmdapi.AuthInfo{Token: m.token}
	config.Contexts[m.name] = &clientcmdapi.Context{Cluster: m.name, AuthInfo: m.name}
	config.CurrentContext = m.name
	return clientcmd.Write(*config)
}

func (m *Member) authenticated(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+m.token)) == 1
}
