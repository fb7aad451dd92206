// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

var rancherVersion = schema.GroupVersion{Group: "fleet.cattle.io", Version: "v1alpha1"}

// rancher are the Clusters of Rancher's Fleet, in the namespaces that are named: its workspaces.
type rancher struct{ options Options }

func (r rancher) Name() string { return "rancher" }

func (r rancher) Watch() Watch {
	return Watch{What: "Rancher's Clusters", Resource: rancherVersion.WithResource("clusters"), Namespaces: r.options.RancherNamespaces}
}

func (r rancher) Read(u *unstructured.Unstructured) Object {
	c := &rancherCluster{policy: r.options.Policy}
	c.unreadable = decode(u, c, reasonInvalidCluster)
	return c
}

// rancherCluster is what is read of a Cluster.
type rancherCluster struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec rancherSpec `json:"spec"`

	policy     Policy
	unreadable []Fault
}

type rancherSpec struct {
	KubeConfigSecret          string `json:"kubeConfigSecret"`
	KubeConfigSecretNamespace string `json:"kubeConfigSecretNamespace"`
}

// rancherKey is where the kubeconfig is in the Secret. Other keys tell Fleet's agent where the hub is.
const rancherKey = "value"

// Credentials are in a Secret beside the Cluster, and nowhere else: whoever may write a Cluster need not be allowed to read those of other
// namespaces, and could have them used for what is written in this one.
func (c *rancherCluster) Credentials() Reference {
	if len(c.faults()) > 0 {
		return Reference{}
	}
	return Reference{Namespace: c.Namespace, Name: c.Spec.KubeConfigSecret, By: "spec.kubeConfigSecret names", Keys: [2]string{rancherKey}}
}

func (c *rancherCluster) Register(creds Credentials) Registration {
	r := registrationOf(rancherVersion.WithKind("Cluster"), &c.ObjectMeta, reasonInvalidKubeconfig)
	r.Name = cmp.Or(c.Annotations[NameAnnotation], c.Name)
	r.Faults = slices.Concat(c.unreadable, checkName(r.Name, "give another in the annotation "+NameAnnotation), r.Faults, c.faults())
	return r.by(creds, c.endpoint)
}

// faults returns those that need no credentials to be seen.
func (c *rancherCluster) faults() []Fault {
	switch s := c.Spec; {
	case s.KubeConfigSecret == "":
		return []Fault{faultf(ReasonMissingCredentials,
			"spec.kubeConfigSecret names no Secret, as of a cluster whose agent asks the hub; if the "+
				"hub can reach its API server, register the cluster with a Secret labelled %s=true", MemberLabel)}
	case len(validation.IsDNS1123Subdomain(s.KubeConfigSecret)) > 0:
		return []Fault{faultf(ReasonMissingCredentials, "spec.kubeConfigSecret is not the name of a Secret")}
	case s.KubeConfigSecretNamespace != "" && s.KubeConfigSecretNamespace != c.Namespace:
		return []Fault{faultf(ReasonMissingCredentials, "spec.kubeConfigSecretNamespace is another namespace, where whoever writes the Cluster "+
			"need not be allowed to read Secrets; copy the Secret to the namespace of the Cluster")}
	}
	return nil
}

func (c *rancherCluster) endpoint(creds Credentials) (Endpoint, []Fault) {
	return endpointIn(creds, c.Credentials(), rancherKey, "", c.Annotations[contextAnnotation], c.policy)
}
