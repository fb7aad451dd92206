// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/test/lab"
)

// A load in thousandths of a core that four Pods serve at half of what the template requests.
const (
	pairLoad     = 400
	pairReplicas = 4
	pairRequest  = "{requests: {cpu: 200m, memory: 250Mi}}"
)

// pairHPA and pairGoals have the same goal and bounds.
const (
	pairHPA = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: naive}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: naive}, minReplicas: 2, maxReplicas: 10, metrics: [` + byCPU + `]}
`
	pairGoals = "clusterAffinity: {clusterNames: [member1]}, replicaDistribution: {}, recommenders: [{name: " + sizer + "}], " +
		"policy: {updateMode: InPlace}, goals: {metrics: [" + byCPU + "]}, " +
		"constraints: {global: {minReplicas: 2, maxReplicas: 10}, containerControlledResources: [cpu]}"
)

// sizer is the recommender of MultidimPodAutoscalers that are not to wait for days of history.
const sizer = "e2e-sizer"

// pairNeverRunsAway: two workloads share the same load, goal, and advice on their size: what a Pod uses and 15 % more. The
// one has a HorizontalPodAutoscaler that follows utilization, and somebody who carries out the advice: the more Pods, the
// smaller they become, and the more there have to be. The other one has a MultidimPodAutoscaler, whose replicas do not move.
//
// No VerticalPodAutoscaler runs in the lab, so the test plays one: with a short memory, which it would have after some days.
func (s *stage) pairNeverRunsAway() {
	names := []string{"naive", "web"}
	load := map[string]int{}
	for _, name := range names {
		s.shares(load, name, pairReplicas)
		s.apply(sizesNewPods, sized(name, pairReplicas, "", pairRequest))
	}
	for _, name := range names {
		s.runningOf(name, sizesNewPods, pairReplicas)
	}
	s.size(pairGoals)
	s.recommend("web", fmt.Sprintf("{cpu: %dm}", load["web"]*115/100)) // as long as its replicas stay
	s.apply(sizesNewPods, pairHPA)
	most, each := 0, "200m"
	began := time.Now()
	eventually(s.t, s.ns+": the naive pair runs away, and the other one is sized", func(ctx context.Context) error {
		naive, err := s.podsOf(ctx, "naive", sizesNewPods)
		if err != nil {
			return err
		}
		web, err := s.podsOf(ctx, "web", sizesNewPods)
		if err != nil {
			return err
		}
		if len(web) != pairReplicas {
			s.t.Fatalf("the MultidimPodAutoscaler has %d replicas at the load of %d", len(web), pairReplicas)
		}
		s.shares(load, "naive", ready(naive))
		if len(naive) > most {
			most = len(naive)
			s.t.Logf("after %v the naive pair has %d replicas of %s", time.Since(began).Round(time.Second), most, each)
		}
		advice := *resource.NewMilliQuantity(int64(load["naive"]*115/100), resource.DecimalSI)
		if err := s.carryOut(ctx, advice, naive); err != nil {
			return err
		}
		each = advice.String()
		errs := []error{sizedAs("120m", web)}
		if most < 10 {
			errs = append(errs, fmt.Errorf("the naive pair has %d replicas", most))
		}
		return errors.Join(errs...)
	})
	s.becomes("it is as large as a goal allows, and no smaller", isSized(v1alpha1.MultidimActive, "4/4"),
		isCapped(sizesNewPods, "120m", sizes.ReasonGoalFloor), states("VerticalActuation=True/Actuating"),
		states("ScalingActive=True/ValidMetricFound"), hasEvicted(nil))
	s.lasts(2*period, "it stays so", func(ctx context.Context) error {
		if told, err := s.told(ctx, sizesNewPods); told != sizesNewPods+" 4" {
			return errors.Join(fmt.Errorf("it runs %s", told), err)
		}
		return nil
	})
}

// shares has so many Pods share the load.
func (s *stage) shares(load map[string]int, name string, replicas int) {
	each := pairLoad / max(1, replicas)
	if load[name] == each {
		return
	}
	load[name] = each
	s.usage.Lock()
	defer s.usage.Unlock()
	if err := s.member(s.t, sizesNewPods).SetUsage(s.t.Context(), lab.Usage{
		Namespace: s.ns, Labels: map[string]string{"app": name}, CPU: resource.NewMilliQuantity(int64(each), resource.DecimalSI),
	}); err != nil {
		s.t.Fatal(err)
	}
}

func ready(pods map[types.UID]*corev1.Pod) (n int) {
	for _, pod := range pods {
		if wasReady(pod) {
			n++
		}
	}
	return n
}

// carryOut resizes Pods that differ.
func (s *stage) carryOut(ctx context.Context, advice resource.Quantity, pods map[types.UID]*corev1.Pod) error {
	patch := fmt.Appendf(nil, `{"spec":{"containers":[{"name":"web","resources":{"requests":{"cpu":%q}}}]}}`, advice.String())
	for _, pod := range pods {
		if !wasReady(pod) || pod.Spec.Containers[0].Resources.Requests.Cpu().Equal(advice) {
			continue
		}
		if _, err := s.resource(sizesNewPods, "v1", "Pod").Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{},
			"resize"); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// recommend writes what containers should request, as the recommender that a MultidimPodAutoscaler names.
func (s *stage) recommend(name, target string) {
	s.t.Helper()
	const status = "{status: {recommendation: {containers: [{containerName: web, target: %s}], at: %q}}}"
	patch, err := yaml.YAMLToJSON(fmt.Appendf(nil, status, target, time.Now().UTC().Format(time.RFC3339)))
	if err == nil {
		_, err = s.multidims().Patch(s.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: sizer}, "status")
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// sizedAs returns which Pods do not have so much cpu.
func sizedAs(cpu string, pods map[types.UID]*corev1.Pod) error {
	var errs []error
	for _, pod := range pods {
		c := pod.Status.ContainerStatuses
		if len(c) != 1 || c[0].Resources == nil || c[0].Resources.Requests.Cpu().String() != cpu || c[0].RestartCount != 0 {
			errs = append(errs, fmt.Errorf("%s has %+v, want %s", pod.Name, c, cpu))
		}
	}
	return errors.Join(errs...)
}
