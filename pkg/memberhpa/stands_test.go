// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// store returns what an API server makes of the body of an apply where nothing was stored.
func store(t *testing.T, body []byte) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := json.Unmarshal(body, hpa); err != nil {
		t.Fatal(err)
	}
	hpa.UID, hpa.ResourceVersion, hpa.Generation, hpa.CreationTimestamp = "77", "1234", 1, metav1.Unix(1000, 0)
	filled := &v1alpha1.FederatedHPA{Spec: v1alpha1.FederatedHPASpec{HorizontalPodAutoscalerSpec: hpa.Spec}}
	v1alpha1.DefaultFederatedHPA(filled) // what the server would fill in if we had left something out
	hpa.Spec = filled.Spec.HorizontalPodAutoscalerSpec
	hpa.TypeMeta = metav1.TypeMeta{} // as watches deliver it
	return hpa
}

// everyStored calls try with as many objects as there are seeds, as they are to be and as each version stores them.
func everyStored(t *testing.T, seeds int64, try func(t *testing.T, wanted, stored *autoscalingv2.HorizontalPodAutoscaler, version string)) {
	tried := int64(0)
	for seed := range seeds {
		wanted := Render(anyFederated(rand.New(rand.NewSource(seed))))
		for _, version := range versions {
			if body, err := Encode(wanted, version); err == nil {
				tried++
				t.Run(fmt.Sprintf("seed %d in %s", seed, version), func(t *testing.T) { try(t, wanted, store(t, body), version) })
			}
		}
	}
	if tried < seeds {
		t.Fatalf("only %d objects were tried", tried)
	}
}

func TestStandsOnceStored(t *testing.T) {
	everyStored(t, 100, func(t *testing.T, wanted, stored *autoscalingv2.HorizontalPodAutoscaler, version string) {
		for _, rules := range directions(stored.Spec.Behavior) {
			rules.Tolerance = nil // as older servers store it
		}
		wasStored, wasWanted := stored.DeepCopy(), wanted.DeepCopy()
		if !Stands(stored, wanted, version) {
			t.Error("what was applied does not stand")
		}
		if !same(wasStored, stored) || !same(wasWanted, wanted) {
			t.Error("Stands changed its arguments")
		}
	})
}

func TestStandsWhateverOthersWrite(t *testing.T) {
	everyStored(t, 100, func(t *testing.T, wanted, stored *autoscalingv2.HorizontalPodAutoscaler, version string) {
		for name, change := range map[string]func(*autoscalingv2.HorizontalPodAutoscaler){
			"an annotation": func(h *autoscalingv2.HorizontalPodAutoscaler) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, "a", "b") },
			"a label":       func(h *autoscalingv2.HorizontalPodAutoscaler) { metav1.SetMetaDataLabel(&h.ObjectMeta, "a", "b") },
			"a finalizer":   func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Finalizers = []string{"a/b"} },
			"an owner": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				h.OwnerReferences = []metav1.OwnerReference{{Name: "a"}}
			},
			"the version of the next": func(h *autoscalingv2.HorizontalPodAutoscaler) { h.ResourceVersion, h.Generation = "5678", 2 },
			"the status": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				h.Status.DesiredReplicas, h.Status.LastScaleTime = 4, new(metav1.Now())
				h.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{}}
			},
			"a behavior where none is wanted": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				if h.Spec.Behavior == nil {
					h.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: rulesOf(7, "Min", "0.3", podsIn(1, 1))}
				}
			},
			"fields of a behavior that are not wanted": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				for direction, rules := range directions(h.Spec.Behavior) {
					ours := directions(wanted.Spec.Behavior)[direction]
					if ours.StabilizationWindowSeconds == nil {
						rules.StabilizationWindowSeconds = new(int32(11))
					}
					if ours.Tolerance == nil {
						rules.Tolerance = rulesOf(0, "", "0.3").Tolerance
					}
				}
			},
			"the API version of the workload, if none is wanted": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				if wanted.Spec.ScaleTargetRef.APIVersion == "" {
					h.Spec.ScaleTargetRef.APIVersion = "apps/v1"
				}
			},
			"no tolerances": func(h *autoscalingv2.HorizontalPodAutoscaler) {
				for _, rules := range directions(h.Spec.Behavior) {
					rules.Tolerance = nil
				}
			},
		} {
			changed := stored.DeepCopy()
			if change(changed); !Stands(changed, wanted, version) {
				t.Errorf("%s: it does not stand", name)
			}
		}
	})
}

// Every place of what was sent is changed in what is stored, one at a time: to another value, and to none.
func TestStandsNoMoreOnceAFieldOfOursIsChanged(t *testing.T) {
	places := map[string]bool{}
	everyStored(t, 12, func(t *testing.T, wanted, stored *autoscalingv2.HorizontalPodAutoscaler, version string) {
		sent := tree(t, encode(t, wanted, version))
		delete(sent, "apiVersion")
		delete(sent, "kind")
		for _, path := range paths(sent) {
			for _, how := range []string{"changed", "removed", "grown"} {
				changed, done := tampered(t, stored, path, how)
				if !done || how == "removed" && path[len(path)-1] == "tolerance" {
					continue
				}
				places[how+" "+fmt.Sprint(path[len(path)-1])] = true
				if Stands(changed, wanted, version) {
					t.Errorf("%s %v: it stands all the same", how, path)
				}
			}
		}
	})
	for _, place := range []string{"changed minReplicas", "removed minReplicas", "changed maxReplicas", "changed averageUtilization",
		"removed selectPolicy", "removed behavior",
		"removed scaleUp", "changed tolerance", "grown policies", "grown metrics", "changed value", "changed averageValue", "removed metrics",
		"changed tier", "removed apiVersion",
		"changed fleetscale.io/managed-by", "removed fleetscale.io/applied", "changed stabilizationWindowSeconds",
		"removed stabilizationWindowSeconds"} {
		if !places[place] {
			t.Errorf("%s was never tried; these were: %v", place, slices.Sorted(maps.Keys(places)))
		}
	}
}

func tree(t *testing.T, text []byte) (tree map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// paths returns those of all that a tree holds, lists and maps too.
func paths(node any, prefix ...any) (all [][]any) {
	if len(prefix) > 0 {
		all = append(all, slices.Clone(prefix))
	}
	switch node := node.(type) {
	case map[string]any:
		for key, child := range node {
			all = append(all, paths(child, append(slices.Clone(prefix), key)...)...)
		}
	case []any:
		for i, child := range node {
			all = append(all, paths(child, append(slices.Clone(prefix), i)...)...)
		}
	}
	return all
}

// tampered returns what is stored, with something else at the path; false if that cannot be, or is what was there.
func tampered(t *testing.T, stored *autoscalingv2.HorizontalPodAutoscaler, path []any, how string) (*autoscalingv2.HorizontalPodAutoscaler,
	bool) {
	t.Helper()
	before, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	root := tree(t, before)
	var parent any = root
	for _, step := range path[:len(path)-1] {
		parent = child(parent, step)
	}
	last := path[len(path)-1]
	old := child(parent, last)
	for _, other := range others(old, how) {
		if m, ok := parent.(map[string]any); ok && other == nil {
			delete(m, last.(string))
		} else if ok {
			m[last.(string)] = other
		} else {
			parent.([]any)[last.(int)] = other
		}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		changed := &autoscalingv2.HorizontalPodAutoscaler{}
		if json.Unmarshal(text, changed) == nil && !same(stored, changed) {
			return changed, true
		}
	}
	return nil, false
}

func child(node, step any) any {
	if m, ok := node.(map[string]any); ok {
		return m[step.(string)]
	}
	return node.([]any)[step.(int)]
}

// others are values to put in the place of one.
func others(old any, how string) []any {
	switch old := old.(type) {
	case []any:
		if how == "grown" {
			return []any{append(slices.Clone(old), old[0])}
		}
	case string:
		if how == "changed" {
			return []any{old + "x", "17", "18"}
		}
	case float64:
		if how == "changed" {
			return []any{old + 1}
		}
	}
	if how == "removed" {
		return []any{nil}
	}
	return nil
}

// A field that was wanted and is no more is taken back by an apply, although what is stored has all that is wanted.
func TestStandsNoMoreOnceAFieldIsNotWantedAnyMore(t *testing.T) {
	plain, hold, window := part{Min: 2, Max: 9}, part{Min: 2, Max: 9, Hold: true}, part{Min: 2, Max: 9, Window: time.Minute}
	tests := map[string]struct {
		before, after *autoscalingv2.HorizontalPodAutoscaler
	}{
		"a hold":     {Render(federated(), "web", hold), Render(federated(), "web", plain)},
		"a window":   {Render(federated(), "web", window), Render(federated(), "web", plain)},
		"a behavior": {Render(federated(behaving(nil, rulesOf(9, "", ""))), "web", plain), Render(federated(), "web", plain)},
		"a tolerance": {Render(federated(behaving(nil, rulesOf(9, "", "0.2"))), "web", plain),
			Render(federated(behaving(nil, rulesOf(9, "", ""))), "web", plain)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if Stands(store(t, encode(t, tc.before, v2)), tc.after, v2) {
				t.Error("it stands, and would never be taken back")
			}
		})
	}
}

// The list of metrics is ours as a whole, with what its entries do not have.
func TestStandsNoMoreOnceAMetricHasMore(t *testing.T) {
	plain := ofPods("requests", average("3"))
	plain.Pods.Metric.Selector = nil
	wanted := Render(federated(metrics(plain)), "web", part{Min: 1, Max: 2})
	stored := store(t, encode(t, wanted, v2))
	stored.Spec.Metrics[0].Pods.Metric.Selector = identifier("requests").Selector
	if Stands(stored, wanted, v2) {
		t.Error("somebody added a selector to a metric, and it stands")
	}
}

func TestStandsNotWithoutAnObjectOrAVersion(t *testing.T) {
	wanted := Render(federated(metrics(ofContainer("cpu", "app", utilization(50)))), "web", part{Min: 1, Max: 2})
	stored := store(t, encode(t, wanted, v2))
	if Stands(nil, wanted, v2) {
		t.Error("nothing is stored, and it stands")
	}
	if !Stands(stored, wanted, v2) || Stands(stored, wanted, v2beta2) || Stands(stored, wanted, "") {
		t.Error("it must stand in autoscaling/v2, and in no version that cannot say it")
	}
}

// A quantity may be written in many ways; a member could store one that no memory holds.
func TestStandsComparesQuantitiesAsTheyAreWritten(t *testing.T) {
	wanted := Render(federated(metrics(ofExternal("queue", value("1e3")))), "web", part{Min: 1, Max: 2})
	body := string(encode(t, wanted, v2))
	for written, want := range map[string]bool{"1e3": true, "1001": false, "1e2000000000": false} {
		stored := store(t, []byte(strings.Replace(body, `"value":"1e3"`, `"value":"`+written+`"`, 1)))
		if got := Stands(stored, wanted, v2); got != want {
			t.Errorf("stored as %s: Stands = %v, want %v", written, got, want)
		}
	}
}
