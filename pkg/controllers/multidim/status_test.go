// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// However many clusters there are, and however much they say, the hub can store the status.
func TestManyClusters(t *testing.T) {
	w := newWorld(t, object(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Scope = v1alpha1.ScopePerCluster }))
	w.clusters = map[string]*member{}
	long := &fleet.Silence{Reason: fleet.Reason(strings.Repeat("r", 2000)), Detail: strings.Repeat("x", 9000)}
	for i := range summary.MostClusters + 1 {
		c := &member{w: w, name: fmt.Sprintf("%s-%04d", strings.Repeat("c", 58), i), pods: []pod{
			{fmt.Sprint("web-", i), int64(100 + 3000*(i%2)), 200 * mi, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}, false}}}
		if i%5 == 4 {
			c.silence = long
		}
		w.clusters[c.name] = c
	}
	w.pass(1)
	s := &w.object().Status
	text, err := json.Marshal(s)
	if err != nil || len(text) > 700<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	same(t, "clusters", summary.MostClusters, len(s.Clusters))
	own, left := 0, 0
	for i := range s.Clusters {
		if s.Clusters[i].Recommendation != nil {
			own++
		}
		if s.Clusters[i].Reason == reasonTooMany {
			left++
		}
	}
	if own != leastOwn || left == 0 {
		t.Errorf("%d clusters have a recommendation of their own, and of %d it is left out", own, left)
	}
	for _, c := range s.Conditions {
		if len(c.Message) > summary.LongestMessage {
			t.Errorf("%s has %d bytes", c.Type, len(c.Message))
		}
	}
	w.told()
	same(t, "requests when nothing changes", 0, len(withoutStatus(w.pass(1))))
}

// Few clusters say all.
func TestFewClusters(t *testing.T) {
	w := newWorld(t, object())
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: strings.Repeat("x", 4000)}
	w.pass(1)
	same(t, "message", 4000, len(w.object().Status.Clusters[1].Message))
}

// Since is when a target changed, and not what would have been recommended without bounds.
func TestSince(t *testing.T) {
	w := newWorld(t, object(func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "*", Requests: v1alpha1.RequestBounds{
			MaxAllowed: v1alpha1.Size{CPU: quantity("100m"), Memory: quantity("100Mi")}}}}
	}))
	w.pass(3)
	w.use(3000, 2*gi)
	w.pass(30)
	r := w.object().Status.Recommendation
	if r.Containers[0].UncappedTarget.CPU.Cmp(*quantity("1")) < 0 {
		t.Errorf("uncapped: %v", r.Containers[0].UncappedTarget.CPU)
	}
	same(t, "since", noon, r.Since.UTC())
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Constraints.Container[0].Requests.MaxAllowed.CPU = quantity("200m")
	})
	now := w.clock.Now()
	w.pass(1)
	same(t, "since its target changed", now, w.object().Status.Recommendation.Since.UTC())
}

// What cannot be told now is said as it was before.
func TestConditionsStay(t *testing.T) {
	w := newWorld(t, object(withGoal))
	limited := deployment("1", "2Gi")
	template := limited.Object["spec"].(map[string]any)["template"].(map[string]any)
	container := template["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	container["resources"].(map[string]any)["limits"] = map[string]any{"cpu": "1"}
	if err := w.hub.Delete(t.Context(), deployment("1", "2Gi")); err != nil {
		t.Fatal(err)
	}
	w.clusters["west"].web = limited
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Goals.Metrics[0].Resource.Target.AverageUtilization = new(int32(95))
	})
	w.pass(2)
	hidden, unsure := words(w.object(), v1alpha1.MultidimGoalHiddenByLimit), words(w.object(), v1alpha1.MultidimLowConfidence)
	if !strings.HasPrefix(hidden, "True ") || !strings.HasPrefix(unsure, "True ") {
		t.Fatalf("hidden %q, unsure %q", hidden, unsure)
	}
	w.clusters["west"].web = nil
	w.clock.SetTime(w.clock.Now().Add(rereadAfter))
	w.pass(1)
	m := w.object()
	same(t, "hidden while the workload is gone", hidden, words(m, v1alpha1.MultidimGoalHiddenByLimit))
	same(t, "unsure while the workload is gone", unsure, words(m, v1alpha1.MultidimLowConfidence))
}

// Why it is not known which clusters count is no fault of the spec, unless it is.
func TestUnselected(t *testing.T) {
	for want, err := range map[string]error{
		"InvalidSpec": &selection.SpecError{Message: "spec.clusterAffinity: nonsense"}, "ClustersUnknown": errors.New("the hub does not answer"),
	} {
		p := plan{situation: situation{Object: object(), unselected: err}}
		want := (condition{kind: v1alpha1.MultidimRecommendationProvided, reason: want, message: err.Error()})
		if got := p.provided(&p.Object.Status); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A condition of the FederatedHPA that the hub would refuse here is not passed on.
func TestPassedOn(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(1)
	for reason, want := range map[string]bool{"Fine": true, "": false, "not fine": false, "fine:": false, "1": false,
		"a": true, "a:b,c_": true,
		strings.Repeat("r", summary.LongestReason): true, strings.Repeat("r", summary.LongestReason+1): false} {
		f := w.child()
		f.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue,
			Reason: reason}}
		p := plan{situation: situation{Object: w.object(), child: f, Now: time.Now()}}
		p.Object.Status.Conditions = nil
		p.passOn(&p.Object.Status.Conditions)
		same(t, reason, want, len(p.Object.Status.Conditions) == 1)
	}
}

// Amounts that no machine has are no other ones, and their sums are not negative.
func TestHugeAmounts(t *testing.T) {
	huge := corev1.ResourceList{"cpu": resource.MustParse("1e17"), "memory": resource.MustParse("9223372036854775807")}
	const most = recommendation.Most
	in := func(list corev1.ResourceList) sizes.Amounts {
		return recommendation.TemplateOf(&corev1.PodSpec{Overhead: list}).Overhead
	}
	same(t, "of a list", sizes.Amounts{most, most}, in(huge))
	same(t, "of a size", sizes.Amounts{most, most},
		recommendation.AmountsOf(v1alpha1.Size{CPU: quantity("1e17"), Memory: quantity("1e30")}))
	same(t, "of a core", int64(1000), in(corev1.ResourceList{"cpu": resource.MustParse("1")})[0])
	w := newWorld(t, object())
	for i := range w.clusters["east"].pods {
		w.clusters["east"].pods[i].requests = pods.Resources{MilliCPU: math.MaxInt64, Memory: math.MaxInt64}
	}
	w.pass(1)
	m := w.object()
	same(t, "requested", "200000000002", m.Status.Savings.Requested.CPU.String())
	if m.Status.Savings.Saved.Memory.Sign() <= 0 {
		t.Errorf("saved %v", m.Status.Savings.Saved.Memory)
	}
}

// While the hub measures nothing, what is recommended becomes old.
func TestBecomesStale(t *testing.T) {
	w := newWorld(t, object())
	w.pass(2)
	w.uses = errors.New("no answer")
	w.pass(10)
	same(t, "state within 10 minutes", v1alpha1.MultidimHeld, w.object().Status.Summary.State)
	w.pass(2)
	if got := words(w.object(), v1alpha1.MultidimRecommendationProvided); !strings.HasPrefix(got, "False RecommendationStale: ") {
		t.Errorf("after 12 minutes: %s", got)
	}
	w.uses = nil
	w.pass(1)
	same(t, "state afterwards", v1alpha1.MultidimActive, w.object().Status.Summary.State)
}

// What cannot be said now stays as it was, of clusters too.
func TestStays(t *testing.T) {
	w := newWorld(t, object(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Scope = v1alpha1.ScopePerCluster }))
	for i := range w.clusters["east"].pods {
		w.clusters["east"].pods[i].cpu = 3000
	}
	w.pass(2)
	before := w.object().Status
	w.restart()
	w.History = history.New(interceptor.NewClient(w.hub, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no answer")
		},
	}), time.Minute)
	w.pass(1)
	after := w.object().Status
	if got := words(w.object(), v1alpha1.MultidimRecommendationProvided); !strings.HasPrefix(got, "False HistoryUnavailable: ") {
		t.Errorf("provided: %s", got)
	}
	same(t, "recommendation", before.Recommendation, after.Recommendation)
	same(t, "clusters", before.Clusters, after.Clusters)
	if r := before.Clusters[1].Recommendation; r == nil {
		t.Error("west has no recommendation of its own")
	}
}

// Where no cluster is selected, nobody is asked what is used.
func TestNobodyIsAsked(t *testing.T) {
	w := newWorld(t, object(func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"north"}}
	}))
	w.pass(2)
	same(t, "questions", 0, w.asked)
}

// A process that is new does not know for how long the metrics have been missing, and says that they are once they have been so to it.
func TestBecomesStaleAfterARestart(t *testing.T) {
	w := newWorld(t, object())
	w.pass(2)
	w.uses = errors.New("no answer")
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.restart()
	w.pass(11)
	same(t, "state within 10 minutes", v1alpha1.MultidimHeld, w.object().Status.Summary.State)
	w.pass(1)
	if got := words(w.object(), v1alpha1.MultidimRecommendationProvided); !strings.HasPrefix(got, "False RecommendationStale: ") {
		t.Errorf("after 11 minutes: %s", got)
	}
}

// What always changes is written now and then.
func TestIsNews(t *testing.T) {
	status := func(change func(*v1alpha1.MultidimPodAutoscalerStatus)) *v1alpha1.MultidimPodAutoscalerStatus {
		s := &v1alpha1.MultidimPodAutoscalerStatus{
			Recommendation: &v1alpha1.SizeRecommendation{At: &metav1.Time{Time: noon}, Containers: []v1alpha1.ContainerRecommendation{{
				ContainerName: "app", Target: v1alpha1.Size{CPU: quantity("100m")}, UpperBound: v1alpha1.Size{CPU: quantity("1")}}}},
			Conditions: []metav1.Condition{{Type: v1alpha1.MultidimLowConfidence, Message: "1h"}, {Type: v1alpha1.MultidimActing, Message: "1h"}},
			CurrentMetrics: []autoscalingv2.MetricStatus{{Resource: &autoscalingv2.ResourceMetricStatus{
				Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("1"), AverageUtilization: new(int32(50))}}}},
		}
		change(s)
		return s
	}
	of := func(s *v1alpha1.MultidimPodAutoscalerStatus) *v1alpha1.ContainerRecommendation {
		return &s.Recommendation.Containers[0]
	}
	const never = 2 * time.Hour
	for name, tc := range map[string]struct {
		change func(*v1alpha1.MultidimPodAutoscalerStatus)
		after  time.Duration
	}{
		"nothing":       {func(*v1alpha1.MultidimPodAutoscalerStatus) {}, never},
		"the time":      {func(s *v1alpha1.MultidimPodAutoscalerStatus) { s.Recommendation.At.Time = noon.Add(time.Second) }, time.Hour},
		"a target":      {func(s *v1alpha1.MultidimPodAutoscalerStatus) { of(s).Target.CPU = quantity("101m") }, 0},
		"a bound":       {func(s *v1alpha1.MultidimPodAutoscalerStatus) { of(s).UpperBound.CPU = quantity("1112m") }, 10 * time.Minute},
		"a bound, less": {func(s *v1alpha1.MultidimPodAutoscalerStatus) { of(s).UpperBound.CPU = quantity("899m") }, 10 * time.Minute},
		"a bound, by a tenth": {func(s *v1alpha1.MultidimPodAutoscalerStatus) { of(s).UpperBound.CPU = quantity("900m") },
			time.Hour},
		"a bound that is new": {func(s *v1alpha1.MultidimPodAutoscalerStatus) { of(s).LowerBound.CPU = quantity("1m") }, 10 * time.Minute},
		"a metric": {func(s *v1alpha1.MultidimPodAutoscalerStatus) {
			s.CurrentMetrics[0].Resource.Current.AverageValue = quantity("2")
		}, 10 * time.Minute},
		"a metric, a little": {func(s *v1alpha1.MultidimPodAutoscalerStatus) {
			current := &s.CurrentMetrics[0].Resource.Current
			current.AverageValue, current.AverageUtilization = quantity("1050m"), new(int32(52))
		}, time.Hour},
		"a percentage alone": {func(s *v1alpha1.MultidimPodAutoscalerStatus) {
			s.CurrentMetrics[0].Resource.Current.AverageValue = nil
		}, 10 * time.Minute},
		"how long there is history":    {func(s *v1alpha1.MultidimPodAutoscalerStatus) { s.Conditions[0].Message = "2h" }, time.Hour},
		"what another condition says":  {func(s *v1alpha1.MultidimPodAutoscalerStatus) { s.Conditions[1].Message = "2h" }, 0},
		"how many replicas are wanted": {func(s *v1alpha1.MultidimPodAutoscalerStatus) { s.DesiredReplicas++ }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := status(func(*v1alpha1.MultidimPodAutoscalerStatus) {}), status(tc.change)
			kept := after.DeepCopy()
			since := time.Duration(0)
			for since < never && !isNews(before, after, since) {
				since += time.Minute
			}
			same(t, "written after", tc.after, since)
			same(t, "the status is not changed", kept, after)
		})
	}
}

// The template holds while the only cluster that has the workload cannot be read.
func TestTemplateHolds(t *testing.T) {
	w := newWorld(t, object())
	if err := w.hub.Delete(t.Context(), deployment("1", "2Gi")); err != nil {
		t.Fatal(err)
	}
	w.clusters["west"].web = deployment("1", "2Gi")
	w.pass(2)
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.clock.SetTime(w.clock.Now().Add(rereadAfter))
	w.pass(1)
	same(t, "state", v1alpha1.MultidimHeld, w.object().Status.Summary.State)
}
