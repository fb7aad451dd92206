// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asked keeps those items of a page of a list that are of the namespace and whose names were not seen before, and notes
// these. The others count as dropped.
func asked[T any, O interface {
	*T
	metav1.Object
}](c memberCluster, kind, namespace string, seen map[string]bool, items []T) []T {
	kept := slices.DeleteFunc(items, func(item T) bool {
		object := O(&item)
		name := object.GetName()
		if object.GetNamespace() != namespace || name == "" || seen[name] {
			return true
		}
		seen[name] = true
		return false
	})
	c.Reading().Dropped(kind, len(items)-len(kept))
	return kept
}
