// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// ClusterFacts is what a cluster's registration says of it, as far as it decides on whether and how the cluster takes part.
type ClusterFacts struct {
	Name             string
	Labels           map[string]string
	Provider, Region string
	Zones            []string
	// Taints are not asked for by affinities; see package taints.
	Taints []corev1.Taint
}

// Matches reports whether the affinity selects the cluster: by labels and fields and names, and not excluded. What is
// absent or empty selects every cluster; so does no affinity at all. The error is for an affinity that cannot be read,
// whichever the cluster.
//
// A cluster that has no value for a field is in no list: In does not hold for it, NotIn does.
func Matches(affinity *v1alpha1.ClusterAffinity, cluster ClusterFacts) (bool, error) {
	s, err := read(affinity)
	return err == nil && s.matches(cluster), err
}

// selector is an affinity that has been read.
type selector struct {
	labels labels.Selector
	v1alpha1.ClusterAffinity
}

func read(affinity *v1alpha1.ClusterAffinity) (selector, error) {
	s := selector{labels: labels.Everything()}
	if affinity == nil {
		return s, nil
	}
	s.ClusterAffinity = *affinity
	if affinity.FieldSelector != nil {
		for i, r := range affinity.FieldSelector.MatchExpressions {
			if err := readable(r); err != nil {
				return selector{}, fmt.Errorf("reading fieldSelector.matchExpressions[%d]: %w", i, err)
			}
		}
	}
	if affinity.LabelSelector == nil {
		return s, nil
	}
	var err error
	if s.labels, err = metav1.LabelSelectorAsSelector(affinity.LabelSelector); err != nil {
		return selector{}, fmt.Errorf("reading labelSelector: %w", err)
	}
	return s, nil
}

func readable(r v1alpha1.FieldSelectorRequirement) error {
	switch r.Key {
	case v1alpha1.FieldProvider, v1alpha1.FieldRegion, v1alpha1.FieldZone:
	default:
		return fmt.Errorf("key %q is none of provider, region, zone", r.Key)
	}
	switch r.Operator {
	case v1alpha1.FieldSelectorIn, v1alpha1.FieldSelectorNotIn:
		return nil
	default:
		return fmt.Errorf("operator %q is none of In, NotIn", r.Operator)
	}
}

func (s selector) matches(c ClusterFacts) bool {
	return !slices.Contains(s.ExcludeClusters, c.Name) &&
		(len(s.ClusterNames) == 0 || slices.Contains(s.ClusterNames, c.Name)) &&
		s.labels.Matches(labels.Set(c.Labels)) &&
		s.matchesFields(c)
}

func (s selector) matchesFields(c ClusterFacts) bool {
	if s.FieldSelector == nil {
		return true
	}
	return !slices.ContainsFunc(s.FieldSelector.MatchExpressions, func(r v1alpha1.FieldSelectorRequirement) bool {
		listed := slices.ContainsFunc(c.field(r.Key), func(value string) bool { return slices.Contains(r.Values, value) })
		return listed != (r.Operator == v1alpha1.FieldSelectorIn)
	})
}

// field returns the cluster's values for the field; none is empty.
func (c ClusterFacts) field(key v1alpha1.FieldSelectorKey) []string {
	values := c.Zones
	switch key {
	case v1alpha1.FieldProvider:
		values = []string{c.Provider}
	case v1alpha1.FieldRegion:
		values = []string{c.Region}
	}
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "" })
}
