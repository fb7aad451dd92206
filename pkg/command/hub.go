// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/version"
)

// HubConfig returns the client configuration of the hub: from the kubeconfig or,
// without one, in-cluster. Its user agent names the program in the hub's audit log.
func HubConfig(kubeconfig, program string) (*rest.Config, error) {
	config, err := readHubConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = UserAgent(program)
	return config, nil
}

// HubEndpoint is the way of a client configuration of the hub, and what it is let in by, as data.
func HubEndpoint(c *rest.Config) (registration.Endpoint, error) {
	e := registration.Endpoint{Trusted: true, Config: &rest.Config{
		Host: c.Host, TLSClientConfig: c.TLSClientConfig, DisableCompression: c.DisableCompression,
		BearerToken: c.BearerToken, BearerTokenFile: c.BearerTokenFile, Username: c.Username, Password: c.Password,
		Impersonate: c.Impersonate, ExecProvider: c.ExecProvider,
	}}
	if c.Proxy == nil {
		return e, nil
	}
	server, _, err := rest.DefaultServerUrlFor(c)
	if err == nil {
		e.Proxy, err = c.Proxy(&http.Request{URL: server})
	}
	return e, err
}

func readHubConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("--kubeconfig: must name a kubeconfig of the hub: this program does not run in a pod of the hub")
		}
		return config, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading --kubeconfig: %w", err)
	}
	return config, nil
}

// UserAgent is the user agent of a program's requests.
func UserAgent(program string) string {
	return program + "/" + version.Get().Version
}

// WithUserAgent replaces the user agent of clients that libraries create.
func WithUserAgent(program string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return renamed{next: next, name: UserAgent(program)}
	}
}

type renamed struct {
	next http.RoundTripper
	name string
}

func (r renamed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context()) // the caller's is not ours to change
	req.Header.Set("User-Agent", r.name)
	return r.next.RoundTrip(req)
}

// WrappedRoundTripper lets libraries unwrap the transport.
func (r renamed) WrappedRoundTripper() http.RoundTripper { return r.next }
