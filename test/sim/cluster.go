// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodes is how many a member has.
const nodes = 2

func (w *world) nodeName(i int) string { return fmt.Sprintf("%s-node-%d", w.name, i+1) }

// node is one whose kubelet is the API server itself, where a metrics-server expects it.
func (w *world) node(i, kubeletPort int) *corev1.Node {
	const readyAndLarge = "100000"
	name := w.nodeName(i)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(readyAndLarge), corev1.ResourceMemory: resource.MustParse(readyAndLarge + "Gi"),
		corev1.ResourcePods: resource.MustParse(readyAndLarge),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{corev1.LabelHostname: name},
			Annotations: map[string]string{"metrics.k8s.io/resource-metrics-path": kubeletPath(name)},
		},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(kubeletPort)}},
		},
	}
}

// ensureNamespace makes one that is not there. The world's lock is held.
func (w *world) ensureNamespace(name string) {
	if _, found := w.shelves["namespaces"].find(key{name: name}); !found {
		w.keep("namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}})
	}
}

// authenticationConfig is read by servers that delegate authentication: there is no proxy in front of them.
func authenticationConfig() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "extension-apiserver-authentication"}}
}
