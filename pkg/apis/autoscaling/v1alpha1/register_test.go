// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestSchemeKnowsTheKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for kind, object := range map[string]runtime.Object{
		FederatedHPAKind: &FederatedHPA{}, FederatedHPAKind + "List": &FederatedHPAList{},
		CronFederatedHPAKind: &CronFederatedHPA{}, CronFederatedHPAKind + "List": &CronFederatedHPAList{},
		MultidimPodAutoscalerKind: &MultidimPodAutoscaler{}, MultidimPodAutoscalerKind + "List": &MultidimPodAutoscalerList{},
		MultidimPodAutoscalerHistoryKind:          &MultidimPodAutoscalerHistory{},
		MultidimPodAutoscalerHistoryKind + "List": &MultidimPodAutoscalerHistoryList{},
	} {
		kinds, _, err := scheme.ObjectKinds(object)
		if err != nil || !slices.Contains(kinds, SchemeGroupVersion.WithKind(kind)) {
			t.Errorf("%T is %v (%v), want %s", object, kinds, err, kind)
		}
	}
	if got := Resource("federatedhpas").String(); got != "federatedhpas.autoscaling.karmada.io" {
		t.Errorf("Resource = %s", got)
	}
}
