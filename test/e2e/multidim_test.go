// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// verticalPeriod is the interval of reconciles of a MultidimPodAutoscaler.
const verticalPeriod = 2 * time.Second

func (s *stage) multidims() dynamic.ResourceInterface {
	return s.resource("hub", v1alpha1.SchemeGroupVersion.String(), v1alpha1.MultidimPodAutoscalerKind)
}

// size makes a MultidimPodAutoscaler of the workload. The rest of its spec is YAML in the flow style, without the braces.
func (s *stage) size(rest string) {
	s.t.Helper()
	s.sizeOf("web", rest)
}

// sizeOf is size of the workload of that name.
func (s *stage) sizeOf(name, rest string) {
	s.t.Helper()
	s.apply("hub", fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: MultidimPodAutoscaler\nmetadata: {name: %[1]s}\nspec: "+
		"{scaleTargetRef: {apiVersion: apps/v1, kind: %[2]s, name: %[1]s}, %[3]s}\n", name, s.kind, rest))
}

// unsize deletes a MultidimPodAutoscaler, and waits until it is gone.
func (s *stage) unsize(name string) {
	s.t.Helper()
	if err := s.multidims().Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, s.ns+": "+name+" goes with its entry", func(ctx context.Context) error {
		object, err := s.multidims().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("it is still there, with finalizers %v", object.GetFinalizers())
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
}

// resize patches the MultidimPodAutoscaler with JSON.
func (s *stage) resize(patch string) {
	s.t.Helper()
	if _, err := s.multidims().Patch(s.t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// becomes waits until the MultidimPodAutoscaler is as described.
func (s *stage) becomes(what string, right ...func(*v1alpha1.MultidimPodAutoscaler) error) *v1alpha1.MultidimPodAutoscaler {
	s.t.Helper()
	return s.becomesOf("web", what, right...)
}

func (s *stage) becomesOf(name, what string, right ...func(*v1alpha1.MultidimPodAutoscaler) error) *v1alpha1.MultidimPodAutoscaler {
	s.t.Helper()
	var m *v1alpha1.MultidimPodAutoscaler
	eventually(s.t, s.ns+": "+what, func(ctx context.Context) (err error) {
		m, err = s.isNow(ctx, name, right...)
		return err
	})
	return m
}

// isNow returns the MultidimPodAutoscaler, and what is not as described.
func (s *stage) isNow(ctx context.Context, name string, right ...func(*v1alpha1.MultidimPodAutoscaler) error) (
	*v1alpha1.MultidimPodAutoscaler, error) {
	object, err := s.multidims().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, m); err != nil {
		return nil, err
	}
	var errs []error
	for _, check := range right {
		errs = append(errs, check(m))
	}
	return m, errors.Join(errs...)
}

// states wants a condition: "Type=Status/Reason", and words of its message.
func states(want string, words ...string) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		kind, _, _ := strings.Cut(want, "=")
		c := meta.FindStatusCondition(m.Status.Conditions, kind)
		if c == nil {
			return fmt.Errorf("it says nothing of %s, want %s", kind, want)
		}
		if got := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason); got != want || !containsAll(c.Message, words) {
			return fmt.Errorf("it says %s %q, want %s with %q", got, c.Message, want, words)
		}
		return nil
	}
}

// isSized wants the summary's state, and how many Pods are as recommended.
func isSized(state v1alpha1.MultidimPodAutoscalerState, sized string) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		if s := m.Status.Summary; s == nil || s.State != state || s.Sized != sized {
			return fmt.Errorf("its summary is %+v, want %s and %s", s, state, sized)
		}
		return nil
	}
}

// recommendsCPU wants that of cpu, for the fleet, within bounds.
func recommendsCPU(least, most string) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		r := m.Status.Recommendation
		if r == nil || len(r.Containers) != 1 || r.Containers[0].Target.CPU == nil {
			return fmt.Errorf("it recommends %+v", r)
		}
		if cpu := r.Containers[0].Target.CPU; cpu.Cmp(resource.MustParse(least)) < 0 || cpu.Cmp(resource.MustParse(most)) > 0 {
			return fmt.Errorf("it recommends %v of cpu, want %s to %s", cpu, least, most)
		}
		return nil
	}
}

// clusterIs wants one cluster's state and message.
func clusterIs(name string, state v1alpha1.ClusterState, words ...string) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		i := slices.IndexFunc(m.Status.Clusters, func(c v1alpha1.MultidimClusterStatus) bool { return c.Name == name })
		if i < 0 {
			return fmt.Errorf("it says nothing of %s", name)
		}
		if c := m.Status.Clusters[i]; c.State != state || !containsAll(c.Message, words) {
			return fmt.Errorf("%s is %s: %q, want %s with %q", name, c.State, c.Message, state, words)
		}
		return nil
	}
}

// A MultidimPodAutoscaler without goals recommends from what Pods use in all clusters, within what each admits, and says what
// that would save. Nothing is resized, and what it learned is kept.
func (s *stage) recommendsSizes() {
	s.uses(map[string]string{"member1": "10m", "member2": "10m"})
	s.runIn(2, "member1", "member2")
	s.size("clusterAffinity: {clusterNames: [member1, member2]}")
	m := s.becomes("it recommends little", isSized(v1alpha1.MultidimActive, "0/4"), recommendsCPU("25m", "25m"),
		states("RecommendationProvided=True/Recommended"), states("LowConfidence=True/ShortHistory"))
	if saved := m.Status.Savings.Saved.CPU; saved.Cmp(resource.MustParse("300m")) != 0 {
		s.t.Errorf("of 4 Pods that request 100m each, 25m would save %v, want 300m", saved)
	}
	if m.Status.CurrentReplicas != 4 {
		s.t.Errorf("4 Pods are counted as %d", m.Status.CurrentReplicas)
	}

	s.apply("member1", "apiVersion: v1\nkind: LimitRange\nmetadata: {name: least}\nspec: {limits: [{type: Container, min: {cpu: 60m}}]}\n")
	s.becomes("one cluster admits nothing so small", func(m *v1alpha1.MultidimPodAutoscaler) error {
		own := m.Status.Clusters[0].Recommendation
		if own == nil || own.Containers[0].Target.CPU.String() != "60m" || len(own.Containers[0].CappedBy) == 0 ||
			own.Containers[0].CappedBy[0].Reason != "LimitRangeMin" {
			return fmt.Errorf("for %s it recommends %+v", m.Status.Clusters[0].Name, own)
		}
		return nil
	}, recommendsCPU("25m", "25m"))

	s.uses(map[string]string{"member1": "400m", "member2": "400m"})
	s.becomes("it recommends more than is requested", recommendsCPU("400m", "600m"), func(m *v1alpha1.MultidimPodAutoscaler) error {
		if saved := m.Status.Savings.Saved.CPU; saved.Sign() >= 0 {
			return fmt.Errorf("it would save %v", saved)
		}
		return nil
	})
	eventually(s.t, s.ns+": what was learned is saved", func(ctx context.Context) error {
		histories, err := s.resource("hub", v1alpha1.SchemeGroupVersion.String(), "MultidimPodAutoscalerHistory").List(ctx, metav1.ListOptions{})
		if err == nil && len(histories.Items) != 1 {
			err = fmt.Errorf("there are %d histories", len(histories.Items))
		}
		return err
	})

	s.apply("member2", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: local}\nspec: {scaleTargetRef: "+
		"{apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 2, minReplicas: 2}\n")
	s.becomes("an autoscaler of a member is in its way", clusterIs("member2", v1alpha1.ClusterConflict, "HorizontalPodAutoscaler", "local"),
		states("ConfigUnsupported=True/AnotherAutoscaler", "cluster member2", "local"))
	for _, member := range []string{"member1", "member2"} {
		if told, err := s.told(s.t.Context(), member); err != nil || told != member+" 2" {
			s.t.Errorf("%s %v: nothing was to be scaled", told, err)
		}
	}
}

// Goals have a FederatedHPA made, whose target is an amount that no size can move. It follows the goals, nobody else changes it,
// and it goes with its owner.
func (s *stage) goalsScale() {
	s.uses(map[string]string{"member1": "100m", "member2": "100m", "member3": "100m"})
	s.propagate(3, allMembers()...)
	s.size("mode: Observe, goals: {metrics: [" + byCPU + "]}, constraints: {global: {minReplicas: 3, maxReplicas: 6}}")
	s.comes("the FederatedHPA observes", isIn(v1alpha1.StateObserving), says("Acting=False/Observe", "from 3 to 6 replicas"))
	s.becomes("so does its owner", states("Acting=False/Observe"), states("ScalingActive=True/ValidMetricFound"))
	s.stays(2*syncPeriod, "hub 3, member1 1, member2 1, member3 1")

	s.resize(`{"spec":{"mode":"Active"}}`)
	s.runs("hub 6, member1 2, member2 2, member3 2")
	f := s.comes("its target is an amount", func(f *v1alpha1.FederatedHPA) error {
		if target := f.Spec.Metrics[0].Resource.Target; target.AverageValue == nil || target.AverageValue.String() != "50m" {
			return fmt.Errorf("its target is %+v", target)
		}
		return nil
	})
	s.becomes("it says how many there are, and of what goal", func(m *v1alpha1.MultidimPodAutoscaler) error {
		if m.Status.CurrentReplicas != 6 || len(m.Status.CurrentMetrics) != 1 ||
			m.Status.CurrentMetrics[0].Resource.Current.AverageUtilization == nil ||
			*m.Status.CurrentMetrics[0].Resource.Current.AverageUtilization < 90 {
			return fmt.Errorf("%d replicas, and metrics %+v", m.Status.CurrentReplicas, m.Status.CurrentMetrics)
		}
		return nil
	})

	s.change(`{"spec":{"maxReplicas":60}}`)
	s.comes("what others changed is undone", func(g *v1alpha1.FederatedHPA) error {
		if g.Spec.MaxReplicas != 6 || g.Generation <= f.Generation {
			return fmt.Errorf("maxReplicas is %d in generation %d", g.Spec.MaxReplicas, g.Generation)
		}
		return nil
	})
	if err := s.multidims().Delete(s.t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.isGone("web")
}
