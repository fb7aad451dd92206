// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	leastPercentile = 50
	mostPercentile  = 99
)

func sizedResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

func controlledFaults(names []corev1.ResourceName, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for i, name := range names {
		faults = append(faults, oneOf(name, path.Index(i), ruleControlled, sizedResources()...)...)
		if slices.Contains(names[:i], name) {
			faults = append(faults, field.Duplicate(path.Index(i), name).WithOrigin(ruleControlled))
		}
	}
	return faults
}

func containersFaults(containers []v1alpha1.ContainerConstraint, path *field.Path) field.ErrorList {
	seen := map[string]bool{}
	return append(atMost(len(containers), maxContainers, path),
		each(containers, path, func(c v1alpha1.ContainerConstraint, at *field.Path) field.ErrorList {
			repeated := c.Name != "" && seen[c.Name]
			seen[c.Name] = true
			return constraintFaults(c, repeated, at)
		})...)
}

func constraintFaults(c v1alpha1.ContainerConstraint, repeated bool, path *field.Path) field.ErrorList {
	percentile := path.Child("targetPercentile")
	return slices.Concat(
		containerNameFaults(c.Name, path.Child("name")),
		when(repeated, field.Duplicate(path.Child("name"), c.Name).WithOrigin(ruleContainerRepeated)),
		orNone(c.Mode, path.Child("mode"), ruleEnum, v1alpha1.ContainerAuto, v1alpha1.ContainerOff),
		orNone(c.ControlledValues, path.Child("controlledValues"), ruleEnum, v1alpha1.ControlsRequestsAndLimits, v1alpha1.ControlsRequestsOnly),
		allowedFaults(c.Requests, path.Child("requests")),
		within(c.TargetPercentile.CPU, leastPercentile, mostPercentile, percentile.Child("cpu"), rulePercentile),
		within(c.TargetPercentile.Memory, leastPercentile, mostPercentile, percentile.Child("memory"), rulePercentile),
		within(c.MarginPercent, 0, 100, path.Child("marginPercent"), ruleMargin),
	)
}

func containerNameFaults(name string, path *field.Path) field.ErrorList {
	switch name {
	case "":
		return field.ErrorList{field.Required(path, `must name a container, or be "*" for all others`).WithOrigin(ruleContainer)}
	case v1alpha1.AnyContainer:
		return nil
	}
	var faults field.ErrorList
	for _, fault := range validation.IsDNS1123Label(name) {
		faults = append(faults, field.Invalid(path, name, fault+`, or it is "*" for all others`).WithOrigin(ruleContainer))
	}
	return faults
}

// allowedFaults refuses what no request can be, and a least above the most.
func allowedFaults(bounds v1alpha1.RequestBounds, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, name := range sizedResources() {
		least, most := bounds.MinAllowed.Of(name), bounds.MaxAllowed.Of(name)
		atMost := path.Child("maxAllowed", string(name))
		wrong := append(amountFaults(name, least, path.Child("minAllowed", string(name))), amountFaults(name, most, atMost)...)
		if least != nil && most != nil && len(wrong) == 0 && least.Cmp(*most) > 0 {
			wrong = field.ErrorList{field.Invalid(atMost, most.String(),
				fmt.Sprintf("must be greater than or equal to minAllowed, which is %s", least)).WithOrigin(ruleAllowedOrder)}
		}
		faults = append(faults, wrong...)
	}
	return faults
}

func amountFaults(name corev1.ResourceName, q *resource.Quantity, path *field.Path) field.ErrorList {
	if q == nil {
		return nil
	}
	refuse := func(fault string) field.ErrorList {
		return field.ErrorList{field.Invalid(path, q.String(), fault).WithOrigin(ruleAllowed)}
	}
	switch {
	case q.Sign() != 1:
		return refuse("must be positive")
	case q.Cmp(*resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)) > 0:
		return refuse(fmt.Sprintf("must be at most %d", math.MaxInt64/1000))
	case name == corev1.ResourceCPU && q.Cmp(*resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI)) != 0:
		return refuse("must be whole thousandths of a core, such as 250m")
	case name == corev1.ResourceMemory && q.Cmp(*resource.NewQuantity(q.Value(), resource.BinarySI)) != 0:
		return refuse("must be whole bytes, such as 512Mi")
	}
	return nil
}

// sizingWarnings tells of what is not sized although something is said of it.
func sizingWarnings(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) []string {
	controlled, at := spec.ControlledResources(), path.Child("constraints")
	var warnings []string
	if len(controlled) == 0 {
		warnings = append(warnings, fmt.Sprintf("%s: nothing is sized, because the utilization of both cpu and memory is a goal: name what is "+
			"to be sized all the same, or use a FederatedHPA", at.Child("containerControlledResources")))
	}
	for i, c := range spec.Constraints.Container {
		for _, name := range sizedResources() {
			if c.Requests.MinAllowed.Of(name) == nil && c.Requests.MaxAllowed.Of(name) == nil {
				continue
			}
			entry := at.Child("container").Index(i).Child("requests")
			switch {
			case c.Mode == v1alpha1.ContainerOff:
				warnings = append(warnings, noEffect(entry, fmt.Sprintf("on %s with mode Off", name)))
			case !slices.Contains(controlled, name):
				warnings = append(warnings, noEffect(entry, fmt.Sprintf("on %s, which is not sized", name)))
			}
		}
	}
	if spec.Goals != nil && spec.Goals.UtilizationBase == v1alpha1.BaseMaxAllowed {
		for i, metric := range spec.Goals.Metrics {
			if g := resourceGoal(metric, path.Child("goals", "metrics").Index(i)); g != nil && g.utilization && !g.sized(spec) {
				warnings = append(warnings, fmt.Sprintf("%s: MaxAllowed is not the base of %s, since %s is not sized there: name it in "+
					"containerControlledResources, or write TemplateRequest", path.Child("goals", "utilizationBase"), g.path, g.resource))
			}
		}
	}
	return warnings
}
