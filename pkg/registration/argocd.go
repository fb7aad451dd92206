// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// What Argo CD knows its cluster Secrets by, and says in them.
const (
	argoCDLabel = "argocd.argoproj.io/secret-type"
	// argoCDSkip with value "true" has Argo CD ignore the cluster. Clusters of argocd-agent have it: their address is that
	// of a proxy, which tells clusters apart by the query of the URL.
	argoCDSkip = "argocd.argoproj.io/skip-reconcile"
	// argoCDInCluster is the cluster that Argo CD runs in, which it reaches with an account of its own.
	argoCDInCluster = "https://kubernetes.default.svc"
	// argoCDForAWS is the command that it runs for awsAuthConfig.
	argoCDForAWS = "argocd-k8s-auth"
)

// argoCD are the Secrets by which Argo CD knows clusters, in the namespace where it runs.
type argoCD struct{ options Options }

func (a argoCD) Name() string { return "argocd" }

func (a argoCD) Watch() Watch {
	return Watch{
		What:          "Argo CD's cluster Secrets of namespace " + a.options.ArgoCDNamespace,
		Resource:      corev1.SchemeGroupVersion.WithResource("secrets"),
		Namespace:     a.options.ArgoCDNamespace,
		LabelSelector: argoCDLabel + "=cluster",
	}
}

func (a argoCD) Read(u *unstructured.Unstructured) Object {
	c := &argoCDCluster{policy: a.options.Policy}
	c.unreadable = decode(u, c, reasonInvalidCluster)
	return c
}

// argoCDCluster is what is read of such a Secret. What Argo CD may do in the cluster, its project, namespaces and shard, is Argo CD's own.
type argoCDCluster struct {
	metav1.ObjectMeta `json:"metadata"`

	Data argoCDData `json:"data"`

	policy     Policy
	unreadable []Fault
}

type argoCDData struct {
	Name   []byte `json:"name"`
	Server []byte `json:"server"`
	Config []byte `json:"config"`
}

// argoCDConfig is the JSON under the key config.
type argoCDConfig struct {
	Username           string      `json:"username"`
	Password           string      `json:"password"`
	BearerToken        string      `json:"bearerToken"`
	TLS                argoCDTLS   `json:"tlsClientConfig"`
	Exec               *argoCDExec `json:"execProviderConfig"`
	AWS                *argoCDAWS  `json:"awsAuthConfig"`
	ProxyURL           string      `json:"proxyUrl"`
	DisableCompression bool        `json:"disableCompression"`
}

type argoCDTLS struct {
	Insecure   bool   `json:"insecure"`
	ServerName string `json:"serverName"`
	CAData     []byte `json:"caData"`
	CertData   []byte `json:"certData"`
	KeyData    []byte `json:"keyData"`
}

type argoCDExec struct {
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	APIVersion  string            `json:"apiVersion"`
	InstallHint string            `json:"installHint"`
}

type argoCDAWS struct {
	ClusterName string `json:"clusterName"`
	RoleARN     string `json:"roleARN"`
	Profile     string `json:"profile"`
}

var argoCDTerms = terms{reasonInvalidCluster, "the config of the Secret", "proxyUrl", "insecure"}

// Credentials are in the Secret itself.
func (c *argoCDCluster) Credentials() Reference { return Reference{} }

func (c *argoCDCluster) Register(Credentials) Registration {
	r := registrationOf(corev1.SchemeGroupVersion.WithKind("Secret"), &c.ObjectMeta, reasonInvalidCluster)
	name, wrong := c.name()
	r.Name = name
	r.Faults = slices.Concat(c.unreadable, wrong, r.Faults)
	e, wrong := c.endpoint()
	r.Faults = slices.Concat(r.Faults, wrong)
	if !r.Refused() {
		r.Endpoint = e
	}
	return r
}

// name is the annotation's, else Argo CD's, else the Secret's. Argo CD's is data of a Secret, so no message has it.
func (c *argoCDCluster) name() (string, []Fault) {
	const fix = "give another in the annotation " + NameAnnotation
	if name := string(c.Data.Name); name != "" && c.Annotations[NameAnnotation] == "" {
		return name, checkNameOf("what the Secret has under name", name, fix)
	}
	name := cmp.Or(c.Annotations[NameAnnotation], c.Name)
	return name, checkName(name, fix)
}

func (c *argoCDCluster) endpoint() (Endpoint, []Fault) {
	if c.Annotations[argoCDSkip] == "true" {
		return Endpoint{}, []Fault{faultf(reasonSkipReconcile,
			"the annotation %s has Argo CD ignore the cluster, as it does those of argocd-agent, whose address is that of a proxy; "+
				"take the annotation away, or register the cluster with a Secret labelled %s=true", argoCDSkip, MemberLabel)}
	}
	if len(c.Data.Server) == 0 || len(c.Data.Config) == 0 {
		return Endpoint{}, []Fault{faultf(reasonInvalidCluster, "the Secret lacks one of server and config in its data")}
	}
	server, ok := parseServer(string(c.Data.Server))
	if !ok || server.RawQuery != "" {
		return Endpoint{}, []Fault{faultf(reasonInvalidCluster, "the Secret's server must be an https URL without user, password and query")}
	}
	var config argoCDConfig
	if err := json.Unmarshal(c.Data.Config, &config); err != nil { // which may quote it
		return Endpoint{}, []Fault{faultf(reasonInvalidCluster, "the Secret's config is not the JSON that Argo CD reads: caData, certData and "+
			"keyData are in base64, and other values of the types that Argo CD documents")}
	}
	address := strings.TrimRight(string(c.Data.Server), "/")
	if !config.identifies() {
		why := "the Secret's config has no credentials: neither bearerToken, nor username and password, nor certData and keyData"
		if address == argoCDInCluster {
			why += ". Argo CD reaches " + argoCDInCluster + ", the cluster that it runs in, with an account of its own"
		}
		return Endpoint{}, []Fault{faultf(ReasonMissingCredentials, "%s", why)}
	}
	cluster, user := config.access(address)
	return endpointOf(cluster, user, c.policy, argoCDTerms)
}

// identifies is true if the config has anything by which to be let in.
func (c argoCDConfig) identifies() bool {
	return c.BearerToken != "" || c.Username != "" || len(c.TLS.CertData) > 0 || c.Exec != nil || c.AWS != nil
}

// access is the config in the terms of a kubeconfig. Where there is a command, Argo CD uses neither token nor password.
func (c argoCDConfig) access(server string) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {
	cluster := &clientcmdapi.Cluster{
		Server: server, ProxyURL: c.ProxyURL, DisableCompression: c.DisableCompression,
		CertificateAuthorityData: c.TLS.CAData, InsecureSkipTLSVerify: c.TLS.Insecure, TLSServerName: c.TLS.ServerName,
	}
	user := &clientcmdapi.AuthInfo{ClientCertificateData: c.TLS.CertData, ClientKeyData: c.TLS.KeyData}
	switch {
	case c.AWS != nil:
		user.Exec = c.AWS.exec()
	case c.Exec != nil:
		user.Exec = c.Exec.exec()
	default:
		user.Token, user.Username, user.Password = c.BearerToken, c.Username, c.Password
	}
	return cluster, user
}

func (e argoCDExec) exec() *clientcmdapi.ExecConfig {
	env := make([]clientcmdapi.ExecEnvVar, 0, len(e.Env))
	for _, name := range slices.Sorted(maps.Keys(e.Env)) { // or a change of order were a change of connection
		env = append(env, clientcmdapi.ExecEnvVar{Name: name, Value: e.Env[name]})
	}
	return &clientcmdapi.ExecConfig{
		Command: e.Command, Args: e.Args, Env: env, APIVersion: e.APIVersion, InstallHint: e.InstallHint,
	}
}

func (a argoCDAWS) exec() *clientcmdapi.ExecConfig {
	args := []string{"aws", "--cluster-name", a.ClusterName}
	if a.RoleARN != "" {
		args = append(args, "--role-arn", a.RoleARN)
	}
	if a.Profile != "" {
		args = append(args, "--profile", a.Profile)
	}
	return &clientcmdapi.ExecConfig{Command: argoCDForAWS, Args: args, APIVersion: "client.authentication.k8s.io/v1beta1"}
}
