// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

const (
	// kubeconfigKey is where registration Secrets hold their kubeconfig, unless they say otherwise.
	kubeconfigKey = "kubeconfig"
	// redacted stands for a token where people see it.
	redacted = "REDACTED"
)

// way is how the hub reaches a member.
type way struct {
	server, serverName string
	// authority verifies the server, PEM; empty: whom the programs' system trusts.
	authority []byte
}

// kubeconfig leads there, with a token of the account.
func (w way) kubeconfig(account, token string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{
		Server: w.server, TLSServerName: w.serverName, CertificateAuthorityData: w.authority,
	}
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["fleetscale"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: account}
	config.CurrentContext = "fleetscale"
	return clientcmd.Write(*config)
}

// serverOf is where a kubeconfig leads by its current context; empty: it leads nowhere.
func serverOf(kubeconfig []byte) string {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return ""
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil || config.Clusters[context.Cluster] == nil {
		return ""
	}
	return config.Clusters[context.Cluster].Server
}

// Places are the namespaces of the hub that registrations are in.
type Places struct {
	// Registrations holds those, with the credentials that read; Writers, those that write.
	Registrations, Writers string
	// Identities holds the record of who is established as which cluster.
	Identities string
}

// registrations are the Secrets that register a cluster, the one that writes first: who registers it is to find that there.
func registrations(p Places, name string, uid types.UID, r Rights, kubeconfigs map[string][]byte) []*corev1.Secret {
	read := secret(p.Registrations, name, kubeconfigs[reader])
	read.Labels = map[string]string{registration.MemberLabel: "true"}
	read.Annotations = map[string]string{UIDAnnotation: string(uid)}
	if len(r.CreateIn) > 0 {
		read.Annotations[registration.CreateInAnnotation] = strings.Join(r.CreateIn, ",")
	}
	if r.ReadOnly {
		return []*corev1.Secret{read}
	}
	return []*corev1.Secret{secret(p.Writers, name, kubeconfigs[writer]), read}
}

func secret(namespace, name string, kubeconfig []byte) *corev1.Secret {
	s := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{kubeconfigKey: kubeconfig}}
	s.APIVersion, s.Kind, s.Namespace, s.Name = "v1", "Secret", namespace, name
	return s
}
