// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterAPI are the Clusters of Cluster API, in the namespaces that are named: whoever may write in others registers nothing.
type clusterAPI struct{ options Options }

func (a clusterAPI) Name() string { return "capi" }

func (a clusterAPI) Watch() Watch {
	return Watch{
		What:       "Cluster API's Clusters",
		Resource:   schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"},
		Older:      []string{"v1beta1"},
		Namespaces: a.options.ClusterAPINamespaces,
	}
}

func (a clusterAPI) Read(u *unstructured.Unstructured) Object {
	c := &clusterAPICluster{policy: a.options.Policy}
	c.unreadable = decode(u, c, reasonInvalidCluster)
	c.version = u.GetAPIVersion()
	return c
}

// clusterAPICluster is what is read of a Cluster. Spec and status do not matter: what leads to the cluster is in its Secret, and whether it
// can be reached a probe tells better. So one that is paused, or being deleted, is a member for as long as it is there.
type clusterAPICluster struct {
	metav1.ObjectMeta `json:"metadata"`

	version    string
	policy     Policy
	unreadable []Fault
}

// clusterAPIKey is where Cluster API puts a kubeconfig.
const clusterAPIKey = "value"

// Credentials are in the Secret of exactly this name. Others of the Cluster have the same label and type: with its certificate authority,
// and with kubeconfigs for people.
func (c *clusterAPICluster) Credentials() Reference {
	return Reference{Namespace: c.Namespace, Name: c.Name + "-kubeconfig", By: "Cluster API writes", Keys: [2]string{clusterAPIKey}}
}

func (c *clusterAPICluster) Register(creds Credentials) Registration {
	r := registrationOf(schema.FromAPIVersionAndKind(c.version, "Cluster"), &c.ObjectMeta, reasonInvalidKubeconfig)
	r.Name = cmp.Or(c.Annotations[NameAnnotation], c.Name)
	r.Faults = slices.Concat(c.unreadable, checkName(r.Name, "give another in the annotation "+NameAnnotation), r.Faults)
	return r.by(creds, c.endpoint)
}

func (c *clusterAPICluster) endpoint(creds Credentials) (Endpoint, []Fault) {
	return endpointIn(creds, c.Credentials(), clusterAPIKey, ": it comes with the cluster's control plane", c.Annotations[contextAnnotation],
		c.policy)
}
