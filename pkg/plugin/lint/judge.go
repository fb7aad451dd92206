// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"regexp"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// judge has all objects judged as the hub would, those without a namespace in this one.
func judge(objects []object, namespace string) []Finding {
	var found []Finding
	mutated := make([][]string, len(objects))
	beside := map[string]*admission.Neighbours{}
	for i := range objects {
		o := &objects[i]
		found = append(found, o.before...)
		if o.value == nil {
			continue
		}
		if o.value.GetNamespace() == "" {
			o.value.SetNamespace(namespace)
		}
		in := beside[o.value.GetNamespace()]
		if in == nil {
			in = &admission.Neighbours{}
			beside[o.value.GetNamespace()] = in
		}
		mutated[i] = mutate(o, in)
	}
	for i := range objects {
		o := &objects[i]
		if o.value == nil {
			continue
		}
		faults, warnings := validate(o, *beside[o.value.GetNamespace()])
		for _, fault := range faults {
			found = append(found, o.finding(Error, fault.Origin, fault.Field, fault.Error()))
		}
		for _, warning := range append(mutated[i], warnings...) {
			found = append(found, o.finding(Warning, "", pathOf(warning), warning))
		}
	}
	return found
}

// mutate completes an object, and adds it to those that stand beside the others of its namespace.
func mutate(o *object, in *admission.Neighbours) (warnings []string) {
	switch value := o.value.(type) {
	case *v1alpha1.FederatedHPA:
		in.FederatedHPAs = append(in.FederatedHPAs, value)
		return admission.MutateFederatedHPA(value)
	case *v1alpha1.CronFederatedHPA:
		in.CronFederatedHPAs = append(in.CronFederatedHPAs, value)
		return admission.MutateCronFederatedHPA(value)
	case *v1alpha1.MultidimPodAutoscaler:
		in.MultidimPodAutoscalers = append(in.MultidimPodAutoscalers, value)
		return admission.MutateMultidimPodAutoscaler(value)
	case *autoscalingv2.HorizontalPodAutoscaler:
		in.HPAs = append(in.HPAs, value)
	}
	return nil
}

func validate(o *object, beside admission.Neighbours) (field.ErrorList, []string) {
	switch value := o.value.(type) {
	case *v1alpha1.FederatedHPA:
		return admission.ValidateFederatedHPA(value, nil, beside)
	case *v1alpha1.CronFederatedHPA:
		return admission.ValidateCronFederatedHPA(value, nil, beside)
	case *v1alpha1.MultidimPodAutoscaler:
		return admission.ValidateMultidimPodAutoscaler(value, nil, beside)
	}
	return nil, nil
}

var leadingPath = regexp.MustCompile(`^((?:spec|metadata)[\w.\[\]/-]*): `)

// pathOf is the field that a warning begins with; empty if it names none.
func pathOf(warning string) string {
	if path := leadingPath.FindStringSubmatch(warning); path != nil {
		return path[1]
	}
	return ""
}
