// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

func goalsFaults(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) field.ErrorList {
	if spec.Goals == nil {
		return nil
	}
	at := path.Child("goals")
	metrics := at.Child("metrics")
	shared := sharedGoals(spec, metrics)
	return slices.Concat(
		atMost(len(spec.Goals.Metrics), maxGoals, metrics),
		when(len(spec.Goals.Metrics) == 0, field.Required(metrics,
			"must have at least one metric: add one, or remove goals").WithOrigin(ruleGoals)),
		when(spec.Constraints.Global == nil, field.Forbidden(at, "needs bounds of the replicas: set constraints.global with minReplicas and "+
			"maxReplicas, or remove goals").WithOrigin(ruleGoalsNeedBounds)),
		orNone(spec.Goals.UtilizationBase, at.Child("utilizationBase"), ruleEnum, v1alpha1.BaseTemplateRequest, v1alpha1.BaseMaxAllowed,
			v1alpha1.BaseLiveRequest),
		baseFaults(spec, shared, path),
		limitsFaults(spec, shared, path.Child("constraints", "container")),
	)
}

// sharedGoal is a goal that is a resource's which is sized, too.
type sharedGoal struct {
	path        *field.Path
	resource    corev1.ResourceName
	container   string // empty: that of the whole Pod
	utilization bool
}

// sharedGoals are those of the goals. Which containers a Pod has is not known
// here: one that has no entry may be there.
func sharedGoals(spec *v1alpha1.MultidimPodAutoscalerSpec, path *field.Path) []sharedGoal {
	var shared []sharedGoal
	for i, metric := range spec.Goals.Metrics {
		if g := resourceGoal(metric, path.Index(i)); g != nil && g.sized(spec) {
			shared = append(shared, *g)
		}
	}
	return shared
}

func resourceGoal(metric autoscalingv2.MetricSpec, path *field.Path) *sharedGoal {
	name, container, target := v1alpha1.ResourceOf(&metric)
	if target == nil {
		return nil
	}
	return &sharedGoal{path, name, container, target.AverageUtilization != nil}
}

func (g *sharedGoal) sized(spec *v1alpha1.MultidimPodAutoscalerSpec) bool {
	if g.container != "" {
		return spec.Sized(g.container, g.resource)
	}
	return spec.Sized(v1alpha1.AnyContainer, g.resource) || slices.ContainsFunc(spec.Constraints.Container,
		func(c v1alpha1.ContainerConstraint) bool { return spec.Sized(c.Name, g.resource) })
}

// concerns reports whether an entry is that of a container of the goal.
func (g *sharedGoal) concerns(entry string, all []v1alpha1.ContainerConstraint) bool {
	named := slices.ContainsFunc(all, func(c v1alpha1.ContainerConstraint) bool { return c.Name == g.container })
	return g.container == "" || entry == g.container || entry == v1alpha1.AnyContainer && !named
}

// baseFaults refuses a base that sizes move, and one that is not there.
func baseFaults(spec *v1alpha1.MultidimPodAutoscalerSpec, shared []sharedGoal, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	containers, at := spec.Constraints.Container, path.Child("constraints", "container")
	missing := map[string]bool{}
	for _, g := range shared {
		switch {
		case !g.utilization:
		case spec.Goals.UtilizationBase == v1alpha1.BaseLiveRequest:
			fault := fmt.Sprintf("%s is the utilization of %s, which is sized: Pods would get smaller because there are many, and more because "+
				"they are small: write TemplateRequest, or take %s out of containerControlledResources", g.path, g.resource, g.resource)
			return field.ErrorList{field.Invalid(path.Child("goals", "utilizationBase"), spec.Goals.UtilizationBase,
				fault).WithOrigin(ruleLiveRequest)}
		case spec.Goals.UtilizationBase == v1alpha1.BaseMaxAllowed:
			for _, place := range withoutMax(&g, containers, at) {
				if missing[place.String()] {
					continue
				}
				missing[place.String()] = true
				fault := fmt.Sprintf("utilizationBase MaxAllowed needs a maxAllowed of %s for each container that is sized: set it, or write "+
					"TemplateRequest", g.resource)
				faults = append(faults, field.Required(place, fault).WithOrigin(ruleMaxAllowed))
			}
		}
	}
	return faults
}

// withoutMax are the places where the most of a goal's resource is not said.
func withoutMax(g *sharedGoal, containers []v1alpha1.ContainerConstraint, path *field.Path) []*field.Path {
	var places []*field.Path
	concerned := false
	for i, c := range containers {
		if !g.concerns(c.Name, containers) {
			continue
		}
		concerned = true
		if c.Mode != v1alpha1.ContainerOff && c.Requests.MaxAllowed.Of(g.resource) == nil {
			places = append(places, path.Index(i).Child("requests", "maxAllowed", string(g.resource)))
		}
	}
	if !concerned {
		return []*field.Path{path}
	}
	return places
}

// limitsFaults refuses limits that shrink with requests where a goal measures the
// use: it would never see more than they let through.
func limitsFaults(spec *v1alpha1.MultidimPodAutoscalerSpec, shared []sharedGoal, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for i, c := range spec.Constraints.Container {
		if c.ControlledValues != v1alpha1.ControlsRequestsAndLimits || c.Mode == v1alpha1.ContainerOff {
			continue
		}
		by := slices.IndexFunc(shared, func(g sharedGoal) bool { return g.concerns(c.Name, spec.Constraints.Container) })
		if by < 0 {
			continue
		}
		fault := fmt.Sprintf("%s measures the use of %s, which a limit that shrinks would hide: write RequestsOnly, or leave it out: then the "+
			"limits of other resources are sized", shared[by].path, shared[by].resource)
		faults = append(faults, field.Invalid(path.Index(i).Child("controlledValues"), c.ControlledValues, fault).WithOrigin(ruleGoalHidden))
	}
	return faults
}
