// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Adapter starts the metrics adapter for the hub, with its default options, and
// returns when it says that it is ready.
func (s *Stage) Adapter(ctx context.Context) (*Server, error) {
	server, start, err := s.PrepareAdapter(ctx, nil)
	if err != nil {
		return nil, err
	}
	return server, start(ctx)
}

// PrepareAdapter does all that comes before a start, with an environment (NAME=value) and options of its own. The server may be asked
// meanwhile; its process is known when start has returned.
func (s *Stage) PrepareAdapter(
	ctx context.Context, env []string, args ...string,
) (server *Server, start func(context.Context) error, err error) {
	a, err := s.NewAdapter(ctx, s.Hub(), s.unique("adapter"), args...)
	if err != nil {
		return nil, nil, err
	}
	a.SetEnv(env...)
	config, err := s.askers(a.URL())
	if err != nil {
		return nil, nil, err
	}
	server, err = NewServer(config, 0)
	return server, func(ctx context.Context) error {
		if err := a.Launch(ctx); err != nil {
			return err
		}
		return server.belongsTo(a.Process)
	}, err
}

// askers connect as the hub does when it passes on the questions of one who may
// ask for everything: by a certificate, which is verified for each question, and his name.
func (s *Stage) askers(url string) (*rest.Config, error) {
	ca, err := s.Hub().CA()
	if err != nil {
		return nil, err
	}
	const hub = "front-proxy-client"
	pair, err := s.Hub().ClientCertificate(hub)
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate to ask with: %w", err)
	}
	return &rest.Config{
		Host: url, TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: pair.CertPEM, KeyData: pair.KeyPEM},
		WrapTransport: func(next http.RoundTripper) http.RoundTripper {
			return transport.NewAuthProxyRoundTripper("bench", "", []string{user.SystemPrivilegedGroup}, nil, next)
		},
	}, nil
}
