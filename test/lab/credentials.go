// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/test/lab/internal/pki"
)

// Pair is a certificate and its private key, both PEM.
type Pair = pki.Pair

// Files below a cluster's folder.
const (
	authorityName         = "ca"
	serviceAccountKeyName = "service-account.key"
	administrator         = "admin"
	admins                = "system:masters"
)

func (c *Cluster) pkiDir() string { return filepath.Join(c.dir(), "pki") }

// CA is the certificate of the cluster's own authority, PEM. It signed all its
// servers and client certificates; no two clusters share one.
func (c *Cluster) CA() ([]byte, error) {
	authority, err := c.authority()
	if err != nil {
		return nil, err
	}
	return authority.CertPEM, nil
}

func (c *Cluster) authority() (*pki.Authority, error) {
	pair, err := pki.Read(c.pkiDir(), authorityName)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return pki.ParseAuthority(pair)
}

// ServingCertificate issues a certificate for a server that is reached by
// hosts, DNS names or IP addresses. A server behind the aggregation layer is
// verified as SERVICE.NAMESPACE.svc.
func (c *Cluster) ServingCertificate(hosts ...string) (Pair, error) {
	authority, err := c.authority()
	if err != nil {
		return Pair{}, err
	}
	return authority.Serving(hosts...)
}

// ClientCertificate issues a certificate that the cluster takes for user in
// these groups.
func (c *Cluster) ClientCertificate(user string, groups ...string) (Pair, error) {
	authority, err := c.authority()
	if err != nil {
		return Pair{}, err
	}
	return authority.Client(user, groups...)
}

// UserKubeconfig returns a kubeconfig for user in these groups, by client
// certificate. It refers to no other file.
func (c *Cluster) UserKubeconfig(user string, groups ...string) ([]byte, error) {
	pair, err := c.ClientCertificate(user, groups...)
	if err != nil {
		return nil, err
	}
	return c.kubeconfig(&clientcmdapi.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM})
}

// TokenKubeconfig returns a kubeconfig with this bearer token. It refers to no
// other file.
func (c *Cluster) TokenKubeconfig(token string) ([]byte, error) {
	return c.kubeconfig(&clientcmdapi.AuthInfo{Token: token})
}

func (c *Cluster) kubeconfig(user *clientcmdapi.AuthInfo) ([]byte, error) {
	ca, err := c.CA()
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[c.Name] = &clientcmdapi.Cluster{Server: c.URL, CertificateAuthorityData: ca}
	config.AuthInfos[c.Name] = user
	config.Contexts[c.Name] = &clientcmdapi.Context{Cluster: c.Name, AuthInfo: c.Name}
	config.CurrentContext = c.Name
	return clientcmd.Write(*config)
}

// createCredentials makes the authority, what the API server needs, and the
// administrator's kubeconfig.
func (c *Cluster) createCredentials() error {
	authority, err := pki.NewAuthority("fleetscale-lab-" + c.Name)
	if err != nil {
		return err
	}
	serving, servingErr := authority.Serving("localhost", "127.0.0.1", insideAddress, "10.0.0.1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	proxy, proxyErr := authority.Client(frontProxyUser)
	kubelets, kubeletsErr := authority.Client(kubeletClientUser, admins)
	serviceAccountKey, keyErr := pki.NewKey()
	if err := errors.Join(servingErr, proxyErr, kubeletsErr, keyErr); err != nil {
		return err
	}
	for name, pair := range map[string]Pair{
		authorityName: authority.Pair, "kube-apiserver": serving, frontProxyUser: proxy, kubeletClientUser: kubelets,
	} {
		if _, _, err := pair.Write(c.pkiDir(), name); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(c.pkiDir(), serviceAccountKeyName), serviceAccountKey, 0o600); err != nil {
		return fmt.Errorf("writing the key of service accounts: %w", err)
	}
	return c.writeKubeconfig(c.Kubeconfig, administrator, admins)
}

func (c *Cluster) writeKubeconfig(path, user string, groups ...string) error {
	data, err := c.UserKubeconfig(user, groups...)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the kubeconfig of %s in %s: %w", user, c.Name, err)
	}
	return nil
}

// mergeKubeconfigs writes one file with the contexts of all clusters.
func mergeKubeconfigs(path string, clusters []Cluster) error {
	merged := clientcmdapi.NewConfig()
	for _, c := range clusters {
		config, err := clientcmd.LoadFromFile(c.Kubeconfig)
		if err != nil {
			return fmt.Errorf("reading the kubeconfig of %s: %w", c.Name, err)
		}
		merged.Clusters[c.Name] = config.Clusters[c.Name]
		merged.AuthInfos[c.Name] = config.AuthInfos[c.Name]
		merged.Contexts[c.Name] = config.Contexts[c.Name]
	}
	merged.CurrentContext = hubName
	if err := clientcmd.WriteToFile(*merged, path); err != nil {
		return fmt.Errorf("writing the kubeconfig of all clusters: %w", err)
	}
	return nil
}
