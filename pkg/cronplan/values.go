// SPDX-License-Identifier: Apache-2.0

package cronplan

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// The fields of a target that a rule may set.
const (
	Replicas = iota
	MinReplicas
	MaxReplicas
	fields // how many there are
)

// Values are numbers by field; nil says nothing of that field.
type Values [fields]*int32

func valuesOf(rule *v1alpha1.CronFederatedHPARule) Values {
	return Values{Replicas: rule.TargetReplicas, MinReplicas: rule.TargetMinReplicas, MaxReplicas: rule.TargetMaxReplicas}
}

// Empty reports whether they say nothing of any field.
func (v Values) Empty() bool { return v == Values{} }

// with returns v where other says nothing, and else other.
func (v Values) with(other Values) Values {
	for f := range fields {
		if other[f] != nil {
			v[f] = other[f]
		}
	}
	return v
}

// without returns what of v is not the same in other.
func (v Values) without(other Values) Values {
	for f := range fields {
		if ptr.Equal(v[f], other[f]) {
			v[f] = nil
		}
	}
	return v
}

// String is such as "minReplicas 10 and maxReplicas 20".
func (v Values) String() string {
	var parts []string
	for f, name := range []string{"replicas", "minReplicas", "maxReplicas"} {
		if v[f] != nil {
			parts = append(parts, fmt.Sprintf("%s %d", name, *v[f]))
		}
	}
	return strings.Join(parts, " and ")
}

// misfit returns why a target that has these Values after set was applied could
// not work, or "". Only a target that is an autoscaler has bounds; one without
// minReplicas has 1. mayHaveNone says that its minReplicas may be 0.
func misfit(has, set Values, mayHaveNone bool) string {
	after := has.with(set)
	least, most := ptr.Deref(after[MinReplicas], 1), after[MaxReplicas]
	switch {
	case most == nil:
		return ""
	case least == 0 && set[MinReplicas] != nil && !mayHaveNone:
		return "minReplicas 0 needs a FederatedHPA with an Object or External metric"
	case least <= *most:
		return ""
	case set[MinReplicas] != nil:
		return fmt.Sprintf("minReplicas %d would exceed maxReplicas %d", least, *most)
	}
	return fmt.Sprintf("maxReplicas %d would be below minReplicas %d", *most, least)
}
