// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/merge"
)

// A selector is accepted exactly if the adapter can read it when it is asked.
func TestSelectorsAreThoseThatTheAdapterReads(t *testing.T) {
	w := newWriter(3)
	verdicts := map[bool]int{}
	for range specs {
		selector := w.selector()
		if selector == nil {
			continue
		}
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err == nil {
			_, _, err = merge.Choose(parsed)
		}
		ours := faults(withSelector(selector), nil)
		if (err == nil) != (len(ours) == 0) {
			t.Errorf("%+v: the adapter says %v, we say %v", selector, err, ours)
		}
		verdicts[err == nil]++
	}
	if verdicts[true] < specs/10 || verdicts[false] < specs/20 {
		t.Errorf("accepted %d and refused %d selectors: too much of one kind", verdicts[true], verdicts[false])
	}
}

func withSelector(selector *metav1.LabelSelector) autoscalingv2.HorizontalPodAutoscalerSpec {
	goal := resource.MustParse("5")
	return autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"},
		MaxReplicas:    10,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "queue", Selector: selector},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &goal},
		}}},
	}
}
