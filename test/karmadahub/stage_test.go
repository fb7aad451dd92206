// SPDX-License-Identifier: Apache-2.0

package karmadahub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// stage is a namespace for one case, in which a Deployment web is propagated.
type stage struct {
	*env
	t  *testing.T
	ns string
}

// stage makes a namespace, which Karmada makes in the members too, and deletes what is in it when the case ends.
func (e *env) stage(t *testing.T, ns string) *stage {
	t.Helper()
	s := &stage{env: e, t: t, ns: ns}
	if _, err := e.Ask(t.Context(), "create", "namespace", ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := e.Ask(ctx, "-n", ns, "delete", "federatedhpas,deployments,propagationpolicies", "--all", "--timeout=60s")
		if err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) feed(manifests string) {
	s.t.Helper()
	if _, err := s.Feed(s.t.Context(), manifests, "-n", s.ns, "apply", "-f", "-"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) ask(args ...string) {
	s.t.Helper()
	if _, err := s.Ask(s.t.Context(), append([]string{"-n", s.ns}, args...)...); err != nil {
		s.t.Fatal(err)
	}
}

// eventually waits until check finds nothing wrong.
func (s *stage) eventually(what string, check func(context.Context) error) {
	s.t.Helper()
	if err := fixture.Await(s.t.Context(), patience, check); err != nil {
		s.t.Fatalf("%s: %s: %v", s.ns, what, err)
	}
}

// webOf is a Deployment of Karmada's, and Labels are in the flow style of YAML.
func webOf(replicas int, labels string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {%s}}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}
`, labels, replicas)
}

// retained keeps Karmada from writing the replicas of members.
const retained = `resourcetemplate.karmada.io/retain-replicas: "true"`

// propagated has Karmada place the Deployment in members, with more of the placement.
func propagated(scheduling string, members ...string) string {
	return fmt.Sprintf(`
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement:
    clusterAffinity: {clusterNames: [%s]}
    replicaScheduling: {%s}
`, strings.Join(members, ", "), scheduling)
}

const duplicated = "replicaSchedulingType: Duplicated"

// dividedEqually gives each member the same weight.
func dividedEqually(members ...string) string {
	var weights []string
	for _, member := range members {
		weights = append(weights, fmt.Sprintf("{targetCluster: {clusterNames: [%s]}, weight: 1}", member))
	}
	return "replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [" +
		strings.Join(weights, ", ") + "]}"
}

func allMembers() []string { return []string{"member1", "member2", pullMember} }

// autoscalerOf is a FederatedHPA of the Deployment. The rest of its spec is in the flow style of YAML, without the braces.
func autoscalerOf(rest string) string {
	return "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web}\n" +
		"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, " + rest + "}\n"
}

const byCPU = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}"

// byQueue is an external metric of which each replica takes 10.
func (s *stage) byQueue() string {
	return fmt.Sprintf("{type: External, external: {metric: {name: %s-queue}, target: {type: AverageValue, averageValue: 10}}}", s.ns)
}

// queue sets that metric, in all members: they read the same queue.
func (s *stage) queue(length string) {
	s.t.Helper()
	for _, member := range s.Members() {
		if err := member.SetSeries(s.t.Context(), lab.Series{Metric: s.ns + "-queue", Value: resource.MustParse(length)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// runs waits until clusters have been told so many replicas, and members run them: "hub 4, member1 2, member2 2".
func (s *stage) runs(want string) {
	s.t.Helper()
	s.eventually("it runs "+want, func(ctx context.Context) error { return s.isRunning(ctx, want) })
}

func (s *stage) isRunning(ctx context.Context, want string) error {
	var all []string
	for part := range strings.SplitSeq(want, ", ") {
		cluster, _, _ := strings.Cut(part, " ")
		web, err := s.clients[cluster].AppsV1().Deployments(s.ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s %d", cluster, *web.Spec.Replicas)
		if cluster != "hub" && web.Status.ReadyReplicas != *web.Spec.Replicas {
			text += fmt.Sprintf(" (%d Ready)", web.Status.ReadyReplicas)
		}
		all = append(all, text)
	}
	if got := strings.Join(all, ", "); got != want {
		return fmt.Errorf("it runs %s", got)
	}
	return nil
}

// bounds are those of the HorizontalPodAutoscalers in members: "member1 2-4, member2 2-4".
func (s *stage) bounds(ctx context.Context, members ...string) (string, error) {
	var all []string
	for _, member := range members {
		list, err := s.clients[member].AutoscalingV2().HorizontalPodAutoscalers(s.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, hpa := range list.Items {
			all = append(all, fmt.Sprintf("%s %d-%d", member, *hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas))
		}
	}
	return strings.Join(all, ", "), nil
}

func (s *stage) isSplit(ctx context.Context, want string) error {
	got, err := s.bounds(ctx, allMembers()...)
	if err == nil && got != want {
		err = fmt.Errorf("the members' autoscalers have %q, want %q", got, want)
	}
	return err
}

// comes waits until the FederatedHPA is as described.
func (s *stage) comes(what string, right ...func(*v1alpha1.FederatedHPA) error) {
	s.t.Helper()
	s.eventually(what, func(ctx context.Context) error {
		object, err := s.hub.Resource(v1alpha1.SchemeGroupVersion.WithResource("federatedhpas")).Namespace(s.ns).Get(ctx, "web",
			metav1.GetOptions{})
		if err != nil {
			return err
		}
		fhpa := &v1alpha1.FederatedHPA{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, fhpa); err != nil {
			return err
		}
		var errs []error
		for _, check := range right {
			errs = append(errs, check(fhpa))
		}
		return errors.Join(errs...)
	})
}

// isIn wants a state in a word, as kubectl get shows it.
func isIn(state v1alpha1.FederatedHPAState) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		if f.Status.Summary == nil || f.Status.Summary.State != state {
			return fmt.Errorf("its summary is %+v, want %s; its conditions are %+v", f.Status.Summary, state, f.Status.Conditions)
		}
		return nil
	}
}

// says wants a condition: "Type=Status/Reason".
func says(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		var all []string
		for _, c := range f.Status.Conditions {
			all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
		}
		if !slices.Contains(all, want) {
			return fmt.Errorf("it says %q, want %s", all, want)
		}
		return nil
	}
}

// hasEvent waits for an Event of the FederatedHPA.
func (s *stage) hasEvent(reason string) {
	s.t.Helper()
	s.eventually("an Event "+reason, func(ctx context.Context) error {
		events, err := s.clients["hub"].CoreV1().Events(s.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var all []string
		for _, event := range events.Items {
			if event.Reason == reason && event.InvolvedObject.Kind == "FederatedHPA" {
				return nil
			}
			all = append(all, event.Reason+": "+event.Message)
		}
		return fmt.Errorf("the Events are %q", all)
	})
}

// uses sets what each Pod of the case uses, in all members.
func (s *stage) uses(cpu string) {
	s.t.Helper()
	for _, member := range s.Members() {
		if err := member.SetUsage(s.t.Context(), lab.Usage{Namespace: s.ns, CPU: new(resource.MustParse(cpu))}); err != nil {
			s.t.Fatal(err)
		}
	}
}
