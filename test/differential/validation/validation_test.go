// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	upstreamv2 "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"

	"github.com/fleetscale/fleetscale/pkg/admission"
	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const specs = 20_000

// stricter are the rules by which we refuse what Kubernetes accepts.
var stricter = []string{
	"MetricRepeated", "MetricSelector", "ReservedKey", "ResourceName", "Size", "TargetAutoscaler", "TargetBoth",
	"TargetFits", "TargetScalable",
}

func TestCreation(t *testing.T) {
	w := newWriter(1)
	used, agreed := map[string]bool{}, map[bool]int{}
	for range specs {
		spec := w.spec()
		theirs, ours := upstream(t, spec, nil), faults(spec, nil)
		compare(t, spec, theirs, ours, used)
		if (len(theirs) == 0) == (len(ours) == 0) {
			agreed[len(ours) == 0]++
		}
	}
	t.Logf("of %d specs both accept %d, both refuse %d", specs, agreed[true], agreed[false])
	if agreed[true] < specs/10 || agreed[false] < specs/10 {
		t.Error("the specs are too much of one kind")
	}
	for _, rule := range stricter {
		if !used[rule] {
			t.Errorf("rule %s never refused anything: nothing is known of it", rule)
		}
	}
	for rule := range used {
		if !slices.Contains(stricter, rule) {
			t.Errorf("rule %s is stricter than Kubernetes, and not meant to be", rule)
		}
	}
}

// An update may keep what was wrong before, and only that.
func TestUpdate(t *testing.T) {
	w := newWriter(2)
	var kept int
	for range specs {
		before := w.spec()
		after := before
		switch other := w.spec(); w.IntN(4) {
		case 0:
			after.MinReplicas, after.MaxReplicas = other.MinReplicas, other.MaxReplicas
		case 1:
			after.ScaleTargetRef = other.ScaleTargetRef
		case 2:
			after.Metrics = slices.Concat(before.Metrics, other.Metrics)
		case 3:
			after.Behavior = other.Behavior
		}
		theirs, ours, old := upstream(t, after, &before), faults(after, &before), words(faults(before, nil))
		for text := range theirs {
			switch {
			case ours.has(text) || replaced(text, ours):
			case slices.Contains(old, placeless(text)):
				kept++
			case strings.Contains(text, ".containerResource.name: ") &&
				slices.ContainsFunc(old, func(had string) bool { return strings.HasPrefix(had, "spec.metrics[].containerResource.name: ") }):
			default:
				t.Errorf("Kubernetes refuses an update with %s, and we do not:\nbefore %+v\nafter %+v\nours: %v", text, before, after, ours)
			}
		}
		for _, fault := range ours {
			// Once an object of a metric is wrong, Kubernetes lets all pass.
			lax := fault.Origin == "ReferenceAPIVersion" && strings.Contains(fault.Field, "describedObject")
			if !theirs[fault.Error()] && !slices.Contains(stricter, fault.Origin) && !lax {
				t.Errorf("we refuse an update with %v, and Kubernetes does not", fault)
			}
		}
	}
	t.Logf("kept %d faults that were there before", kept)
	if kept == 0 {
		t.Error("no update kept a fault: nothing is known of it")
	}
}

// compare holds ours to theirs, and notes the rules by which ours is stricter.
func compare(t *testing.T, spec autoscalingv2.HorizontalPodAutoscalerSpec, theirs map[string]bool, ours list, used map[string]bool) {
	t.Helper()
	for text := range theirs {
		if !ours.has(text) && !replaced(text, ours) {
			t.Errorf("Kubernetes says %s, and we do not:\n%+v\nours: %v", text, spec, ours)
		}
	}
	for _, fault := range ours {
		if !theirs[fault.Error()] {
			used[fault.Origin] = true
		}
	}
}

// replaced reports whether our shorter list of resources stands for their words on
// the name of a resource.
func replaced(text string, ours list) bool {
	place, _, _ := strings.Cut(text, ": ")
	return strings.HasSuffix(place, ".containerResource.name") && slices.ContainsFunc(ours, func(fault *field.Error) bool {
		return fault.Field == place && fault.Origin == "ResourceName"
	})
}

type list field.ErrorList

func (l list) has(text string) bool {
	return slices.ContainsFunc(l, func(fault *field.Error) bool { return fault.Error() == text })
}

func faults(spec autoscalingv2.HorizontalPodAutoscalerSpec, before *autoscalingv2.HorizontalPodAutoscalerSpec) list {
	f := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: spec}}
	var old *v1alpha1.FederatedHPA
	if before != nil {
		old = &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: *before}}
	}
	all, _ := admission.ValidateFederatedHPA(f, old, admission.Neighbours{})
	return list(all)
}

// upstream returns what the API server's own strategy says, each text once.
func upstream(t *testing.T, spec autoscalingv2.HorizontalPodAutoscalerSpec,
	before *autoscalingv2.HorizontalPodAutoscalerSpec) map[string]bool {
	t.Helper()
	var all field.ErrorList
	if before == nil {
		all = horizontalpodautoscaler.Strategy.Validate(context.Background(), internal(t, spec))
	} else {
		all = horizontalpodautoscaler.Strategy.ValidateUpdate(context.Background(), internal(t, spec), internal(t, *before))
	}
	texts := map[string]bool{}
	for _, fault := range all {
		texts[fault.Error()] = true
	}
	return texts
}

func internal(t *testing.T, spec autoscalingv2.HorizontalPodAutoscalerSpec) *autoscaling.HorizontalPodAutoscaler {
	t.Helper()
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", ResourceVersion: "1"},
		Spec:       *spec.DeepCopy(),
	}
	converted := &autoscaling.HorizontalPodAutoscaler{}
	if err := upstreamv2.Convert_v2_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler(hpa, converted, nil); err != nil {
		t.Fatal(err)
	}
	return converted
}

func words(all list) []string {
	texts := map[string]bool{}
	for _, fault := range all {
		texts[placeless(fault.Error())] = true
	}
	return slices.Collect(maps.Keys(texts))
}

var index = regexp.MustCompile(`\[\d+\]`)

// placeless takes places in lists out of a text.
func placeless(text string) string {
	return index.ReplaceAllLiteralString(text, "[]")
}
