// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
)

const (
	maxKind       = 63
	maxName       = 253
	maxAPIVersion = 317
)

// scaleTargetFaults judges the workload of a FederatedHPA.
func scaleTargetFaults(target autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	coreGroup := target.Kind == "ReplicationController"
	if faults := referenceFaults(target, path, coreGroup); len(faults) > 0 {
		return faults
	}
	if isAutoscaler(target.Kind) {
		return field.ErrorList{field.Invalid(path.Child("kind"), target.Kind,
			"is an autoscaler itself: name the workload that it scales").WithOrigin(ruleTargetAutoscaler)}
	}
	return scalableFaults(target, path)
}

// cronTargetFaults judges the target of a CronFederatedHPA: an autoscaler that has
// bounds, or a workload.
func cronTargetFaults(target autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	if !meansAutoscaler(target) {
		return scaleTargetFaults(target, path)
	}
	const kinds = v1alpha1.FederatedHPAKind + " or " + v1alpha1.MultidimPodAutoscalerKind
	ours := v1alpha1.SchemeGroupVersion.String()
	return slices.Concat(
		referenceFaults(target, path, true),
		when(target.APIVersion != ours, field.Invalid(path.Child("apiVersion"), target.APIVersion,
			"must be "+ours+" if kind is "+kinds).WithOrigin(ruleCronTarget)),
		when(target.Kind != "" && !hasBounds(target.Kind), field.Invalid(path.Child("kind"), target.Kind,
			"must be "+kinds+" if apiVersion is "+ours).WithOrigin(ruleCronTarget)),
	)
}

// meansAutoscaler reports whether one of ours is meant, if only by the group or by
// the kind.
func meansAutoscaler(target autoscalingv2.CrossVersionObjectReference) bool {
	return claims.Group(target) == v1alpha1.GroupName || hasBounds(target.Kind)
}

// hasBounds reports whether rules may set those of an autoscaler of a kind.
func hasBounds(kind string) bool {
	return kind == v1alpha1.FederatedHPAKind || kind == v1alpha1.MultidimPodAutoscalerKind
}

// referenceFaults judges a reference as Kubernetes does.
func referenceFaults(ref autoscalingv2.CrossVersionObjectReference, path *field.Path, coreGroup bool) field.ErrorList {
	return slices.Concat(
		segmentFaults(ref.Kind, "", path.Child("kind"), ruleReferenceKind),
		noLonger(ref.Kind, maxKind, path.Child("kind")),
		segmentFaults(ref.Name, "", path.Child("name"), ruleReferenceName),
		noLonger(ref.Name, maxName, path.Child("name")),
		noLonger(ref.APIVersion, maxAPIVersion, path.Child("apiVersion")),
		apiVersionFaults(ref.APIVersion, path.Child("apiVersion"), coreGroup),
	)
}

func apiVersionFaults(version string, path *field.Path, coreGroup bool) field.ErrorList {
	switch gv, err := schema.ParseGroupVersion(version); {
	case err != nil:
		return field.ErrorList{field.Invalid(path, version, err.Error()).WithOrigin(ruleReferenceAPIVersion)}
	case gv.Group == "" && !coreGroup:
		return field.ErrorList{field.Invalid(path, version, "apiVersion must specify API group").WithOrigin(ruleReferenceAPIVersion)}
	}
	return nil
}

// segmentFaults judges what becomes a part of a URL.
func segmentFaults(value, required string, path *field.Path, rule string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, required).WithOrigin(rule)}
	}
	return invalid(content.IsPathSegmentName(value), path, value, rule)
}

func isAutoscaler(kind string) bool {
	return slices.Contains([]string{
		"HorizontalPodAutoscaler", "VerticalPodAutoscaler", "MultidimPodAutoscaler", "CronHorizontalPodAutoscaler",
		"ScaledObject", "ScaledJob", v1alpha1.FederatedHPAKind, v1alpha1.CronFederatedHPAKind,
	}, kind)
}

// scalableFaults refuses what cannot have a scale subresource. Groups without
// a dot are Kubernetes' own: of a CustomResourceDefinition's group one is asked.
func scalableFaults(target autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	switch group := claims.Group(target); {
	case group == "apps":
		return oneOf(target.Kind, path.Child("kind"), ruleTargetScalable, "Deployment", "ReplicaSet", "StatefulSet")
	case group != "" && !strings.Contains(group, "."):
		return field.ErrorList{field.Invalid(path.Child("apiVersion"), target.APIVersion,
			`there is nothing to scale in this group: did you mean "apps/v1"?`).WithOrigin(ruleTargetScalable)}
	}
	return nil
}
