// SPDX-License-Identifier: Apache-2.0

package vpa

import (
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// What is read of a spec, as clients decode it. Nothing in it makes an object, or the list that it is in, unreadable.
func TestSpecs(t *testing.T) {
	web := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	const ref = `"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}`
	tests := map[string]struct {
		spec   string
		target autoscalingv2.CrossVersionObjectReference
		acts   bool
	}{
		"no update policy":       {`{` + ref + `}`, web, true},
		"no mode":                {`{` + ref + `,"updatePolicy":{"minReplicas":2}}`, web, true},
		"policy is null":         {`{` + ref + `,"updatePolicy":null}`, web, true},
		"Auto":                   {`{` + ref + `,"updatePolicy":{"updateMode":"Auto"}}`, web, true},
		"Initial":                {`{` + ref + `,"updatePolicy":{"updateMode":"Initial"}}`, web, true},
		"Recreate":               {`{` + ref + `,"updatePolicy":{"updateMode":"Recreate"}}`, web, true},
		"InPlaceOrRecreate":      {`{` + ref + `,"updatePolicy":{"updateMode":"InPlaceOrRecreate"}}`, web, true},
		"a mode yet to come":     {`{` + ref + `,"updatePolicy":{"updateMode":"off"}}`, web, true},
		"Off":                    {`{` + ref + `,"updatePolicy":{"updateMode":"Off"}}`, web, false},
		"a mode that is a list":  {`{"updatePolicy":{"updateMode":[]},` + ref + `}`, web, true},
		"a policy that is a bit": {`{"updatePolicy":true,` + ref + `}`, web, true},
		"no target":              {`{}`, autoscalingv2.CrossVersionObjectReference{}, true},
		"target is null":         {`{"targetRef":null}`, autoscalingv2.CrossVersionObjectReference{}, true},
		"target is a word":       {`{"targetRef":"web"}`, autoscalingv2.CrossVersionObjectReference{}, true},
		"a name that is a number": {`{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":5}}`,
			autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment"}, true},
		"spec is a list":   {`[{` + ref + `}]`, autoscalingv2.CrossVersionObjectReference{}, true},
		"spec is a number": {`1e999`, autoscalingv2.CrossVersionObjectReference{}, true},
		"spec is null":     {`null`, autoscalingv2.CrossVersionObjectReference{}, true},
		"what is not read": {`{` + ref + `,"resourcePolicy":{"containerPolicies":[{"maxAllowed":{"cpu":{}}}]}}`, web, true},
	}
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			items := strings.Repeat(`{"metadata":{"namespace":"shop","name":"web","labels":{"a":"b"}},"spec":`+tc.spec+`},`, 2)
			body := `{"apiVersion":"autoscaling.k8s.io/v1","kind":"VerticalPodAutoscalerList","items":[` + items[:len(items)-1] + `]}`
			object, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode([]byte(body), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			list := object.(*VerticalPodAutoscalerList)
			if len(list.Items) != 2 {
				t.Fatalf("%d objects, want 2", len(list.Items))
			}
			for i := range list.Items {
				v := &list.Items[i]
				fleettest.Same(t, "target", tc.target, v.Spec.TargetRef)
				if v.Acts() != tc.acts {
					t.Errorf("acts %t, want %t", v.Acts(), tc.acts)
				}
			}
		})
	}
}

func TestCopies(t *testing.T) {
	one := VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"a": "b"}}}
	one.Spec.UpdatePolicy.UpdateMode = modeOff
	list := &VerticalPodAutoscalerList{Items: []VerticalPodAutoscaler{one}}
	copied := list.DeepCopyObject().(*VerticalPodAutoscalerList)
	single := one.DeepCopyObject().(*VerticalPodAutoscaler)
	fleettest.Same(t, "list", list, copied)
	fleettest.Same(t, "one", &one, single)
	copied.Items[0].Labels["a"], single.Labels["a"] = "c", "c"
	if one.Labels["a"] != "b" {
		t.Error("a copy shares labels")
	}
}
