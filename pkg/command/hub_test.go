// SPDX-License-Identifier: Apache-2.0

package command

import (
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestFaultsOfTheWayToTheHubNameTheFlag(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	tests := map[string]struct{ kubeconfig, want string }{
		"by hand, without flags": {"", "--kubeconfig: must name a kubeconfig of the hub: this program does not run in a pod of the hub"},
		"no such file":           {"/nowhere/kubeconfig", "reading --kubeconfig: stat /nowhere/kubeconfig: no such file or directory"},
	}
	for name, tc := range tests {
		if _, err := HubConfig(tc.kubeconfig, "program"); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

// All of a configuration is kept by which the hub is found, verified and let in to, and nothing that acts.
func TestHubEndpoint(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "proxy:3128"}
	data := rest.Config{
		Host: "https://hub:6443", BearerToken: "t", BearerTokenFile: "/t", Username: "u", Password: "p", DisableCompression: true,
		TLSClientConfig: rest.TLSClientConfig{ServerName: "hub", CAFile: "/ca", CertData: []byte("c"), KeyData: []byte("k")},
		Impersonate:     rest.ImpersonationConfig{UserName: "me"}, ExecProvider: &clientcmdapi.ExecConfig{Command: "aws"},
	}
	config := data
	config.QPS, config.UserAgent = 5, "program"
	config.WrapTransport = func(rt http.RoundTripper) http.RoundTripper { return rt }
	config.Proxy = http.ProxyURL(proxy)
	e, err := HubEndpoint(&config)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(e.Config, &data) || e.Proxy != proxy || !e.Trusted {
		t.Errorf("it is %v, by %v, trusted: %v", e.Config, e.Proxy, e.Trusted)
	}
	config.Proxy = nil
	if e, err := HubEndpoint(&config); err != nil || e.Proxy != nil {
		t.Errorf("without a proxy: %v, %v", e.Proxy, err)
	}
}
