// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

const argoCDGood = `{"bearerToken":"s3cret","tlsClientConfig":{}}`

// registerArgoCD returns what a cluster Secret says.
func registerArgoCD(t testing.TB, name, server, config string) Registration {
	t.Helper()
	s := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "cluster-east"},
		Data:       map[string][]byte{"name": []byte(name), "server": []byte(server), "config": []byte(config)},
	}
	return argoCD{Options{ArgoCDNamespace: "argocd"}}.Read(unstructuredOf(t, s)).Register(Credentials{})
}

func TestRefusedArgoCDClusters(t *testing.T) {
	const good = "https://10.0.0.1"
	tests := map[string]struct{ server, config, want string }{
		"no server": {"", argoCDGood, "InvalidCluster: the Secret lacks one of server and config in its data"},
		"a server that another cluster shares": {
			"https://10.0.0.1?agentName=s3cret", argoCDGood,
			"InvalidCluster: the Secret's server must be an https URL without user, password and query",
		},
		"a server with a password": {
			"https://me:s3cret@10.0.0.1", argoCDGood,
			"InvalidCluster: the Secret's server must be an https URL without user, password and query",
		},
		"no JSON; its contents are not repeated": {
			good, `{"bearerToken":"s3cret`, "InvalidCluster: the Secret's config is not the JSON that Argo CD reads: caData, certData and keyData " +
				"are in base64, and other values of the types that Argo CD documents",
		},
		"no base64": {
			good, `{"bearerToken":"s3cret","tlsClientConfig":{"caData":"s3cret!"}}`, "InvalidCluster: the Secret's config is not the JSON that " +
				"Argo CD reads: caData, certData and keyData are in base64, and other values of the types that Argo CD documents",
		},
		"no credentials": {
			good, `{}`, "MissingCredentials: the Secret's config has no credentials: neither bearerToken, nor username and password, nor certData " +
				"and keyData",
		},
		"the cluster that Argo CD runs in, without an account": {
			"https://kubernetes.default.svc/", `{"tlsClientConfig":{"caData":""}}`, "MissingCredentials: the Secret's config has no credentials: " +
				"neither bearerToken, nor username and password, nor certData and keyData. Argo CD reaches https://kubernetes.default.svc, the " +
				"cluster that it runs in, with an account of its own",
		},
		"a token and a username": {
			good, `{"bearerToken":"s3cret","username":"me"}`, "InvalidCluster: the user has both a token and a username; keep one",
		},
		"a proxy that is none": {
			good, `{"bearerToken":"s3cret","proxyUrl":"ftp://me:s3cret@proxy"}`,
			"InvalidCluster: the cluster's proxyUrl must be an http, https or socks5 URL",
		},
		"a certificate without its key": {
			good, `{"tlsClientConfig":{"certData":"czNjcmV0"}}`, "InvalidCluster: client certificate and client key must be given together",
		},
		"an unverified server": {
			good, `{"bearerToken":"s3cret","tlsClientConfig":{"insecure":true}}`, "InsecureNotAllowed: the API server's certificate would not be " +
				"verified; give its certificate authority in place of insecure, or allow it with --allow-insecure-member-tls",
		},
		"a command": {
			good, `{"execProviderConfig":{"command":"sh"}}`, `ExecNotAllowed: the config of the Secret runs the command "sh" for its credentials; ` +
				"use a token or a client certificate, or allow the command line with --allowed-exec-commands",
		},
		"a command for AWS": {
			good, `{"awsAuthConfig":{"clusterName":"s3cret"}}`, `ExecNotAllowed: the config of the Secret runs the command "argocd-k8s-auth" for ` +
				"its credentials; use a token or a client certificate, or allow the command line with --allowed-exec-commands",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := registerArgoCD(t, "east", tc.server, tc.config)
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

// A cluster that Argo CD is told to ignore gives its identity up to another registration of it.
func TestSkippedArgoCDClustersAreWithdrawn(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		c := &argoCDCluster{Data: argoCDData{Server: []byte("https://10.0.0.1"), Config: []byte(argoCDGood)}}
		c.Name, c.Annotations = "east", map[string]string{argoCDSkip: value}
		if r := c.Register(Credentials{}); r.Withdrawn() != want || r.Refused() != want {
			t.Errorf("with %s=%q it is withdrawn: %t, refused: %v; want %t", argoCDSkip, value, r.Withdrawn(), r.Faults, want)
		}
	}
}

// FuzzArgoCD holds for anything in the Secret what FuzzSecret holds for kubeconfigs.
func FuzzArgoCD(f *testing.F) {
	_, key := registrationtest.SelfSigned()
	for _, config := range []string{
		argoCDGood, `{"execProviderConfig":{"command":"aws","config":{}}}`, `{"awsAuthConfig":null,"username":"me"}`, `[]`, "null",
		`{"tlsClientConfig":{"insecure":true,"keyData":"` + string(key) + `"}}`,
	} {
		f.Add("east", "https://10.0.0.1", config)
	}
	f.Add("", "http://[::1]:0", argoCDGood)
	f.Fuzz(func(t *testing.T, name, server, config string) {
		r := registerArgoCD(t, name, server, config)
		if !r.Refused() {
			checkHarmless(t, r.Endpoint)
			return
		}
		if message := r.Refusal().Error(); strings.Contains(message, "s3cret") && !strings.Contains(strings.ToLower(config), "command") {
			t.Errorf("the refusal repeats a secret: %s", message)
		}
	})
}
