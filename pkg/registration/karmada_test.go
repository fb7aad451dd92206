// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// karmadaWith is a good push-mode Cluster named east, after the edits.
func karmadaWith(edits ...func(*karmadaCluster)) *karmadaCluster {
	c := &karmadaCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "east"},
		Spec: karmadaSpec{
			SyncMode: "Push", APIEndpoint: "https://10.0.0.1:6443",
			SecretRef: karmadaSecretRef{Namespace: "karmada-cluster", Name: "east"},
		},
	}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func onSpec(edit func(*karmadaSpec)) *karmadaCluster {
	return karmadaWith(func(c *karmadaCluster) { edit(&c.Spec) })
}

func TestRefusedClusters(t *testing.T) {
	ca, _ := registrationtest.SelfSigned()
	good := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	const noWay = "PullMode: the Cluster's syncMode is Pull, and its agent reports no apiEndpoint with a secretRef; if Karmada or " +
		"the hub can reach its API server, run karmada-agent with --report-secrets=KubeCredentials,KubeImpersonator, or register the cluster " +
		"with a Secret labelled fleetscale.io/member=true as well"
	tests := map[string]struct {
		cluster *karmadaCluster
		creds   Credentials
		want    string
	}{
		"pull mode without credentials": {
			onSpec(func(s *karmadaSpec) { s.SyncMode, s.SecretRef = "Pull", karmadaSecretRef{} }), Credentials{}, noWay,
		},
		"pull mode with half a reference": {
			onSpec(func(s *karmadaSpec) { s.SyncMode, s.SecretRef.Name = "Pull", "" }), Credentials{}, noWay,
		},
		"pull mode without an address": {
			onSpec(func(s *karmadaSpec) { s.SyncMode, s.APIEndpoint = "Pull", "" }), good, noWay,
		},
		"pull mode with credentials that are not there": {
			onSpec(func(s *karmadaSpec) { s.SyncMode = "Pull" }), Credentials{},
			"MissingCredentials: Secret karmada-cluster/east, which spec.secretRef names, does not exist",
		},
		"pull mode with an unverified server": {
			onSpec(func(s *karmadaSpec) { s.SyncMode, s.InsecureSkipTLSVerification = "Pull", true }), good,
			"InsecureNotAllowed: the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give " +
				"its certificate authority as caBundle, or allow it with --allow-insecure-member-tls",
		},
		"a name with dots": {
			karmadaWith(func(c *karmadaCluster) { c.Name = "a.b" }), good,
			`InvalidName: "a.b" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; join the cluster under another name`,
		},
		"an empty spec": {
			onSpec(func(s *karmadaSpec) { *s = karmadaSpec{} }), Credentials{},
			"InvalidCluster: spec.apiEndpoint must be the address of an API server; MissingCredentials: spec.secretRef names no Secret",
		},
		"half a reference": {
			onSpec(func(s *karmadaSpec) { s.SecretRef.Name = "" }), Credentials{},
			"MissingCredentials: spec.secretRef names no Secret",
		},
		"a proxy that is none": {
			onSpec(func(s *karmadaSpec) { s.ProxyURL = "proxy" }), good,
			"InvalidCluster: spec.proxyURL must be an http, https or socks5 URL",
		},
		"an unverified server": {
			onSpec(func(s *karmadaSpec) { s.InsecureSkipTLSVerification = true }), good,
			"InsecureNotAllowed: the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give " +
				"its certificate authority as caBundle, or allow it with --allow-insecure-member-tls",
		},
		"an http address": {
			onSpec(func(s *karmadaSpec) { s.APIEndpoint = "http://10.0.0.1" }), good,
			"InsecureNotAllowed: the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give " +
				"its certificate authority as caBundle, or allow it with --allow-insecure-member-tls",
		},
		"no Secret": {
			karmadaWith(), Credentials{},
			"MissingCredentials: Secret karmada-cluster/east, which spec.secretRef names, does not exist",
		},
		"an empty Secret": {
			karmadaWith(), Credentials{Data: map[string][]byte{}},
			"MissingCredentials: Secret karmada-cluster/east has no key token; Secret karmada-cluster/east has no key caBundle",
		},
		"an authority that is none": {
			karmadaWith(), Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": []byte("x")}},
			"MissingCredentials: Secret karmada-cluster/east: the certificate authority holds no PEM certificate",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.cluster.Register(tc.creds)
			if !got.Refused() {
				t.Fatal("it is accepted")
			}
			fleettest.Same(t, "refusal", tc.want, got.Refusal().Error())
			if got.Endpoint.Config != nil {
				t.Error("a refused registration has an endpoint")
			}
		})
	}
}

// TestClustersInModePullAreWithdrawn holds that a Cluster gives its identity up only if it leaves the hub no way to its API server.
func TestClustersInModePullAreWithdrawn(t *testing.T) {
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	tests := map[string]struct {
		edit func(*karmadaSpec)
		want bool
	}{
		"mode Push":                     {func(*karmadaSpec) {}, false},
		"mode Push without credentials": {func(s *karmadaSpec) { s.SecretRef = karmadaSecretRef{} }, false},
		"mode Pull":                     {func(s *karmadaSpec) { s.SyncMode = "Pull" }, false},
		"mode Pull without credentials": {func(s *karmadaSpec) { s.SyncMode, s.SecretRef = "Pull", karmadaSecretRef{} }, true},
		"mode Pull without an address":  {func(s *karmadaSpec) { s.SyncMode, s.APIEndpoint = "Pull", "" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := onSpec(tc.edit)
			if got := c.Register(creds).Withdrawn(); got != tc.want {
				t.Errorf("withdrawn = %t, want %t", got, tc.want)
			}
			if asks := c.Credentials() != (Reference{}); tc.want && asks {
				t.Errorf("it asks for %v, which nobody needs", c.Credentials())
			}
		})
	}
}

// TestPullIsReadLikePush holds that the mode makes no difference where the agent has reported the same.
func TestPullIsReadLikePush(t *testing.T) {
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	push, pull := onSpec(func(s *karmadaSpec) { s.ProxyURL = "http://proxy:3128" }), onSpec(func(s *karmadaSpec) {
		s.SyncMode, s.ProxyURL = "Pull", "http://proxy:3128"
	})
	if push.Credentials() != pull.Credentials() {
		t.Errorf("credentials of %v, want those of %v", pull.Credentials(), push.Credentials())
	}
	if p := pull.Register(creds); p.Refused() || !p.AsksSame(push.Register(creds)) {
		t.Errorf("it is registered as %v, refused: %v", p.Endpoint, p.Faults)
	}
}

// A Cluster that is asked through the hub leads to the hub and nowhere else, whatever it says, with what the program is let in by there.
func TestClustersThroughTheHub(t *testing.T) {
	hub := Endpoint{
		Config: &rest.Config{
			Host: "https://hub.example.com:6443/karmada/", BearerTokenFile: "/token", TLSClientConfig: rest.TLSClientConfig{CAFile: "/ca"},
		},
		Proxy:   &url.URL{Scheme: "http", Host: "proxy-of-the-hub:3128"},
		Trusted: true,
	}
	const (
		direct  = "https://10.0.0.1:6443"
		through = "https://hub.example.com:6443/karmada/apis/cluster.karmada.io/v1alpha1/clusters/east/proxy"
		needs   = "InvalidCluster: the annotation fleetscale.io/through-hub needs spec.apiEndpoint and spec.impersonatorSecretRef, " +
			"by which Karmada reaches the cluster: join it again, with an agent that reports KubeImpersonator; " +
			"or take the annotation away"
	)
	ca, _ := registrationtest.SelfSigned()
	creds := Credentials{Data: map[string][]byte{"token": []byte("s3cret"), "caBundle": ca}}
	impersonator := karmadaSecretRef{Namespace: "karmada-cluster", Name: "east-impersonator"}
	annotate := func(value string) func(*karmadaCluster) {
		return func(c *karmadaCluster) { c.Annotations = map[string]string{"fleetscale.io/through-hub": value} }
	}
	spec := func(edit func(*karmadaSpec)) func(*karmadaCluster) { return func(c *karmadaCluster) { edit(&c.Spec) } }
	can := spec(func(s *karmadaSpec) { s.ImpersonatorSecretRef = impersonator })
	unreported := spec(func(s *karmadaSpec) { s.SyncMode, s.SecretRef = "Pull", karmadaSecretRef{} })
	nowhere := spec(func(s *karmadaSpec) { s.SyncMode, s.APIEndpoint = "Pull", "" })
	proxied := spec(func(s *karmadaSpec) {
		s.ProxyURL, s.ProxyHeader = "http://evil:3128", map[string]string{"x": "y"}
	})
	unverified := spec(func(s *karmadaSpec) { s.InsecureSkipTLSVerification = true })
	named := func(name string) func(*karmadaCluster) { return func(c *karmadaCluster) { c.Name = name } }
	tests := map[string]struct {
		edits []func(*karmadaCluster)
		hub   Endpoint
		want  string
	}{
		"without the annotation":            {[]func(*karmadaCluster){can}, hub, direct},
		"with another value":                {[]func(*karmadaCluster){can, annotate("yes")}, hub, direct},
		"with the annotation":               {[]func(*karmadaCluster){can, annotate("true")}, hub, through},
		"with a proxy of its own":           {[]func(*karmadaCluster){can, proxied, annotate("true")}, hub, through},
		"an agent that reports nothing":     {[]func(*karmadaCluster){can, unreported}, hub, through},
		"that Karmada cannot ask":           {[]func(*karmadaCluster){annotate("true")}, hub, needs},
		"that Karmada cannot ask either":    {[]func(*karmadaCluster){unreported}, hub, "PullMode"},
		"without an address":                {[]func(*karmadaCluster){can, nowhere}, hub, "PullMode"},
		"that Karmada would not verify":     {[]func(*karmadaCluster){can, unverified, annotate("true")}, hub, "InsecureNotAllowed"},
		"a name that leads elsewhere":       {[]func(*karmadaCluster){can, annotate("true"), named("../x")}, hub, "InvalidName"},
		"all clusters":                      {[]func(*karmadaCluster){can, annotate("true"), named("*")}, hub, "InvalidName"},
		"a program that knows no way to it": {[]func(*karmadaCluster){can, annotate("true")}, Endpoint{}, direct},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := karmadaWith(tc.edits...)
			c.hub = tc.hub
			r := c.Register(creds)
			if r.Refused() {
				if got := r.Refusal().Error(); !strings.HasPrefix(got, tc.want) {
					t.Errorf("refused: %s, want %s", got, tc.want)
				}
				return
			}
			e := r.Endpoint
			fleettest.Same(t, "address", tc.want, e.Config.Host)
			fleettest.Same(t, "trusted", tc.want != direct, e.Trusted)
			if tc.want == direct {
				return
			}
			if c.Credentials() != (Reference{}) || e.Config.BearerTokenFile != "/token" || e.Config.BearerToken != "" || e.Config.CAFile != "/ca" ||
				e.Proxy != hub.Proxy || e.ProxyHeader != nil || e.NamesAuthority() {
				t.Errorf("it asks for %v, and leads to %v by %v", c.Credentials(), e.Config, e.Proxy)
			}
			if hub.Config.Host != "https://hub.example.com:6443/karmada/" {
				t.Error("the way to the hub was changed")
			}
		})
	}
}
