// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Each field of the spec is one that decisions are made again by, or is named where it differs. A new one has to be judged, too.
func TestIgnored(t *testing.T) {
	changeable := []string{"minReplicas", "maxReplicas", "metrics", "behavior"}
	kinds := []reflect.Type{reflect.TypeFor[v1alpha1.FederatedHPASpec](), reflect.TypeFor[autoscalingv2.HorizontalPodAutoscalerSpec]()}
	for _, kind := range kinds {
		for i := range kind.NumField() {
			field := kind.Field(i)
			if field.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			now := &v1alpha1.FederatedHPASpec{}
			fill(t, reflect.ValueOf(now).Elem().FieldByName(field.Name))
			want := name
			if slices.Contains(changeable, name) {
				want = ""
			}
			if got := Ignored(now, &v1alpha1.FederatedHPASpec{}); got != want {
				t.Errorf("spec.%s is another: %q is named, want %q", name, got, want)
			}
		}
	}
}

// fill sets a value to another than its zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		fill(t, v.Field(0))
	default:
		t.Fatalf("a field is of the kind %s, which this test does not know", v.Kind())
	}
}
