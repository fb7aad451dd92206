// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	labelvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

const (
	maxMatchLabels      = 64
	maxMatchExpressions = 32
	maxSelectorValues   = 100
)

// selectorFaults refuses a selector that cannot be read.
func selectorFaults(selector *metav1.LabelSelector, path *field.Path, rule string) field.ErrorList {
	if selector == nil {
		return nil
	}
	faults := labelvalidation.ValidateLabelSelector(selector, labelvalidation.LabelSelectorValidationOptions{}, path).WithOrigin(rule)
	// Those of matchLabels come in the order of a map.
	slices.SortStableFunc(faults, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	expressions := path.Child("matchExpressions")
	return slices.Concat(
		faults,
		atMost(len(selector.MatchLabels), maxMatchLabels, path.Child("matchLabels")),
		atMost(len(selector.MatchExpressions), maxMatchExpressions, expressions),
		each(selector.MatchExpressions, expressions, func(r metav1.LabelSelectorRequirement, at *field.Path) field.ErrorList {
			return atMost(len(r.Values), maxSelectorValues, at.Child("values"))
		}),
	)
}

// reservedKey is a key of a metric's selector that the fleet itself reads.
type reservedKey struct {
	name  string
	words []string
}

func reservedKeys() []reservedKey {
	return []reservedKey{
		{fleet.MergeKey, []string{"sum", "avg", "max", "min"}},
		{fleet.PartialKey, []string{fleet.PartialAllow}},
	}
}

// reservedFaults judges what a metric's selector says to the fleet: it may say
// it several times, but only one thing.
func reservedFaults(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	var faults field.ErrorList
	for _, key := range reservedKeys() {
		said := key.said(selector)
		if len(said) == 0 || len(said) == 1 && slices.Contains(key.words, said[0]) {
			continue
		}
		fault := fmt.Sprintf("%s takes one of %s: write it in matchLabels", key.name, strings.Join(key.words, ", "))
		faults = append(faults, field.Invalid(path, strings.Join(said, ","), fault).WithOrigin(ruleReservedKey))
	}
	return faults
}

// said are the values that a selector wants for a key, each once. Where it
// wants something else of them, that is one more, which no key takes.
func (k reservedKey) said(selector *metav1.LabelSelector) []string {
	said := sets.New[string]()
	if word, found := selector.MatchLabels[k.name]; found {
		said.Insert(word)
	}
	for _, r := range selector.MatchExpressions {
		switch {
		case r.Key != k.name:
		case r.Operator == metav1.LabelSelectorOpIn:
			said.Insert(r.Values...)
		default:
			said.Insert(string(r.Operator))
		}
	}
	return sets.List(said)
}

// distributedFaults refuses what a metric's selector says to the fleet where
// each cluster's autoscaler reads the metric of its own cluster.
func distributedFaults(metrics []autoscalingv2.MetricSpec, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for i, metric := range metrics {
		for _, s := range sources(metric, path.Index(i)) {
			if s.measures == nil || s.measures.Selector == nil {
				continue
			}
			for _, key := range fleet.ReservedKeys() {
				if len(reservedKey{name: key}.said(s.measures.Selector)) > 0 {
					faults = append(faults, field.Forbidden(s.path.Child("metric", "selector"), distributedFault(key)).WithOrigin(ruleReservedKey))
				}
			}
		}
	}
	return faults
}

func distributedFault(key string) string {
	why := key + " is for metrics of the fleet, and with federatedHPAAssignment each cluster reads its own: remove it"
	if key == fleet.ClusterLabel {
		why += ", and choose clusters by clusterAffinity"
	}
	return why + ", or remove federatedHPAAssignment for central mode"
}
