// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

// refusedSecrets holds each way to be refused, with the words that people read.
func refusedSecrets(t testing.TB) map[string]struct {
	secret *corev1.Secret
	want   string
} {
	ca, _ := registrationtest.SelfSigned()
	user := func(edit func(*clientcmdapi.AuthInfo)) *corev1.Secret {
		return registrationtest.Secret(registrationtest.Kubeconfig(t, registrationtest.OnUser(edit)))
	}
	cluster := func(edit func(*clientcmdapi.Cluster)) *corev1.Secret {
		return registrationtest.Secret(registrationtest.Kubeconfig(t, registrationtest.OnCluster(edit)))
	}
	return map[string]struct {
		secret *corev1.Secret
		want   string
	}{
		"a name with dots": {
			registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Named("east.example.com")),
			`InvalidName: "east.example.com" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"a name too long": {
			registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Named(strings.Repeat("e", 64))),
			`InvalidName: "` + strings.Repeat("e", 64) +
				`" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"an annotation that is no name": {
			registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Annotated(NameAnnotation, "East")),
			`InvalidName: "East" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name`,
		},
		"no kubeconfig": {
			registrationtest.Secret(nil),
			`InvalidKubeconfig: the Secret has no key "kubeconfig"; put a kubeconfig there, or name another key in the annotation fleetscale.io/kubeconfig-key`,
		},
		"no such key": {
			registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Annotated(keyAnnotation, "value")),
			`InvalidKubeconfig: the Secret has no key "value"; put a kubeconfig there, or name another key in the annotation fleetscale.io/kubeconfig-key`,
		},
		"no YAML; its contents are not repeated": {
			registrationtest.Secret([]byte("users: [token: s3cret")),
			"InvalidKubeconfig: the kubeconfig cannot be parsed; `kubectl --kubeconfig FILE config view` shows where it is wrong",
		},
		"no current-context": {
			registrationtest.Secret(registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) { c.CurrentContext = "" })),
			"InvalidKubeconfig: the kubeconfig has no current-context; set it, or name a context in the annotation fleetscale.io/kubeconfig-context",
		},
		"no such context": {
			registrationtest.Secret(registrationtest.Kubeconfig(t), registrationtest.Annotated(contextAnnotation, "d")),
			`InvalidKubeconfig: the kubeconfig has no context "d"`,
		},
		"a context that leads nowhere": {
			registrationtest.Secret(registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) { c.Clusters, c.AuthInfos = nil, nil })),
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
			`ExecNotAllowed: the kubeconfig's user runs the command "aws" for its credentials; use a token or a client certificate, or allow the command line with --allowed-exec-commands`,
		},
		"an auth-provider": {
			user(func(u *clientcmdapi.AuthInfo) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} }),
			`AuthProviderNotAllowed: the kubeconfig's user has the auth-provider "oidc"; use a token or a client certificate`,
		},
		"files": {
			registrationtest.Secret(registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) {
				c.Clusters["c"].CertificateAuthority = "/etc/ca"
				*c.AuthInfos["u"] = clientcmdapi.AuthInfo{TokenFile: "/etc/token", ClientCertificate: "/etc/cert", ClientKey: "/etc/key"}
			})),
			"FileNotAllowed: the kubeconfig refers to files (certificate-authority, tokenFile, client-certificate, client-key); put their " +
				"contents into it (`kubectl config view --flatten --raw`, or token in place of tokenFile), or allow files with --allow-kubeconfig-files",
		},
		"an unverified server": {
			cluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true }),
			"InsecureNotAllowed: the API server's certificate would not be verified; give its certificate authority in place of " +
				"insecure-skip-tls-verify, or allow it with --allow-insecure-member-tls",
		},
		"an http server": {
			cluster(func(c *clientcmdapi.Cluster) { c.Server = "http://10.0.0.1" }),
			"InsecureNotAllowed: the API server's address is http, so credentials would travel in clear; use https, or allow it with " +
				"--allow-insecure-member-tls",
		},
		"everything at once": {
			registrationtest.Secret(registrationtest.Kubeconfig(t, func(c *clientcmdapi.Config) {
				c.Clusters["c"].InsecureSkipTLSVerify = true
				*c.AuthInfos["u"] = clientcmdapi.AuthInfo{
					TokenFile: "/etc/token", Exec: &clientcmdapi.ExecConfig{Command: "sh"}, AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "gcp"},
				}
			}), registrationtest.Named("a.b")),
			`InvalidName: "a.b" cannot name a cluster: a name has at most 63 characters, lower-case letters, digits and '-', and no dots; give another in the annotation fleetscale.io/cluster-name; ` +
				`ExecNotAllowed: the kubeconfig's user runs the command "sh" for its credentials; use a token or a client certificate, or allow the command line with --allowed-exec-commands; ` +
				`AuthProviderNotAllowed: the kubeconfig's user has the auth-provider "gcp"; use a token or a client certificate; ` +
				"FileNotAllowed: the kubeconfig refers to files (tokenFile); put their contents into it (`kubectl config view --flatten --raw`, or " +
				"token in place of tokenFile), or allow files with --allow-kubeconfig-files; " +
				"InsecureNotAllowed: the API server's certificate would not be verified; give its certificate authority in place of " +
				"insecure-skip-tls-verify, or allow it with --allow-insecure-member-tls",
		},
	}
}

func TestRefusedSecrets(t *testing.T) {
	for name, tc := range refusedSecrets(t) {
		t.Run(name, func(t *testing.T) {
			got := register(t, tc.secret, Options{Access: Write})
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

// FuzzSecret holds for any text in the Secret: there is an answer; a usable
// one runs no command, opens no file and verifies its server; a refused one
// says why without repeating the text.
func FuzzSecret(f *testing.F) {
	for _, tc := range refusedSecrets(f) {
		f.Add(tc.secret.Data["kubeconfig"], tc.secret.Name, "")
	}
	f.Add(registrationtest.Kubeconfig(f), "east", "c")
	f.Add([]byte(`{"current-context":"c","contexts":[{"name":"c"}],"clusters":null}`), "east", "")
	f.Fuzz(func(t *testing.T, kubeconfig []byte, name, context string) {
		r := register(t, registrationtest.Secret(kubeconfig, registrationtest.Named(name),
			registrationtest.Annotated(contextAnnotation, context)), Options{Access: Read})
		if r.Refused() {
			if message := r.Refusal().Error(); strings.Contains(message, "s3cret") && !strings.Contains(name+context, "s3cret") {
				t.Errorf("the refusal repeats a secret: %s", message)
			}
			return
		}
		checkHarmless(t, r.Endpoint)
	})
}

// The credentials that write are in a Secret of the same name in another namespace, and nothing of the one that reads is kept.
func TestCredentialsThatWriteAreApart(t *testing.T) {
	options := Options{Namespace: "fleet", WriteNamespace: "fleet-write", Access: Write}
	reads := registrationtest.Kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = "reads" }))
	writes := registrationtest.Kubeconfig(t, registrationtest.OnUser(func(u *clientcmdapi.AuthInfo) { u.Token = "writes" }))
	s := registrationtest.Secret(reads, registrationtest.Annotated(keyAnnotation, "value"))
	s.Data["value"], s.Data["foreign"] = reads, []byte("a key of somebody else")
	read := func(o Options) *secret {
		t.Helper()
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
		if err != nil {
			t.Fatal(err)
		}
		return Sources(o)[0].Read(&unstructured.Unstructured{Object: content}).(*secret)
	}
	object := read(options)
	want := Reference{Namespace: "fleet-write", Name: "east", By: "--write-namespace names", Keys: [2]string{"value"}}
	fleettest.Same(t, "credentials", want, object.Credentials())
	if len(object.Data) > 0 {
		t.Errorf("%d keys of the registration are kept by who writes", len(object.Data))
	}
	if r := object.Register(Credentials{Data: map[string][]byte{"value": writes}}); r.Refused() || r.Endpoint.Config.BearerToken != "writes" {
		t.Errorf("with its credentials it is %+v", r)
	}
	if r := object.Register(Credentials{Awaiting: "the Secret"}); r.Refused() || r.Awaiting != "the Secret" || r.Endpoint.Config != nil {
		t.Errorf("while its Secret is not known yet it is %+v; want neither refused nor usable", r)
	}
	for _, tc := range []struct {
		creds Credentials
		want  string
	}{
		{Credentials{}, "MissingCredentials: Secret fleet-write/east, which --write-namespace names, does not exist: put the credentials of " +
			"deploy/member-write there"},
		{Credentials{Data: map[string][]byte{"kubeconfig": writes}}, `InvalidKubeconfig: Secret fleet-write/east has no key "value"; put a ` +
			"kubeconfig there, or name another key in the annotation fleetscale.io/kubeconfig-key"},
	} {
		fleettest.Same(t, "refusal", tc.want, object.Register(tc.creds).Refusal().Error())
	}
	reader := read(Options{Namespace: "fleet", Access: Read})
	if len(reader.Data) != 1 || reader.Credentials() != (Reference{}) {
		t.Errorf("who reads keeps %d keys and asks for %v; want the one that it uses, and nothing else", len(reader.Data), reader.Credentials())
	}
	for _, same := range []string{"", "fleet"} {
		both := read(Options{Namespace: "fleet", WriteNamespace: same, Access: Write})
		if both.Register(Credentials{}).Endpoint.Config.BearerToken != "reads" {
			t.Errorf("with --write-namespace=%q the credentials of the registration are not used", same)
		}
	}
}
