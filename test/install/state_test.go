// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// shop is the namespace of what people have, in all clusters.
const shop = "shop"

// What people have on the hub, and in members.
const (
	federated  = "federatedhpas"
	cron       = "cronfederatedhpas"
	multidim   = "multidimpodautoscalers"
	histories  = "multidimpodautoscalerhistories"
	hpas       = "horizontalpodautoscalers"
	deployment = "deployments"
	pods       = "pods"
)

func kindOf(resource string) schema.GroupVersionResource {
	switch resource {
	case hpas:
		return schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: resource}
	case deployment:
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
	case pods:
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	default:
		return schema.GroupVersionResource{Group: "autoscaling.karmada.io", Version: "v1alpha1", Resource: resource}
	}
}

func (s *site) list(ctx context.Context, cluster, resource string) ([]unstructured.Unstructured, error) {
	list, err := s.objects[cluster].Resource(kindOf(resource)).Namespace(shop).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s of %s: %w", resource, cluster, err)
	}
	return list.Items, nil
}

func (s *site) get(ctx context.Context, cluster, resource, name string) (*unstructured.Unstructured, error) {
	return s.objects[cluster].Resource(kindOf(resource)).Namespace(shop).Get(ctx, name, metav1.GetOptions{})
}

// held is what another version may not change of an object: that it is the same one, and what people or our programs have said of it.
type held struct {
	UID        string
	Generation int64 // a write of the spec, even one that was taken back, shows there
	Spec       any
	Finalizers []string
}

// state is all that people have, and what was decided for them.
type state struct {
	Objects map[string]held
	// Memory is what decisions must know of the past.
	Memory map[string]any
}

// state reads all of it.
func (s *site) state(ctx context.Context) (state, error) {
	seen := state{Objects: map[string]held{}, Memory: map[string]any{}}
	for cluster, resources := range map[string][]string{
		"hub": {federated, cron, multidim, histories}, east: {hpas, deployment, pods}, west: {hpas, deployment, pods},
	} {
		for _, resource := range resources {
			list, err := s.list(ctx, cluster, resource)
			if err != nil {
				return seen, err
			}
			for _, o := range list {
				h := held{UID: string(o.GetUID()), Finalizers: o.GetFinalizers()}
				if resource != pods && resource != histories { // a Pod gets its node, and a history grows
					h.Generation, h.Spec = o.GetGeneration(), o.Object["spec"]
				}
				name := strings.Join([]string{cluster, resource, o.GetName()}, "/")
				seen.Objects[name] = h
				maps.Copy(seen.Memory, memory(resource, name, o.Object))
			}
		}
	}
	return seen, nil
}

// memory is of each autoscaler what its next decision depends on, by path, without what each decision changes.
func memory(resource, name string, o map[string]any) map[string]any {
	all := map[string]any{}
	add := func(path ...string) {
		if value, found, _ := unstructured.NestedFieldNoCopy(o, append([]string{"status"}, path...)...); found {
			all[name+" "+strings.Join(path, ".")] = value
		}
	}
	switch resource {
	case federated:
		for _, path := range []string{"lastScaleTime", "currentReplicas", "desiredReplicas", "observedGeneration"} {
			add(path)
		}
		add("stabilization", "scaleUpEvents")
		add("stabilization", "scaleDownEvents")
		clusters, _, _ := unstructured.NestedSlice(o, "status", "clusters")
		for _, c := range clusters {
			fields, _ := c.(map[string]any)
			for _, path := range []string{"assignedReplicas", "assignedMin", "assignedMax"} {
				if value, found := fields[path]; found {
					all[fmt.Sprintf("%s %s of %v", name, path, fields["name"])] = value
				}
			}
		}
		if window, _, _ := unstructured.NestedInt64(o, "spec", "behavior", "scaleDown", "stabilizationWindowSeconds"); window > 0 {
			all[name+" highest of the window of scaleDown"] = highest(o)
		}
	case multidim:
		add("currentReplicas")
		containers, _, _ := unstructured.NestedSlice(o, "status", "recommendation", "containers")
		for _, c := range containers {
			fields, _ := c.(map[string]any)
			all[fmt.Sprintf("%s target of %v", name, fields["containerName"])] = fields["target"]
		}
	}
	return all
}

// highest is what the window of scaleDown holds replicas to.
func highest(o map[string]any) (most int64) {
	entries, _, _ := unstructured.NestedSlice(o, "status", "stabilization", "scaleDownRecommendations")
	for _, entry := range entries {
		if replicas, found, _ := unstructured.NestedInt64(entry.(map[string]any), "replicas"); found {
			most = max(most, replicas)
		}
	}
	return most
}

// eventually fails the test if something does not come about.
func (s *site) eventually(what string, check func(context.Context) error) {
	s.t.Helper()
	began := time.Now()
	if err := fixture.Await(s.t.Context(), patience, check); err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	s.t.Logf("%s after %v", what, time.Since(began).Round(time.Second))
}

// runs reports whether members together have so many replicas of a Deployment.
func (s *site) have(name string, want int64) func(context.Context) error {
	return func(ctx context.Context) error {
		var sum int64
		each := map[string]int64{}
		for _, cluster := range []string{east, west} {
			o, err := s.get(ctx, cluster, deployment, name)
			if err != nil {
				return err
			}
			each[cluster], _, _ = unstructured.NestedInt64(o.Object, "spec", "replicas")
			sum += each[cluster]
		}
		if sum != want {
			return fmt.Errorf("%s has %v replicas, want %d", name, each, want)
		}
		return nil
	}
}

// isBecause reports whether a condition of a FederatedHPA has a reason, at so many replicas.
func (s *site) isBecause(name, condition, reason string, replicas int64) func(context.Context) error {
	return func(ctx context.Context) error {
		o, err := s.get(ctx, "hub", federated, name)
		if err != nil {
			return err
		}
		desired, _, _ := unstructured.NestedInt64(o.Object, "status", "desiredReplicas")
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		if desired != replicas || !slices.ContainsFunc(conditions, func(c any) bool {
			fields, _ := c.(map[string]any)
			return fields["type"] == condition && fields["reason"] == reason
		}) {
			return fmt.Errorf("%s has %d replicas, want %d, and not %s of %s: %v", name, desired, replicas, reason, condition, conditions)
		}
		return nil
	}
}

// split reports whether the maxima of the HorizontalPodAutoscalers of members come to so many.
func (s *site) split(want int64) func(context.Context) error {
	return func(ctx context.Context) error {
		var sum int64
		for _, cluster := range []string{east, west} {
			list, err := s.list(ctx, cluster, hpas)
			if err != nil {
				return err
			}
			if len(list) != 1 {
				return fmt.Errorf("%s has %d HorizontalPodAutoscalers", cluster, len(list))
			}
			most, _, _ := unstructured.NestedInt64(list[0].Object, "spec", "maxReplicas")
			sum += most
		}
		if sum != want {
			return fmt.Errorf("the maxima of members come to %d, want %d", sum, want)
		}
		return nil
	}
}

// ran reports whether a run of a CronFederatedHPA that was due after a time has set so many replicas, and none has failed.
func (s *site) ran(name string, after time.Time, replicas int64) func(context.Context) error {
	return func(ctx context.Context) error {
		o, err := s.get(ctx, "hub", cron, name)
		if err != nil {
			return err
		}
		rules, _, _ := unstructured.NestedSlice(o.Object, "status", "executionHistories")
		for _, rule := range rules {
			fields, _ := rule.(map[string]any)
			if failed, _, _ := unstructured.NestedSlice(fields, "failedExecutions"); len(failed) > 0 {
				s.t.Errorf("runs of %s have failed: %v", name, failed)
			}
			done, _, _ := unstructured.NestedSlice(fields, "successfulExecutions")
			for _, run := range done {
				fields, _ := run.(map[string]any)
				due, err := time.Parse(time.RFC3339, fmt.Sprint(fields["scheduleTime"]))
				if err == nil && due.After(after) && fields["appliedReplicas"] == replicas {
					return nil
				}
			}
		}
		return fmt.Errorf("no run of %s since %v has set %d replicas: %v", name, after.UTC().Format(time.TimeOnly), replicas, o.Object["status"])
	}
}
