// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Ignored returns the first field, below spec, that differs and that the sums of an explanation tell nothing about; "": there is none.
func Ignored(now, before *v1alpha1.FederatedHPASpec) string {
	return differing(unknown(now), unknown(before))
}

// differing returns the first field that differs; "": there is none.
func differing(now, before *v1alpha1.FederatedHPASpec) string {
	return firstOther(reflect.ValueOf(*now), reflect.ValueOf(*before))
}

// unknown is the spec without the fields by which a decision can be made again.
func unknown(spec *v1alpha1.FederatedHPASpec) *v1alpha1.FederatedHPASpec {
	bare := *spec
	bare.MinReplicas, bare.MaxReplicas, bare.Metrics, bare.Behavior = nil, 0, nil, nil
	return &bare
}

func firstOther(a, b reflect.Value) string {
	for i := range a.NumField() {
		field := a.Type().Field(i)
		switch name, _, _ := strings.Cut(field.Tag.Get("json"), ","); {
		case equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()):
		case field.Anonymous:
			return firstOther(a.Field(i), b.Field(i))
		default:
			return name
		}
	}
	return ""
}
