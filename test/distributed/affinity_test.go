// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// choice is by what the affinity of a fleet's object selects clusters.
type choice string

const (
	byName  choice = "by name"
	byLabel choice = "by label" // as the registration is labelled, without an edit of the object
	byField choice = "by field" // the same, by its region
)

const (
	labelTaken = "taken" // yes or no
	labelTier  = "tier"
	home       = "home" // the region that is selected
)

// enlist makes the registration say whether the member is selected.
func (m *member) enlist() {
	m.labels[labelTaken], m.region = "no", "abroad"
	if m.selected {
		m.labels[labelTaken], m.region = "yes", home
	}
}

// affinity selects the members that are to be.
func (f *fleet) affinity() *v1alpha1.ClusterAffinity {
	a := &v1alpha1.ClusterAffinity{}
	switch f.chosenBy {
	case byLabel:
		a.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{labelTaken: "yes"}}
	case byField:
		a.FieldSelector = fieldsOf(v1alpha1.FieldRegion, v1alpha1.FieldSelectorIn, home)
	default:
		for _, m := range f.members {
			if !m.selected {
				a.ExcludeClusters = append(a.ExcludeClusters, m.name)
			}
		}
	}
	return a
}

func fieldsOf(key v1alpha1.FieldSelectorKey, operator v1alpha1.FieldSelectorOperator, values ...string) *v1alpha1.FieldSelector {
	return &v1alpha1.FieldSelector{MatchExpressions: []v1alpha1.FieldSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

// group is an entry of preferences: whom it selects, by what, and how many these are.
type group struct {
	*v1alpha1.ClusterAffinity
	by   choice
	size int
}

// groups parts the members: each is in one of them.
func (f *fleet) groups() []group {
	var all []group
	count := func(is func(*member) bool) (n int) {
		for _, m := range f.members {
			if is(m) {
				n++
			}
		}
		return n
	}
	switch of(f.dice, byName, byName, byLabel, byField) {
	case byLabel:
		for _, tier := range []string{"gold", "tin"} {
			all = append(all, group{&v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{labelTier: tier}}},
				byLabel, count(func(m *member) bool { return m.labels[labelTier] == tier })})
		}
	case byField:
		for _, operator := range []v1alpha1.FieldSelectorOperator{v1alpha1.FieldSelectorIn, v1alpha1.FieldSelectorNotIn} {
			in := operator == v1alpha1.FieldSelectorIn
			all = append(all, group{&v1alpha1.ClusterAffinity{FieldSelector: fieldsOf(v1alpha1.FieldProvider, operator, "acme")},
				byField, count(func(m *member) bool { return (m.provider == "acme") == in })})
		}
	default:
		for _, m := range f.members {
			all = append(all, group{&v1alpha1.ClusterAffinity{ClusterNames: []string{m.name}}, byName, 1})
		}
	}
	return all
}

// isOf: the affinity of an entry selects the member. It is one of those that groups draws.
func (m *member) isOf(a *v1alpha1.ClusterAffinity) bool {
	switch {
	case a.LabelSelector != nil:
		return m.labels[labelTier] == a.LabelSelector.MatchLabels[labelTier]
	case a.FieldSelector != nil:
		r := a.FieldSelector.MatchExpressions[0]
		return slices.Contains(r.Values, m.provider) == (r.Operator == v1alpha1.FieldSelectorIn)
	default:
		return a.ClusterNames[0] == m.name
	}
}

// inWords is the affinity of an entry.
func inWords(a *v1alpha1.ClusterAffinity) string {
	switch {
	case a.LabelSelector != nil:
		return a.LabelSelector.MatchLabels[labelTier]
	case a.FieldSelector != nil:
		r := a.FieldSelector.MatchExpressions[0]
		return string(r.Operator) + " " + r.Values[0]
	default:
		return a.ClusterNames[0]
	}
}
