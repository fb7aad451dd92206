// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"regexp"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const maxActAfterSeconds = 30 * 24 * 60 * 60

var percentage = regexp.MustCompile(`^([1-9][0-9]?|100)%$`)

func updateFaults(p *v1alpha1.UpdatePolicy, path *field.Path) field.ErrorList {
	faults := orNone(p.UpdateMode, path.Child("updateMode"), ruleEnum, v1alpha1.UpdateModeOff, v1alpha1.UpdateModeInitial,
		v1alpha1.UpdateModeInPlace, v1alpha1.UpdateModeInPlaceOrRecreate, v1alpha1.UpdateModeRecreate, v1alpha1.UpdateModeAuto)
	faults = append(faults, within(p.MinReplicas, 1, math.MaxInt32, path.Child("minReplicas"), ruleUpdateBudget)...)
	if m := p.MaxUnavailable; m != nil && !budget(*m) {
		faults = append(faults, field.Invalid(path.Child("maxUnavailable"), m.String(),
			"must be a number from 1, or a percentage from 1% to 100%").WithOrigin(ruleUpdateBudget))
	}
	faults = append(faults, orNone(p.EvictOn, path.Child("evictOn"), ruleEnum, v1alpha1.EvictOnAny, v1alpha1.EvictOnOOM,
		v1alpha1.EvictOnNever)...)
	faults = append(faults, within(p.ActAfterSeconds, 0, maxActAfterSeconds, path.Child("actAfterSeconds"), ruleActAfter)...)
	return append(faults, orNone(p.Rollout, path.Child("rollout"), ruleEnum, v1alpha1.RolloutOneByOne, v1alpha1.RolloutAllClusters)...)
}

func budget(m intstr.IntOrString) bool {
	if m.Type == intstr.Int {
		return m.IntVal >= 1
	}
	return percentage.MatchString(m.StrVal)
}

// updateWarnings are of what no Pod will ever notice. What merely repeats a
// default is ignored.
func updateWarnings(p *v1alpha1.UpdatePolicy, path *field.Path) []string {
	mode := p.UpdateMode
	if mode == "" {
		mode = v1alpha1.UpdateModeOff
	}
	evicts := mode == v1alpha1.UpdateModeInPlaceOrRecreate || mode == v1alpha1.UpdateModeRecreate || mode == v1alpha1.UpdateModeAuto
	changes := evicts || mode == v1alpha1.UpdateModeInPlace
	var warnings []string
	for _, f := range []struct {
		set, needed bool
		name        string
	}{
		{p.MinReplicas != nil && *p.MinReplicas != v1alpha1.DefaultUpdateMinReplicas, changes, "minReplicas"},
		{p.MaxUnavailable != nil && p.MaxUnavailable.String() != v1alpha1.DefaultUpdateMaxUnavailable, changes, "maxUnavailable"},
		{p.ActAfterSeconds != nil && *p.ActAfterSeconds != 0, changes, "actAfterSeconds"},
		{p.EvictOn != "" && p.EvictOn != v1alpha1.EvictOnAny, evicts, "evictOn"},
		{p.Rollout != "" && p.Rollout != v1alpha1.RolloutOneByOne, evicts, "rollout"},
	} {
		if f.set && !f.needed {
			warnings = append(warnings, noEffect(path.Child(f.name), fmt.Sprintf("with updateMode %s", mode)))
		}
	}
	if mode == v1alpha1.UpdateModeRecreate && p.EvictOn == v1alpha1.EvictOnNever {
		warnings = append(warnings, fmt.Sprintf("%s: no Pod is evicted, so that only new ones get their size: that is what updateMode "+
			"Initial says", path.Child("evictOn")))
	}
	return warnings
}
