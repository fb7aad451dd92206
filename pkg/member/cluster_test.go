// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// karmadaWith is a good push-mode Cluster named east, after the edits.
func karmadaWith(edits ...func(*karmadaCluster)) *karmadaCluster {
	c := &karmadaCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "east"},
		Spec: karmadaSpec{
			SyncMode: "Push", APIEndpoint: "https://10.0.0.1:6443",
			SecretRef: &karmadaSecretRef{Namespace: "karmada-cluster", Name: "east"},
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

// karmadaSecret is the good Secret of that Cluster.
func karmadaSecret(ca []byte, token string) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "karmada-cluster", Name: "east"},
		Data:       map[string][]byte{"token": []byte(token), "caBundle": ca},
	}
}

func TestParseClusterReads(t *testing.T) {
	ca, _ := selfSigned()
	creds := credentials{secret: karmadaSecret(ca, "s3cret\n")}
	usual := &rest.Config{Host: "https://10.0.0.1:6443", BearerToken: "s3cret", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	tests := map[string]struct {
		cluster    *karmadaCluster
		policy     Policy
		wantConfig *rest.Config
		wantProxy  string
		wantHeader http.Header
		want       Topology
	}{
		"push mode": {cluster: karmadaWith(), wantConfig: usual},
		"an address without a scheme": {
			cluster: onSpec(func(s *karmadaSpec) { s.APIEndpoint = "10.0.0.1:6443" }), wantConfig: usual,
		},
		"a proxy with headers": {
			cluster: onSpec(func(s *karmadaSpec) {
				s.ProxyURL = "http://proxy:3128"
				s.ProxyHeader = map[string]string{"x-tenant": "a, b"}
			}),
			wantConfig: usual, wantProxy: "http://proxy:3128", wantHeader: http.Header{"X-Tenant": {"a", "b"}},
		},
		"allowed insecurity": {
			cluster:    onSpec(func(s *karmadaSpec) { s.InsecureSkipTLSVerification = true }),
			policy:     Policy{AllowInsecure: true},
			wantConfig: &rest.Config{Host: "https://10.0.0.1:6443", BearerToken: "s3cret", TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		},
		"the place, zones before zone": {
			cluster: onSpec(func(s *karmadaSpec) {
				s.Provider, s.Region, s.Zone, s.Zones = "acme", "eu", "old", []string{"eu-1", "eu-2"}
			}),
			wantConfig: usual, want: Topology{Provider: "acme", Region: "eu", Zones: []string{"eu-1", "eu-2"}},
		},
		"the place by the deprecated zone": {
			cluster:    onSpec(func(s *karmadaSpec) { s.Zone = "old" }),
			wantConfig: usual, want: Topology{Zones: []string{"old"}},
		},
		"the place by labels": {
			cluster: karmadaWith(func(c *karmadaCluster) {
				c.Labels = map[string]string{corev1.LabelTopologyRegion: "eu", corev1.LabelTopologyZone: "eu-1"}
			}),
			wantConfig: usual, want: Topology{Region: "eu", Zones: []string{"eu-1"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseCluster(tc.cluster, creds, tc.policy)
			if got.refused() {
				t.Fatalf("parseCluster() refuses: %v", got.refusal())
			}
			if diff := cmp.Diff(plain(tc.wantConfig), plain(got.endpoint.config)); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			proxy := ""
			if got.endpoint.proxy != nil {
				proxy = got.endpoint.proxy.String()
			}
			if proxy != tc.wantProxy {
				t.Errorf("proxy = %q, want %q", proxy, tc.wantProxy)
			}
			if diff := cmp.Diff(tc.wantHeader, got.endpoint.proxyHeader); diff != "" {
				t.Errorf("proxy header (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, got.topology); diff != "" {
				t.Errorf("topology (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseClusterRefuses(t *testing.T) {
	ca, _ := selfSigned()
	good := karmadaSecret(ca, "s3cret")
	tests := map[string]struct {
		cluster *karmadaCluster
		creds   credentials
		want    string
	}{
		"pull mode": {
			onSpec(func(s *karmadaSpec) { s.SyncMode = "Pull" }), credentials{},
			"PullMode: the Cluster's syncMode is Pull: the hub is given no way to its API server; if there is one, register the cluster with a Secret labelled fleetscale.io/member=true as well",
		},
		"a name with dots": {
			karmadaWith(func(c *karmadaCluster) { c.Name = "a.b" }), credentials{secret: good},
			`InvalidName: "a.b" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; join the cluster under another name`,
		},
		"an empty spec": {
			onSpec(func(s *karmadaSpec) { *s = karmadaSpec{} }), credentials{},
			"InvalidCluster: spec.apiEndpoint must be the address of an API server; MissingCredentials: spec.secretRef names no Secret",
		},
		"half a reference": {
			onSpec(func(s *karmadaSpec) { s.SecretRef.Name = "" }), credentials{},
			"MissingCredentials: spec.secretRef names no Secret",
		},
		"a proxy that is none": {
			onSpec(func(s *karmadaSpec) { s.ProxyURL = "proxy" }), credentials{secret: good},
			"InvalidCluster: spec.proxyURL must be an http, https or socks5 URL",
		},
		"an unverified server": {
			onSpec(func(s *karmadaSpec) { s.InsecureSkipTLSVerification = true }), credentials{secret: good},
			"InsecureNotAllowed: the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give its certificate authority as caBundle, or allow it with --allow-insecure-member-tls",
		},
		"an http address": {
			onSpec(func(s *karmadaSpec) { s.APIEndpoint = "http://10.0.0.1" }), credentials{secret: good},
			"InsecureNotAllowed: the API server's certificate would not be verified (spec.insecureSkipTLSVerification, or an http address); give its certificate authority as caBundle, or allow it with --allow-insecure-member-tls",
		},
		"no Secret": {
			karmadaWith(), credentials{},
			"MissingCredentials: Secret karmada-cluster/east, which spec.secretRef names, does not exist",
		},
		"an empty Secret": {
			karmadaWith(), credentials{secret: &corev1.Secret{}},
			"MissingCredentials: Secret karmada-cluster/east has no key token; Secret karmada-cluster/east has no key caBundle",
		},
		"an authority that is none": {
			karmadaWith(), credentials{secret: karmadaSecret([]byte("x"), "s3cret")},
			"MissingCredentials: Secret karmada-cluster/east: the certificate authority holds no PEM certificate",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseCluster(tc.cluster, tc.creds, Policy{})
			if !got.refused() {
				t.Fatal("parseCluster() accepts")
			}
			if diff := cmp.Diff(tc.want, got.refusal().Error()); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			if got.endpoint.config != nil {
				t.Error("a refused registration has an endpoint")
			}
		})
	}
}

func TestParseClusterWaitsForItsCredentials(t *testing.T) {
	got := parseCluster(karmadaWith(), credentials{awaiting: "the Secret"}, Policy{})
	if got.refused() || got.awaiting != "the Secret" {
		t.Errorf("refused = %v, awaiting = %q; want neither refused nor without the reason to wait", got.refused(), got.awaiting)
	}
}
