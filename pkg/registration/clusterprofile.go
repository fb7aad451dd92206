// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ClusterProfileSource is the name of the source that is the ClusterProfiles of a cluster inventory.
const ClusterProfileSource = "clusterprofile"

// The providers of access whose credentials are in a Secret. Upstream each is a command that reads it; here it is read in process.
const (
	openClusterManagement  = "open-cluster-management"
	kubeconfigSecretReader = "kubeconfig-secretreader"
	secretReader           = "secretreader"
)

// execExtension is the name under which a cluster carries what a provider wants to know of it.
const execExtension = "client.authentication.k8s.io/exec"

var clusterProfileVersion = schema.GroupVersion{Group: "multicluster.x-k8s.io", Version: "v1alpha1"}

// clusterProfiles are the ClusterProfiles of a cluster inventory, in the namespaces that are named.
type clusterProfiles struct{ options Options }

func (p clusterProfiles) Name() string { return ClusterProfileSource }

func (p clusterProfiles) Watch() Watch {
	return Watch{
		What: "ClusterProfiles", Resource: clusterProfileVersion.WithResource("clusterprofiles"), Namespaces: p.options.ClusterProfileNamespaces,
	}
}

func (p clusterProfiles) Read(u *unstructured.Unstructured) Object {
	c := &clusterProfile{access: p.options.Access, policy: p.options.Policy}
	c.unreadable = decode(u, c, reasonInvalidCluster)
	c.provider, c.Status = c.Status.provider(), clusterProfileStatus{}
	return c
}

// clusterProfile is what is read of a ClusterProfile.
type clusterProfile struct {
	metav1.ObjectMeta `json:"metadata"`

	Status clusterProfileStatus `json:"status"`

	provider   accessProvider
	access     Access
	policy     Policy
	unreadable []Fault
}

type clusterProfileStatus struct {
	AccessProviders []accessProvider `json:"accessProviders"`
	// CredentialProviders are the same by their former name.
	CredentialProviders []accessProvider `json:"credentialProviders"`
}

// accessProvider is one way to the cluster: its address, and what its credentials are known by.
type accessProvider struct {
	Name    string          `json:"name"`
	Cluster providedCluster `json:"cluster"`
}

// providedCluster is the cluster of a kubeconfig. It cannot name a file of ours.
type providedCluster struct {
	Server                   string              `json:"server"`
	TLSServerName            string              `json:"tls-server-name"`
	InsecureSkipTLSVerify    bool                `json:"insecure-skip-tls-verify"`
	CertificateAuthority     string              `json:"certificate-authority"`
	CertificateAuthorityData []byte              `json:"certificate-authority-data"`
	ProxyURL                 string              `json:"proxy-url"`
	DisableCompression       bool                `json:"disable-compression"`
	Extensions               []providedExtension `json:"extensions"`
}

type providedExtension struct {
	Name      string          `json:"name"`
	Extension json.RawMessage `json:"extension"`
}

// provided is what the extensions say to a provider.
type provided struct {
	ClusterName string `json:"clusterName"`
	Name        string `json:"name"`
	Key         string `json:"key"`
	Namespace   string `json:"namespace"`
	Context     string `json:"context"`
}

// provider returns the one that is used; without a name, if none can be.
func (s clusterProfileStatus) provider() accessProvider {
	for _, name := range []string{openClusterManagement, kubeconfigSecretReader, secretReader} {
		for _, p := range slices.Concat(s.AccessProviders, s.CredentialProviders) {
			if p.Name == name {
				return p
			}
		}
	}
	return accessProvider{}
}

// provided reads the extensions; what is not there, or is nothing that a provider can read, says nothing.
func (p accessProvider) provided() (said provided) {
	at := slices.IndexFunc(p.Cluster.Extensions, func(e providedExtension) bool { return e.Name == execExtension })
	if at < 0 || json.Unmarshal(p.Cluster.Extensions[at].Extension, &said) != nil {
		return provided{}
	}
	return said
}

// secret is the name of the Secret with the credentials, and the key in it; empty if the extensions name none.
func (p accessProvider) secret(access Access) (name, key string) {
	said := p.provided()
	switch {
	case p.Name == kubeconfigSecretReader:
		return said.Name, said.Key
	case said.ClusterName == "":
		return "", ""
	case p.Name == openClusterManagement && access == Read:
		return said.ClusterName + "-fleetscale-read", "token"
	case p.Name == openClusterManagement:
		return said.ClusterName + "-fleetscale-write", "token"
	}
	return said.ClusterName, "token"
}

// Credentials are in a Secret beside the ClusterProfile, and nowhere else: whoever writes a ClusterProfile chooses an address, and is not
// to have it sent the credentials of others.
func (c *clusterProfile) Credentials() Reference {
	name, key := c.provider.secret(c.access)
	if len(c.faults()) > 0 {
		return Reference{}
	}
	return Reference{Namespace: c.Namespace, Name: name, By: "the accessProvider " + c.provider.Name + " names", Keys: [2]string{key}}
}

func (c *clusterProfile) Register(creds Credentials) Registration {
	r := registrationOf(clusterProfileVersion.WithKind("ClusterProfile"), &c.ObjectMeta, reasonInvalidCluster)
	r.Name = cmp.Or(c.Annotations[NameAnnotation], c.Name)
	r.Faults = slices.Concat(c.unreadable, checkName(r.Name, "give another in the annotation "+NameAnnotation), r.Faults, c.faults())
	return r.by(creds, c.endpoint)
}

// faults returns those that need no credentials to be seen.
func (c *clusterProfile) faults() []Fault {
	name, key := c.provider.secret(c.access)
	said := c.provider.provided()
	switch {
	case c.provider.Name == "":
		return []Fault{faultf(reasonInvalidCluster, "status.accessProviders has none of %s, which are those whose credentials are in a Secret; "+
			"register the cluster with a Secret labelled %s=true",
			strings.Join([]string{openClusterManagement, kubeconfigSecretReader, secretReader}, ", "), MemberLabel)}
	case len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsConfigMapKey(key)) > 0:
		return []Fault{faultf(ReasonMissingCredentials, "status.accessProviders: the extension %s of %s names no Secret", execExtension,
			c.provider.Name)}
	case said.Namespace != "" && said.Namespace != c.Namespace:
		return []Fault{faultf(ReasonMissingCredentials, "status.accessProviders: the extension %s of %s names a Secret of another namespace, "+
			"where whoever writes the ClusterProfile need not be allowed to read it; copy it to the namespace of the ClusterProfile", execExtension,
			c.provider.Name)}
	}
	return nil
}

var clusterProfileTerms = terms{reasonInvalidCluster, "the kubeconfig's user", "proxy-url", "insecure-skip-tls-verify"}

// endpoint joins the accessProvider and the data of its Secret.
func (c *clusterProfile) endpoint(creds Credentials) (Endpoint, []Fault) {
	ref := c.Credentials()
	if creds.Data == nil {
		return Endpoint{}, []Fault{faultf(ReasonMissingCredentials, "%s does not exist", ref)}
	}
	text := creds.Data[ref.Keys[0]]
	if len(text) == 0 {
		return Endpoint{}, []Fault{faultf(ReasonMissingCredentials, "Secret %s/%s has no key %s", ref.Namespace, ref.Name, ref.Keys[0])}
	}
	p := c.provider.Cluster
	cluster := &clientcmdapi.Cluster{
		Server: p.Server, TLSServerName: p.TLSServerName, InsecureSkipTLSVerify: p.InsecureSkipTLSVerify,
		CertificateAuthority: p.CertificateAuthority, CertificateAuthorityData: p.CertificateAuthorityData,
		ProxyURL: p.ProxyURL, DisableCompression: p.DisableCompression,
	}
	user := &clientcmdapi.AuthInfo{Token: strings.TrimSpace(string(text))}
	if c.provider.Name == kubeconfigSecretReader {
		said := c.provider.provided()
		_, held, faults := loadContext(text, cmp.Or(c.Annotations[contextAnnotation], said.Context))
		if len(faults) > 0 {
			return Endpoint{}, faults
		}
		user = held
	}
	return endpointOf(cluster, user, c.policy, clusterProfileTerms)
}
