// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	labelvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxMatchLabels      = 64
	maxMatchExpressions = 32
	maxSelectorValues   = 100
)

// selectorFaults refuses a selector that can not be read.
func selectorFaults(selector *metav1.LabelSelector, path *field.Path, rule string) field.ErrorList {
	if selector == nil {
		return nil
	}
	faults := labelvalidation.ValidateLabelSelector(selector, labelvalidation.LabelSelectorValidationOptions{}, path).WithOrigin(rule)
	// Those of matchLabels come in the order of a map.
	slices.SortStableFunc(faults, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	faults = append(faults, atMost(len(selector.MatchLabels), maxMatchLabels, path.Child("matchLabels"))...)
	faults = append(faults, atMost(len(selector.MatchExpressions), maxMatchExpressions, path.Child("matchExpressions"))...)
	for i, requirement := range selector.MatchExpressions {
		faults = append(faults, atMost(len(requirement.Values), maxSelectorValues, path.Child("matchExpressions").Index(i).Child("values"))...)
	}
	return faults
}

// reservedKey is a key of a metric's selector that the fleet itself reads.
type reservedKey struct {
	name  string
	words []string
}

func reservedKeys() []reservedKey {
	return []reservedKey{
		{"fleetscale.io/merge", []string{"sum", "avg", "max", "min"}},
		{"fleetscale.io/partial", []string{"allow"}},
	}
}

// reservedFaults judges what a metric's selector says to the fleet.
func reservedFaults(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	var faults field.ErrorList
	for _, key := range reservedKeys() {
		var said int
		if word, found := selector.MatchLabels[key.name]; found {
			said++
			faults = append(faults, key.faults(!slices.Contains(key.words, word), word, path.Child("matchLabels").Key(key.name))...)
		}
		for i, r := range selector.MatchExpressions {
			if r.Key != key.name {
				continue
			}
			said++
			one := said == 1 && r.Operator == metav1.LabelSelectorOpIn && len(r.Values) == 1 && slices.Contains(key.words, r.Values[0])
			faults = append(faults, key.faults(!one, strings.Join(r.Values, ","), path.Child("matchExpressions").Index(i))...)
		}
	}
	return faults
}

func (k reservedKey) faults(wrong bool, value string, path *field.Path) field.ErrorList {
	if !wrong {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("%s is read by the fleet: write it once, in matchLabels, with one of %s", k.name, strings.Join(k.words, ", "))).WithOrigin(ruleReservedKey)}
}
