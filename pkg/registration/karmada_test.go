// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	tests := map[string]struct {
		cluster *karmadaCluster
		creds   Credentials
		want    string
	}{
		"pull mode": {
			onSpec(func(s *karmadaSpec) { s.SyncMode = "Pull" }), Credentials{},
			"PullMode: the Cluster's syncMode is Pull: the hub is given no way to its API server; if there is one, register the cluster with a " +
				"Secret labelled fleetscale.io/member=true as well",
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
