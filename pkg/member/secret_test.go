// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestParseSecretReads(t *testing.T) {
	ca, key := selfSigned()
	good := kubeconfigWith(t)
	elsewhere := kubeconfigWith(t, onCluster(func(c *clientcmdapi.Cluster) { c.Server = "https://10.0.0.2:6443" }))
	withTLS := rest.TLSClientConfig{CAData: ca}
	usual := &rest.Config{Host: "https://10.0.0.1:6443", BearerToken: "s3cret", TLSClientConfig: withTLS}
	other := &rest.Config{Host: "https://10.0.0.2:6443", BearerToken: "s3cret", TLSClientConfig: withTLS}

	tests := map[string]struct {
		secret     *corev1.Secret
		access     Access
		policy     Policy
		wantName   string
		wantConfig *rest.Config
	}{
		"name and credentials": {
			secret: secretWith(good), wantName: "east", wantConfig: usual,
		},
		"an annotation gives the name": {
			secret: secretWith(good, named("east.example.com"), annotated(nameAnnotation, "east-1")), wantName: "east-1", wantConfig: usual,
		},
		"a reader prefers the credentials that may only read": {
			secret: secretWith(good, func(s *corev1.Secret) { s.Data["kubeconfig-read"] = elsewhere }), access: Read,
			wantName: "east", wantConfig: other,
		},
		"a reader takes the others if there are none": {
			secret: secretWith(good), access: Read, wantName: "east", wantConfig: usual,
		},
		"a writer leaves the credentials that may only read alone": {
			secret: secretWith(good, func(s *corev1.Secret) { s.Data["kubeconfig-read"] = elsewhere }), access: Write,
			wantName: "east", wantConfig: usual,
		},
		"an annotation names the key": {
			secret:   secretWith(nil, annotated(keyAnnotation, "value"), func(s *corev1.Secret) { s.Data["value"] = elsewhere }),
			wantName: "east", wantConfig: other,
		},
		"an annotation names the context": {
			secret: secretWith(kubeconfigWith(t, func(c *clientcmdapi.Config) {
				c.CurrentContext = "no such"
				c.Contexts["d"] = c.Contexts["c"]
			}), annotated(contextAnnotation, "d")),
			wantName: "east", wantConfig: usual,
		},
		"an address without a scheme is https": {
			secret:   secretWith(kubeconfigWith(t, onCluster(func(c *clientcmdapi.Cluster) { c.Server = "10.0.0.1:6443" }))),
			wantName: "east", wantConfig: usual,
		},
		"every field of a user without commands and files": {
			secret: secretWith(kubeconfigWith(t, onUser(func(u *clientcmdapi.AuthInfo) {
				*u = clientcmdapi.AuthInfo{
					Username: "me", Password: "pw", ClientCertificateData: ca, ClientKeyData: key,
					Impersonate: "you", ImpersonateUID: "1", ImpersonateGroups: []string{"g"},
					ImpersonateUserExtra: map[string][]string{"k": {"v"}},
				}
			}), onCluster(func(c *clientcmdapi.Cluster) {
				c.TLSServerName = "api.internal"
				c.DisableCompression = true
			}))),
			wantName: "east", wantConfig: &rest.Config{
				Host: "https://10.0.0.1:6443", Username: "me", Password: "pw", DisableCompression: true,
				TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: ca, KeyData: key, ServerName: "api.internal"},
				Impersonate:     rest.ImpersonationConfig{UserName: "you", UID: "1", Groups: []string{"g"}, Extra: map[string][]string{"k": {"v"}}},
			},
		},
		"an allowed command, which never asks at a terminal": {
			secret: secretWith(kubeconfigWith(t, onUser(func(u *clientcmdapi.AuthInfo) {
				*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
					Command: "aws", Args: []string{"eks"}, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.AlwaysExecInteractiveMode,
				}}
			}))),
			policy:   Policy{AllowedExecCommands: []string{"aws"}},
			wantName: "east", wantConfig: &rest.Config{
				Host: "https://10.0.0.1:6443", TLSClientConfig: withTLS,
				ExecProvider: &clientcmdapi.ExecConfig{
					Command: "aws", Args: []string{"eks"}, APIVersion: "client.authentication.k8s.io/v1",
					InteractiveMode: clientcmdapi.NeverExecInteractiveMode, StdinUnavailable: true,
				},
			},
		},
		"allowed files are not read yet": {
			secret: secretWith(kubeconfigWith(t, onUser(func(u *clientcmdapi.AuthInfo) {
				*u = clientcmdapi.AuthInfo{TokenFile: "/no/token", ClientCertificate: "/no/cert", ClientKey: "/no/key"}
			}))),
			policy:   Policy{AllowFiles: true},
			wantName: "east", wantConfig: &rest.Config{
				Host: "https://10.0.0.1:6443", BearerTokenFile: "/no/token",
				TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertFile: "/no/cert", KeyFile: "/no/key"},
			},
		},
		"allowed insecurity drops the authority, which client-go refuses beside it": {
			secret:   secretWith(kubeconfigWith(t, onCluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true }))),
			policy:   Policy{AllowInsecure: true},
			wantName: "east", wantConfig: &rest.Config{
				Host: "https://10.0.0.1:6443", BearerToken: "s3cret", TLSClientConfig: rest.TLSClientConfig{Insecure: true},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := parseSecret(tc.secret, tc.access, tc.policy)
			if got.refused() {
				t.Fatalf("parseSecret() refuses: %v", got.refusal())
			}
			if got.name != tc.wantName {
				t.Errorf("name = %q, want %q", got.name, tc.wantName)
			}
			if diff := cmp.Diff(plain(tc.wantConfig), plain(got.endpoint.config)); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

// plain makes a configuration comparable and whole: rest.Config hides its secrets when printed.
func plain(c *rest.Config) map[string]any {
	return map[string]any{
		"host": c.Host, "token": c.BearerToken, "tokenFile": c.BearerTokenFile, "user": c.Username, "password": c.Password,
		"ca": string(c.CAData), "caFile": c.CAFile, "cert": string(c.CertData), "certFile": c.CertFile,
		"key": string(c.KeyData), "keyFile": c.KeyFile, "serverName": c.ServerName, "insecure": c.Insecure,
		"impersonate": c.Impersonate, "exec": c.ExecProvider.DeepCopy(), "disableCompression": c.DisableCompression,
	}
}

func TestParseSecretPlacesTheCluster(t *testing.T) {
	s := secretWith(kubeconfigWith(t, onCluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://me:pw@proxy:3128" })))
	s.Labels["topology.kubernetes.io/region"] = "eu"
	s.Labels["topology.kubernetes.io/zone"] = "eu-1"
	s.UID = "u-1"
	got := parseSecret(s, Read, Policy{})
	if got.refused() {
		t.Fatalf("parseSecret() refuses: %v", got.refusal())
	}
	if diff := cmp.Diff(Topology{Region: "eu", Zones: []string{"eu-1"}}, got.topology); diff != "" {
		t.Errorf("topology (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.Labels, got.labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got.endpoint.proxy == nil || got.endpoint.proxy.Host != "proxy:3128" {
		t.Errorf("proxy = %v, want proxy:3128", got.endpoint.proxy)
	}
	want := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "fleet", Name: "east", UID: "u-1"}
	if diff := cmp.Diff(want, got.ref); diff != "" {
		t.Errorf("ref (-want +got):\n%s", diff)
	}
}

// refusedSecrets holds each way to be refused, with the words that people read.
func refusedSecrets(t testing.TB) map[string]struct {
	secret *corev1.Secret
	want   string
} {
	ca, _ := selfSigned()
	user := func(edit func(*clientcmdapi.AuthInfo)) *corev1.Secret {
		return secretWith(kubeconfigWith(t, onUser(edit)))
	}
	cluster := func(edit func(*clientcmdapi.Cluster)) *corev1.Secret {
		return secretWith(kubeconfigWith(t, onCluster(edit)))
	}
	return map[string]struct {
		secret *corev1.Secret
		want   string
	}{
		"a name with dots": {
			secretWith(kubeconfigWith(t), named("east.example.com")),
			`InvalidName: "east.example.com" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"a name too long": {
			secretWith(kubeconfigWith(t), named(strings.Repeat("e", 64))),
			`InvalidName: "` + strings.Repeat("e", 64) + `" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"an annotation that is no name": {
			secretWith(kubeconfigWith(t), annotated(nameAnnotation, "East")),
			`InvalidName: "East" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"no kubeconfig": {
			secretWith(nil),
			`InvalidKubeconfig: the Secret has no key "kubeconfig"; put a kubeconfig there, or name another key in the annotation fleetscale.io/kubeconfig-key`,
		},
		"no such key": {
			secretWith(kubeconfigWith(t), annotated(keyAnnotation, "value")),
			`InvalidKubeconfig: the Secret has no key "value"; put a kubeconfig there, or name another key in the annotation fleetscale.io/kubeconfig-key`,
		},
		"no YAML; its contents are not repeated": {
			secretWith([]byte("users: [token: s3cret")),
			"InvalidKubeconfig: the kubeconfig cannot be parsed; `kubectl --kubeconfig FILE config view` shows where it is wrong",
		},
		"no current-context": {
			secretWith(kubeconfigWith(t, func(c *clientcmdapi.Config) { c.CurrentContext = "" })),
			"InvalidKubeconfig: the kubeconfig has no current-context; set it, or name a context in the annotation fleetscale.io/kubeconfig-context",
		},
		"no such context": {
			secretWith(kubeconfigWith(t), annotated(contextAnnotation, "d")),
			`InvalidKubeconfig: the kubeconfig has no context "d"`,
		},
		"a context that leads nowhere": {
			secretWith(kubeconfigWith(t, func(c *clientcmdapi.Config) { c.Clusters, c.AuthInfos = nil, nil })),
			`InvalidKubeconfig: context "c" names the cluster "c", which the kubeconfig does not hold; context "c" names the user "u", which the kubeconfig does not hold`,
		},
		"no server": {
			cluster(func(c *clientcmdapi.Cluster) { c.Server = "" }),
			"InvalidKubeconfig: the cluster's server must be an https URL without user and password",
		},
		"a server with a password": {
			cluster(func(c *clientcmdapi.Cluster) { c.Server = "https://me:s3cret@10.0.0.1" }),
			"InvalidKubeconfig: the cluster's server must be an https URL without user and password",
		},
		"a proxy that is none": {
			cluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = "ftp://me:s3cret@proxy" }),
			"InvalidKubeconfig: the cluster's proxy-url must be an http, https or socks5 URL",
		},
		"an authority that is none": {
			cluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = []byte("s3cret") }),
			"InvalidKubeconfig: the certificate authority holds no PEM certificate",
		},
		"a certificate without its key": {
			user(func(u *clientcmdapi.AuthInfo) { u.ClientCertificateData = ca }),
			"InvalidKubeconfig: client certificate and client key must be given together",
		},
		"a certificate with something else as its key": {
			user(func(u *clientcmdapi.AuthInfo) { u.ClientCertificateData, u.ClientKeyData = ca, []byte("s3cret") }),
			"InvalidKubeconfig: client certificate and client key are no matching pair in PEM",
		},
		"a token and a username": {
			user(func(u *clientcmdapi.AuthInfo) { u.Username = "me" }),
			"InvalidKubeconfig: the user has both a token and a username; keep one",
		},
		"a command": {
			user(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "aws"} }),
			`ExecNotAllowed: the kubeconfig's user runs the command "aws" for its credentials; use a token or a client certificate, or allow the command with --allowed-exec-commands`,
		},
		"an auth-provider": {
			user(func(u *clientcmdapi.AuthInfo) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} }),
			`AuthProviderNotAllowed: the kubeconfig's user has the auth-provider "oidc"; use a token or a client certificate`,
		},
		"files": {
			secretWith(kubeconfigWith(t, func(c *clientcmdapi.Config) {
				c.Clusters["c"].CertificateAuthority = "/etc/ca"
				*c.AuthInfos["u"] = clientcmdapi.AuthInfo{TokenFile: "/etc/token", ClientCertificate: "/etc/cert", ClientKey: "/etc/key"}
			})),
			"FileNotAllowed: the kubeconfig refers to files (certificate-authority, tokenFile, client-certificate, client-key); put their contents into it (`kubectl config view --flatten --raw`, or token in place of tokenFile), or allow files with --allow-kubeconfig-files",
		},
		"an unverified server": {
			cluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true }),
			"InsecureNotAllowed: the API server's certificate would not be verified; give its certificate authority in place of insecure-skip-tls-verify, or allow it with --allow-insecure-member-tls",
		},
		"an http server": {
			cluster(func(c *clientcmdapi.Cluster) { c.Server = "http://10.0.0.1" }),
			"InsecureNotAllowed: the API server's address is http, so credentials would travel in clear; use https, or allow it with --allow-insecure-member-tls",
		},
		"everything at once": {
			secretWith(kubeconfigWith(t, func(c *clientcmdapi.Config) {
				c.Clusters["c"].InsecureSkipTLSVerify = true
				*c.AuthInfos["u"] = clientcmdapi.AuthInfo{
					TokenFile: "/etc/token", Exec: &clientcmdapi.ExecConfig{Command: "sh"}, AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "gcp"},
				}
			}), named("a.b")),
			`InvalidName: "a.b" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name; ` +
				`ExecNotAllowed: the kubeconfig's user runs the command "sh" for its credentials; use a token or a client certificate, or allow the command with --allowed-exec-commands; ` +
				`AuthProviderNotAllowed: the kubeconfig's user has the auth-provider "gcp"; use a token or a client certificate; ` +
				"FileNotAllowed: the kubeconfig refers to files (tokenFile); put their contents into it (`kubectl config view --flatten --raw`, or token in place of tokenFile), or allow files with --allow-kubeconfig-files; " +
				"InsecureNotAllowed: the API server's certificate would not be verified; give its certificate authority in place of insecure-skip-tls-verify, or allow it with --allow-insecure-member-tls",
		},
	}
}

func TestParseSecretRefuses(t *testing.T) {
	for name, tc := range refusedSecrets(t) {
		t.Run(name, func(t *testing.T) {
			got := parseSecret(tc.secret, Write, Policy{})
			if !got.refused() {
				t.Fatal("parseSecret() accepts")
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

// FuzzParseSecret holds for any text in the Secret: there is an answer; a usable
// one runs no command, opens no file and verifies its server; a refused one
// says why without repeating the text.
func FuzzParseSecret(f *testing.F) {
	for _, tc := range refusedSecrets(f) {
		f.Add(tc.secret.Data["kubeconfig"], tc.secret.Name, "")
	}
	f.Add(kubeconfigWith(f), "east", "c")
	f.Add([]byte(`{"current-context":"c","contexts":[{"name":"c"}],"clusters":null}`), "east", "")
	f.Fuzz(func(t *testing.T, kubeconfig []byte, name, context string) {
		r := parseSecret(secretWith(kubeconfig, named(name), annotated(contextAnnotation, context)), Read, Policy{})
		if r.refused() {
			if message := r.refusal().Error(); strings.Contains(message, "s3cret") && !strings.Contains(name+context, "s3cret") {
				t.Errorf("the refusal repeats a secret: %s", message)
			}
			return
		}
		c := r.endpoint.config
		if c.ExecProvider != nil || c.AuthProvider != nil || c.Insecure || c.CAFile+c.CertFile+c.KeyFile+c.BearerTokenFile != "" {
			t.Errorf("accepted what nobody allowed: %v", c)
		}
		if !strings.HasPrefix(c.Host, "https://") {
			t.Errorf("accepted the address %q", c.Host)
		}
		if _, err := (dialing{options: Options{}.withDefaults(), meter: &meter{}, limiter: nil}).connect(r.endpoint); err != nil {
			t.Errorf("an accepted registration cannot be connected: %v", err)
		}
	})
}
