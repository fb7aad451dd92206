// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// twins are before the case.
func (s *stage) twins() {
	s.uses(map[string]string{"member1": "50m"})
	s.queue("20")
	s.runIn(2, "member1")
	s.apply("member1", strings.ReplaceAll(webOf(s.kind, 2, false), "web", "stock"))
}

// Two equal workloads of one member have the same load. One is scaled from the
// hub, the other by the member's kube-controller-manager: both go through the
// same numbers of replicas, and say the same of them.
//
// Steps are small, so that it does not matter how a measurement that is half of
// the old load and half of the new falls out.
func (s *stage) decidesAsKubernetes() {
	const steps = "behavior: {scaleUp: {policies: [{type: Pods, value: 2, periodSeconds: 1}]}, scaleDown: {stabilizationWindowSeconds: 5, " +
		"policies: [{type: Pods, value: 1, periodSeconds: 1}]}}"
	history := s.follow("member1")
	rest := "minReplicas: 1, maxReplicas: 6, metrics: [" + s.byQueue(10) + ", " + byCPU + "], " + steps
	s.apply("member1", fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: stock}\nspec: "+
		"{scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: stock}, %s}\n", s.kind, rest))
	s.autoscale(rest + ", clusterAffinity: {clusterNames: [member1]}, replicaDistribution: {}")
	s.both("both metrics are known", func(h *autoscalingv2.HorizontalPodAutoscalerStatus) error {
		if len(h.CurrentMetrics) != 2 || h.CurrentMetrics[1].Resource == nil {
			return fmt.Errorf("metrics are %v", h.CurrentMetrics)
		}
		return nil
	})
	s.queue("40")
	s.both("they rise by the queue", arrived(4))
	s.uses(map[string]string{"member1": "800m"})
	s.both("they rise by the load", arrived(6))
	s.same("at the most")
	s.uses(map[string]string{"member1": "5m"})
	s.queue("10")
	s.both("they fall", arrived(1))
	s.same("at the least")

	if diff := cmp.Diff(history.of("stock"), history.of("web")); diff != "" {
		s.t.Errorf("replicas by kube-controller-manager (-) and by the hub (+):\n%s", diff)
	}
	s.t.Logf("both went through %v", history.of("web"))
	theirs, err := s.notesIn(s.t.Context(), "member1", "HorizontalPodAutoscaler", "Normal", "SuccessfulRescale")
	if err != nil {
		s.t.Fatal(err)
	}
	ours, err := s.notes(s.t.Context(), "FederatedHPA", "Normal", "SuccessfulRescale")
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) == 0 {
		s.t.Errorf("Events of kube-controller-manager (-) and of the hub (+):\n%s", diff)
	}
}

// statuses returns those of the member's autoscaler and of the hub's.
func (s *stage) statuses(ctx context.Context) (theirs, ours *autoscalingv2.HorizontalPodAutoscalerStatus, err error) {
	said, err := s.Ask(ctx, "--context", "member1", "-n", s.ns, "get", "hpa", "stock", "-o", "json")
	if err != nil {
		return nil, nil, err
	}
	var hpa autoscalingv2.HorizontalPodAutoscaler
	if err := json.Unmarshal([]byte(said.Stdout), &hpa); err != nil {
		return nil, nil, err
	}
	fhpa, err := s.get(ctx, "web")
	if err != nil {
		return nil, nil, err
	}
	f := fhpa.Status
	return &hpa.Status, &autoscalingv2.HorizontalPodAutoscalerStatus{
		CurrentReplicas: f.CurrentReplicas, DesiredReplicas: f.DesiredReplicas, CurrentMetrics: f.CurrentMetrics, Conditions: f.Conditions,
	}, nil
}

func (s *stage) both(what string, right func(*autoscalingv2.HorizontalPodAutoscalerStatus) error) {
	s.t.Helper()
	eventually(s.t, s.ns+": "+what, func(ctx context.Context) error {
		theirs, ours, err := s.statuses(ctx)
		if err != nil {
			return err
		}
		if err := right(theirs); err != nil {
			return fmt.Errorf("kube-controller-manager: %w", err)
		}
		if err := right(ours); err != nil {
			return fmt.Errorf("the hub: %w", err)
		}
		return nil
	})
}

func arrived(replicas int32) func(*autoscalingv2.HorizontalPodAutoscalerStatus) error {
	return func(h *autoscalingv2.HorizontalPodAutoscalerStatus) error {
		if h.CurrentReplicas != replicas || h.DesiredReplicas != replicas {
			return fmt.Errorf("%d replicas, %d wanted", h.CurrentReplicas, h.DesiredReplicas)
		}
		return nil
	}
}

// same waits until both say the same in their conditions.
func (s *stage) same(when string) {
	s.t.Helper()
	eventually(s.t, s.ns+": both say the same "+when, func(ctx context.Context) error {
		theirs, ours, err := s.statuses(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(wordsOf(theirs), wordsOf(ours)); diff != "" {
			return fmt.Errorf("kube-controller-manager (-) and the hub (+):\n%s", diff)
		}
		return nil
	})
}

func wordsOf(h *autoscalingv2.HorizontalPodAutoscalerStatus) []string {
	var all []string
	for _, c := range h.Conditions {
		if c.Type != v1alpha1.FleetVisible {
			all = append(all, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	slices.Sort(all)
	return all
}

// history is the numbers of replicas that workloads were told, one after the other.
type history struct {
	mu   sync.Mutex
	told map[string][]int64
}

func (h *history) note(name string, replicas int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if told := h.told[name]; len(told) == 0 || told[len(told)-1] != replicas {
		h.told[name] = append(told, replicas)
	}
}

func (h *history) of(name string) []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.told[name])
}

// follow watches the workloads of a member until the case ends.
func (s *stage) follow(cluster string) *history {
	s.t.Helper()
	h := &history{told: map[string][]int64{}}
	watch, err := s.workload(cluster).Watch(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(watch.Stop)
	go func() {
		for event := range watch.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
				h.note(object.GetName(), replicas)
			}
		}
	}()
	return h
}
