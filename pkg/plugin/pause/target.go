// SPDX-License-Identifier: Apache-2.0

package pause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Target is an object that is meant.
type Target struct {
	Kind, Resource, Name string
}

type kind struct {
	name, resource string
	words          []string // in lower case, without the group
}

func kinds() []kind {
	return []kind{
		{v1alpha1.FederatedHPAKind, "federatedhpas", []string{"fhpa", "federatedhpa", "federatedhpas"}},
		{v1alpha1.MultidimPodAutoscalerKind, "multidimpodautoscalers", []string{"mpa", "multidimpodautoscaler", "multidimpodautoscalers"}},
		{v1alpha1.CronFederatedHPAKind, "cronfederatedhpas", []string{"cronfhpa", "cronfederatedhpa", "cronfederatedhpas"}},
	}
}

// Words are the short names of the kinds.
func Words() []string {
	var words []string
	for _, k := range kinds() {
		words = append(words, k.words[0])
	}
	return words
}

// Resource is the plural name of a kind, by any of its words.
func Resource(word string) (resource string, known bool) {
	k, known := kindOf(word)
	return k.resource, known
}

func kindOf(word string) (kind, bool) {
	word = strings.TrimSuffix(strings.ToLower(word), "."+v1alpha1.GroupName)
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return slices.Contains(k.words, word) })
	if i < 0 {
		return kind{}, false
	}
	return all[i], true
}

// ParseTargets reads arguments as kubectl does: KIND/NAME..., or KIND NAME....
func ParseTargets(args []string) ([]Target, error) {
	var targets []Target
	var of *kind
	for i, arg := range args {
		word, name, slash := strings.Cut(arg, "/")
		switch {
		case slash && of != nil:
			return nil, fmt.Errorf("%q: give either KIND NAME... or KIND/NAME..., not both", arg)
		case slash:
			k, known := kindOf(word)
			if !known || name == "" || strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q: give KIND/NAME, with one of the kinds %s", arg, strings.Join(Words(), ", "))
			}
			targets = append(targets, Target{k.name, k.resource, name})
		case i == 0:
			k, known := kindOf(word)
			if !known {
				return nil, fmt.Errorf("%q is no kind of autoscaler: give KIND/NAME, with one of the kinds %s", arg, strings.Join(Words(), ", "))
			}
			of = &k
		case of == nil:
			return nil, fmt.Errorf("%q: give either KIND NAME... or KIND/NAME..., not both", arg)
		default:
			targets = append(targets, Target{of.name, of.resource, arg})
		}
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("no name: give KIND/NAME, with one of the kinds %s", strings.Join(Words(), ", "))
	}
	return targets, nil
}
