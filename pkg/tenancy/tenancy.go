// SPDX-License-Identifier: Apache-2.0

// Package tenancy decides which namespaces are nobody's to scale in: those of Kubernetes itself, and those of fleetscale. Nothing is
// scaled, sized or created there, on the hub or in members, whoever asks for it: who runs Pods there owns the cluster.
package tenancy

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonNamespaceNotAllowed is of objects in such a namespace.
const ReasonNamespaceNotAllowed = "NamespaceNotAllowed"

// OwnPrefix begins the names of fleetscale's own namespaces.
const OwnPrefix = "fleetscale-"

// System are Kubernetes' own namespaces.
func System() []string {
	return []string{metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease"}
}

// Reserved reports whether nothing is scaled, sized or created in the namespace.
func Reserved(namespace string) bool {
	return strings.HasPrefix(namespace, OwnPrefix) || slices.Contains(System(), namespace)
}

// Refusal says what to do about an object there.
func Refusal(namespace string) string {
	return "nothing is scaled or sized in namespace " + namespace + ", nor in any other of Kubernetes or fleetscale: delete this object, " +
		"or use another namespace"
}
