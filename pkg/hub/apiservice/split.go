// SPDX-License-Identifier: Apache-2.0

package apiservice

import "k8s.io/apimachinery/pkg/types"

// Shares are the APIServices of one group by where they lead.
type Shares struct{ Ours, Others []string }

// Share sorts the APIServices of a group, each in the order of [Known]. targets say where those that exist point.
func Share(group string, targets map[string]types.NamespacedName, ours types.NamespacedName) Shares {
	var s Shares
	for _, v := range Known() {
		target, exists := targets[v.APIService()]
		switch {
		case v.Group != group || !exists:
		case target == ours:
			s.Ours = append(s.Ours, v.APIService())
		default:
			s.Others = append(s.Others, v.APIService())
		}
	}
	return s
}

// Split reports whether clients of the group are answered by different servers, by the version that they ask for. A version
// without an APIService splits nothing: clients ask for another one.
func (s Shares) Split() bool { return len(s.Ours) > 0 && len(s.Others) > 0 }
