// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// field is one number of a target that a rule may set.
type field int

const (
	replicas field = iota
	minReplicas
	maxReplicas
	fields // how many there are
)

// values are numbers by field; nil says nothing of that field.
type values [fields]*int32

func valuesOf(rule *v1alpha1.CronFederatedHPARule) values {
	return values{replicas: rule.TargetReplicas, minReplicas: rule.TargetMinReplicas, maxReplicas: rule.TargetMaxReplicas}
}

func (v values) empty() bool { return v == values{} }

// with returns v where other says nothing, and else other.
func (v values) with(other values) values {
	for f := range fields {
		if other[f] != nil {
			v[f] = other[f]
		}
	}
	return v
}

// without returns what of v is not the same in other.
func (v values) without(other values) values {
	for f := range fields {
		if ptr.Equal(v[f], other[f]) {
			v[f] = nil
		}
	}
	return v
}

// String is such as "minReplicas 10 and maxReplicas 20".
func (v values) String() string {
	var parts []string
	for f, name := range []string{"replicas", "minReplicas", "maxReplicas"} {
		if v[f] != nil {
			parts = append(parts, fmt.Sprintf("%s %d", name, *v[f]))
		}
	}
	return strings.Join(parts, " and ")
}

// misfit says why a target that has these values after set was applied could
// not work, or "". Only a target that is a FederatedHPA has bounds; one without
// minReplicas has 1. mayHaveNone says that its minReplicas may be 0.
func misfit(has, set values, mayHaveNone bool) string {
	after := has.with(set)
	least, most := ptr.Deref(after[minReplicas], 1), after[maxReplicas]
	switch {
	case most == nil:
		return ""
	case least == 0 && set[minReplicas] != nil && !mayHaveNone:
		return "minReplicas 0 needs an Object or External metric in the FederatedHPA, which has none"
	case least <= *most:
		return ""
	case set[minReplicas] != nil:
		return fmt.Sprintf("minReplicas %d would exceed maxReplicas %d", least, *most)
	}
	return fmt.Sprintf("maxReplicas %d would be below minReplicas %d", *most, least)
}
