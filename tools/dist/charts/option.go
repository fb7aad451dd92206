// SPDX-License-Identifier: Apache-2.0

package charts

import "slices"

// option is what a value of a chart stands for: a kustomization in place of another, or of nothing.
type option struct {
	file     string    // the template that has the objects which it adds
	when     condition // on the value
	objects  condition // besides, for objects that it adds
	each     string    // a list of namespaces, in each of which these stand
	from, to kustomization
}

// kustomization is one of folders of the checkout.
type kustomization struct{ resources, components []string }

// with returns it with more components, the last of all.
func (k kustomization) with(components ...string) kustomization {
	return kustomization{k.resources, slices.Concat(k.components, components)}
}

func resources(folders ...string) kustomization { return kustomization{resources: folders} }

func components(folders ...string) kustomization { return kustomization{components: folders} }
