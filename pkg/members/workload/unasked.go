// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/members/mirror"
)

// asked keeps those items of a page of a list that are of the namespace (empty: of all) and were not seen before, and notes
// these. The others count as dropped.
func asked[T any, O interface {
	*T
	metav1.Object
}](c memberCluster, kind, namespace string, seen map[mirror.Key]bool, items []T) []T {
	kept := slices.DeleteFunc(items, func(item T) bool {
		object := O(&item)
		key := mirror.Key{Namespace: object.GetNamespace(), Name: object.GetName()}
		if namespace != "" && key.Namespace != namespace || key.Name == "" || seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
	c.Reading().Dropped(kind, len(items)-len(kept))
	return kept
}
