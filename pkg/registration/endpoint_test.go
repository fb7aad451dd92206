// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

func TestDigest(t *testing.T) {
	ca, key := registrationtest.SelfSigned()
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
	}
	seen := map[[32]byte]string{}
	add := func(name string, e Endpoint) {
		d := e.Digest()
		if other, taken := seen[d]; taken {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
		if d != e.Digest() {
			t.Errorf("%s: the digest changes by itself", name)
		}
	}
	for name, edit := range edits {
		c := base()
		edit(c.Clusters["c"], c.AuthInfos["u"])
		e, faults := buildEndpoint(c.Clusters["c"], c.AuthInfos["u"], kubeconfigTerms)
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		add(name, e)
	}
	add("not of a registration", Endpoint{Config: &rest.Config{Host: "https://a"}, Trusted: true})
	add("of a registration", Endpoint{Config: &rest.Config{Host: "https://a"}})
	add("proxy header", Endpoint{Config: &rest.Config{Host: "https://a"}, ProxyHeader: map[string][]string{"X": {"1"}}})
	add("another proxy header", Endpoint{Config: &rest.Config{Host: "https://a"}, ProxyHeader: map[string][]string{"X": {"2"}}})
}

// Two endpoints lead to one cluster only where nothing on the way can tell them apart, and an authority tells clusters apart only where
// nothing may stand before several.
func TestWayAndAuthority(t *testing.T) {
	const plain = "https://East.example.com"
	proxy := &url.URL{Scheme: "http", Host: "proxy", User: url.UserPassword("me", "s3cret")}
	tests := map[string]struct {
		edit      func(*Endpoint)
		same, own bool
	}{
		"itself":                    {func(*Endpoint) {}, true, true},
		"with its port":             {func(e *Endpoint) { e.Config.Host = "https://east.example.com:443/" }, true, true},
		"with other credentials":    {func(e *Endpoint) { e.Config.BearerToken = "other" }, true, true},
		"with another authority":    {func(e *Endpoint) { e.Config.CAData = []byte("other") }, true, true},
		"without one":               {func(e *Endpoint) { e.Config.CAData = nil }, true, false},
		"not verified":              {func(e *Endpoint) { e.Config.Insecure = true }, true, false},
		"at another port":           {func(e *Endpoint) { e.Config.Host = plain + ":6443" }, false, true},
		"at a path":                 {func(e *Endpoint) { e.Config.Host = plain + "/k8s/clusters/c-1" }, false, false},
		"not encrypted":             {func(e *Endpoint) { e.Config.Host = "http://east.example.com" }, false, false},
		"by another name of it":     {func(e *Endpoint) { e.Config.ServerName = "east" }, false, false},
		"through a proxy":           {func(e *Endpoint) { e.Proxy = proxy }, false, true},
		"with headers to the proxy": {func(e *Endpoint) { e.ProxyHeader = map[string][]string{"To": {"east"}} }, false, true},
	}
	endpoint := func() Endpoint {
		return Endpoint{Config: &rest.Config{Host: plain, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := endpoint()
			tc.edit(&e)
			if same := e.Way() == endpoint().Way(); same != tc.same {
				t.Errorf("the same way: %v, want %v", same, tc.same)
			}
			if own := e.NamesAuthority(); own != tc.own {
				t.Errorf("names its authority: %v, want %v", own, tc.own)
			}
		})
	}
	headers := endpoint()
	headers.ProxyHeader = map[string][]string{"To": {"east"}}
	if headers.Way() != "" {
		t.Error("headers to a proxy are taken for a way")
	}
}

// What is shown of an address is no more than whom it leads to.
func TestAddress(t *testing.T) {
	for host, want := range map[string]string{
		"https://10.0.0.1:6443":                        "10.0.0.1:6443",
		"https://[2001:db8::1]:6443/":                  "[2001:db8::1]:6443",
		"kube.example.com":                             "kube.example.com",
		"https://rancher.example.com/k8s/clusters/c-1": "rancher.example.com",
		"https://proxy.example.com/?token=s3cret#x":    "proxy.example.com",
		"https://me:s3cret@kube.example.com":           "",
		"":                                             "",
	} {
		if got := (Endpoint{Config: &rest.Config{Host: host}}).Address(); got != want {
			t.Errorf("the address of %q is %q, want %q", host, got, want)
		}
	}
	if got := (Endpoint{}).Address(); got != "" {
		t.Errorf("the address of nothing is %q", got)
	}
}
