// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// endpointIn is that of the kubeconfig under a key of the Secret that an object refers to. lacking says why there may be no such Secret.
func endpointIn(creds Credentials, ref Reference, key, lacking, contextName string, policy Policy) (Endpoint, []Fault) {
	if creds.Data == nil {
		return Endpoint{}, []Fault{faultf(ReasonMissingCredentials, "%s does not exist%s", ref, lacking)}
	}
	data := creds.Data[key]
	if len(data) == 0 {
		return Endpoint{}, []Fault{faultf(ReasonMissingCredentials, "Secret %s/%s has no key %s", ref.Namespace, ref.Name, key)}
	}
	return parseKubeconfig(data, contextName, policy)
}

// parseKubeconfig reads one context, the current one unless named, into an
// endpoint. It opens no file and runs no command. All faults are returned at
// once; none of them repeats the kubeconfig's contents beyond names, since
// even a parser's message may hold a piece of a key.
func parseKubeconfig(data []byte, contextName string, policy Policy) (Endpoint, []Fault) {
	cluster, user, faults := loadContext(data, contextName)
	if len(faults) > 0 {
		return Endpoint{}, faults
	}
	return endpointOf(cluster, user, policy, kubeconfigTerms)
}

func loadContext(data []byte, name string) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo, []Fault) {
	kubeconfig, err := clientcmd.Load(data)
	if err != nil {
		return nil, nil, []Fault{faultf(reasonInvalidKubeconfig,
			"the kubeconfig cannot be parsed; `kubectl --kubeconfig FILE config view` shows where it is wrong")}
	}
	return chooseContext(kubeconfig, name)
}

// terms are a format's words for what may be wrong with an endpoint.
type terms struct {
	invalid fleet.Reason
	// user is whose credentials are used.
	user string
	// proxy and insecure are names of fields.
	proxy, insecure string
}

var kubeconfigTerms = terms{reasonInvalidKubeconfig, "the kubeconfig's user", "proxy-url", "insecure-skip-tls-verify"}

// endpointOf joins a cluster and its user, whatever the format that they were written in. All faults are returned at once.
func endpointOf(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, policy Policy, t terms) (Endpoint, []Fault) {
	faults := slices.Concat(execFaults(user.Exec, policy, t), authProviderFaults(user, t), fileFaults(cluster, user, policy))
	e, wrong := buildEndpoint(cluster, user, t)
	faults = append(faults, wrong...)
	if e.Config != nil && !policy.AllowInsecure {
		faults = append(faults, insecureFaults(e.Config, t)...)
	}
	if len(faults) > 0 {
		return Endpoint{}, faults
	}
	return e, nil
}

func chooseContext(c *clientcmdapi.Config, name string) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo, []Fault) {
	if name == "" {
		name = c.CurrentContext
	}
	if name == "" {
		return nil, nil, []Fault{faultf(reasonInvalidKubeconfig,
			"the kubeconfig has no current-context; set it, or name a context in the annotation %s", contextAnnotation)}
	}
	context, ok := c.Contexts[name]
	if !ok || context == nil {
		return nil, nil, []Fault{faultf(reasonInvalidKubeconfig, "the kubeconfig has no context %q", shorten(name))}
	}
	cluster, user := c.Clusters[context.Cluster], c.AuthInfos[context.AuthInfo]
	var faults []Fault
	if cluster == nil {
		faults = append(faults, faultf(reasonInvalidKubeconfig, "context %q names the cluster %q, which the kubeconfig does not hold",
			shorten(name), shorten(context.Cluster)))
	}
	if user == nil {
		faults = append(faults, faultf(reasonInvalidKubeconfig, "context %q names the user %q, which the kubeconfig does not hold", shorten(name),
			shorten(context.AuthInfo)))
	}
	return cluster, user, faults
}

func authProviderFaults(user *clientcmdapi.AuthInfo, t terms) []Fault {
	if user.AuthProvider == nil {
		return nil
	}
	return []Fault{faultf(reasonAuthProviderNotAllowed,
		"%s has the auth-provider %q; use a token or a client certificate", t.user, shorten(user.AuthProvider.Name))}
}

func fileFaults(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, policy Policy) []Fault {
	if policy.AllowFiles {
		return nil
	}
	var fields []string
	for _, f := range []struct{ field, file string }{
		{"certificate-authority", cluster.CertificateAuthority},
		{"tokenFile", user.TokenFile},
		{"client-certificate", user.ClientCertificate},
		{"client-key", user.ClientKey},
	} {
		if f.file != "" {
			fields = append(fields, f.field)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return []Fault{faultf(reasonFileNotAllowed,
		"the kubeconfig refers to files (%s); put their contents into it (`kubectl config view --flatten --raw`, or token in place of "+
			"tokenFile), or allow files with --allow-kubeconfig-files",
		strings.Join(fields, ", "))}
}

func insecureFaults(c *rest.Config, t terms) []Fault {
	var faults []Fault
	if c.Insecure {
		faults = append(faults, faultf(reasonInsecureNotAllowed,
			"the API server's certificate would not be verified; give its certificate authority in place of %s, or allow "+
				"it with --allow-insecure-member-tls", t.insecure))
	}
	if strings.HasPrefix(c.Host, "http://") {
		faults = append(faults, faultf(reasonInsecureNotAllowed,
			"the API server's address is http, so credentials would travel in clear; use https, or allow it with --allow-insecure-member-tls"))
	}
	return faults
}

// buildEndpoint writes the configuration out field by field: client-go's own
// way from a kubeconfig to a configuration opens the files that it names.
func buildEndpoint(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, t terms) (Endpoint, []Fault) {
	server, serverOK := parseServer(cluster.Server)
	proxy, proxyOK := parseProxy(cluster.ProxyURL)
	var wrong []Fault
	if !serverOK {
		wrong = append(wrong, faultf(t.invalid, "the cluster's server must be an https URL without user and password"))
	}
	if !proxyOK {
		wrong = append(wrong, faultf(t.invalid, "the cluster's %s must be an http, https or socks5 URL", t.proxy))
	}
	if user.Username != "" && (user.Token != "" || user.TokenFile != "") {
		wrong = append(wrong, faultf(t.invalid, "the user has both a token and a username; keep one"))
	}
	if len(wrong) > 0 {
		return Endpoint{}, wrong
	}
	config := &rest.Config{
		Host:               server.String(),
		BearerToken:        user.Token,
		BearerTokenFile:    user.TokenFile,
		Username:           user.Username,
		Password:           user.Password,
		DisableCompression: cluster.DisableCompression,
		ExecProvider:       execProvider(user),
		Impersonate: rest.ImpersonationConfig{
			UserName: user.Impersonate, UID: user.ImpersonateUID,
			Groups: user.ImpersonateGroups, Extra: user.ImpersonateUserExtra,
		},
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: cluster.TLSServerName,
			CAData:     cluster.CertificateAuthorityData, CAFile: cluster.CertificateAuthority,
			CertData: user.ClientCertificateData, CertFile: user.ClientCertificate,
			KeyData: user.ClientKeyData, KeyFile: user.ClientKey,
		},
	}
	if cluster.InsecureSkipTLSVerify {
		setInsecure(config)
	}
	for _, text := range certificateFaults(config.TLSClientConfig) {
		wrong = append(wrong, Fault{t.invalid, text})
	}
	return Endpoint{Config: config, Proxy: proxy}, wrong
}

// setInsecure drops the certificate authority too: client-go refuses to have both.
func setInsecure(c *rest.Config) {
	c.Insecure = true
	c.CAData, c.CAFile = nil, ""
}

// execProvider never asks at a terminal, and tells the plugin nothing of the cluster, whatever the kubeconfig says: no pattern of
// [Policy].AllowedExecCommands sees that.
func execProvider(user *clientcmdapi.AuthInfo) *clientcmdapi.ExecConfig {
	if user.Exec == nil {
		return nil
	}
	exec := user.Exec.DeepCopy()
	exec.InteractiveMode = clientcmdapi.NeverExecInteractiveMode
	exec.StdinUnavailable = true
	exec.ProvideClusterInfo, exec.Config = false, nil
	return exec
}
