// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	metricsv1 "k8s.io/metrics/pkg/apis/metrics/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	historyv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// An API server builds its OpenAPI document lazily: a definition that is missing shows only as an empty document in
// the logs, and kubectl then knows no fields. So each reference is followed here.
func TestEveryReferenceIsDefined(t *testing.T) {
	referenced := map[string]bool{}
	definitions := GetOpenAPIDefinitions(func(name string) spec.Ref {
		referenced[name] = true
		return spec.MustCreateRef(name)
	})
	for name := range referenced {
		if _, found := definitions[name]; !found {
			t.Errorf("%s is referred to and not defined: add its package to `make generate`", name)
		}
	}
}

func TestEveryServedKindIsDefined(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		metricsv1.AddToScheme, metricsv1beta1.AddToScheme, membersv1alpha1.AddToScheme, historyv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	definitions := GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(name) })
	for _, version := range []string{"v1", "v1beta1"} {
		for _, kind := range []string{"PodMetrics", "PodMetricsList", "NodeMetrics", "NodeMetricsList"} {
			name, err := scheme.ToOpenAPIDefinitionName(schema.GroupVersionKind{Group: "metrics.k8s.io", Version: version, Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			if _, found := definitions[name]; !found {
				t.Errorf("metrics.k8s.io/%s %s has no definition under the name %s that the API server expects", version, kind, name)
			}
		}
	}
	for kind, version := range map[string]schema.GroupVersion{
		"Member": membersv1alpha1.SchemeGroupVersion, "MemberList": membersv1alpha1.SchemeGroupVersion,
		"FederatedHPAHistory": historyv1alpha1.SchemeGroupVersion, "MultidimPodAutoscalerHistory": historyv1alpha1.SchemeGroupVersion,
	} {
		name, err := scheme.ToOpenAPIDefinitionName(version.WithKind(kind))
		if err != nil {
			t.Fatal(err)
		}
		if _, found := definitions[name]; !found {
			t.Errorf("%s has no definition under the name %s that the API server expects", kind, name)
		}
	}
}
