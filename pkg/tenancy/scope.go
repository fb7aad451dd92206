// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// NamespacesFlag is that of all programs by which they are given their [Scope].
const NamespacesFlag = "--namespaces"

// MostNamespaces bounds a [Scope]: each of its namespaces is watched by itself, on the hub and in every member.
const MostNamespaces = 64

// Scope is the namespaces in which a program acts, on the hub and in members; it asks for nothing of others, and needs no rights
// there. The zero Scope is all of them.
type Scope struct{ names []string } // in order; nil: all

// NewScope is the scope of these namespaces; without any, all of them. Its error has every fault.
func NewScope(names []string) (Scope, error) {
	var faults []error
	if len(names) > MostNamespaces {
		faults = append(faults, fmt.Errorf("names %d namespaces, of which each is watched by itself: at most %d", len(names), MostNamespaces))
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, name := range sorted {
		switch wrong := validation.IsDNS1123Label(name); {
		case i > 0 && name == sorted[i-1]:
			faults = append(faults, fmt.Errorf("names %q more than once", name))
		case len(wrong) > 0:
			faults = append(faults, fmt.Errorf("%q is no name of a namespace: %s", name, wrong[0]))
		case Reserved(name):
			faults = append(faults, errors.New(Refusal(name)))
		}
	}
	return Scope{slices.Compact(sorted)}, errors.Join(faults...)
}

// Everywhere is true of the scope of all namespaces.
func (s Scope) Everywhere() bool { return len(s.names) == 0 }

// Has reports whether the namespace is in scope. What has no namespace is in that of all only.
func (s Scope) Has(namespace string) bool {
	if s.Everywhere() {
		return true
	}
	_, found := slices.BinarySearch(s.names, namespace)
	return found
}

// Names are the namespaces in order; nil if it is all of them. They are shared: do not write to them.
func (s Scope) Names() []string { return s.names }

// Outside says why nothing is done in a namespace that is not in scope, and what to do about it.
func (s Scope) Outside(namespace string) string {
	return fmt.Sprintf("fleetscale acts in %s only, and not in namespace %q: whoever runs it adds that to %s", s, namespace, NamespacesFlag)
}

// fewShown is how many namespaces are named to people.
const fewShown = 5

// String names the first few.
func (s Scope) String() string {
	switch n := len(s.names); {
	case n == 0:
		return "all namespaces"
	case n == 1:
		return "namespace " + s.names[0]
	case n > fewShown:
		return fmt.Sprintf("namespaces %s and %d more", strings.Join(s.names[:fewShown], ", "), n-fewShown)
	}
	return "namespaces " + strings.Join(s.names, ", ")
}
