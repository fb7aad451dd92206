// SPDX-License-Identifier: Apache-2.0

// Package tenancy decides in which namespaces a program acts ([Scope]), and which are nobody's to scale in: those of Kubernetes
// itself, and those of fleetscale. Nothing is scaled, sized or created there, on the hub or in members, whoever asks for it: who
// runs Pods there owns the cluster.
package tenancy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonNamespaceNotAllowed is of objects in such a namespace.
const ReasonNamespaceNotAllowed = "NamespaceNotAllowed"

// ours begins the names of fleetscale's own namespaces.
const ours = "fleetscale-"

// Reserved reports whether nothing is scaled, sized or created in the namespace.
func Reserved(namespace string) bool {
	switch namespace {
	case metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease:
		return true
	}
	return strings.HasPrefix(namespace, ours)
}

// Refusal says what to do about an object there.
func Refusal(namespace string) string {
	return fmt.Sprintf("nothing is scaled or sized in namespace %q, nor in any other of Kubernetes or fleetscale: use another one", namespace)
}
