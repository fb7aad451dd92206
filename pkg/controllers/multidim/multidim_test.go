// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// recommended is the target of app, or "".
func recommendedFor(r *v1alpha1.SizeRecommendation) string {
	if r == nil || len(r.Containers) == 0 {
		return ""
	}
	c := r.Containers[0]
	text := c.ContainerName
	for _, q := range []any{c.Target.CPU, c.Target.Memory} {
		text += " " + strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(toText(q), "<nil>", "-")), "&")
	}
	for _, by := range c.CappedBy {
		text += " " + string(by.Resource) + ":" + by.Reason
	}
	return text
}

// Pods use a tenth of what they request: that is said, and what would be saved.
func TestRecommends(t *testing.T) {
	w := newWorld(t, object())
	w.clusters["east"].prices = registration.Prices{CPUHour: new(0.04), GiBHour: new(0.01)}
	w.clusters["west"].prices = registration.Prices{CPUHour: new(0.02), GiBHour: new(0.0)}
	w.pass(3)
	m := w.object()
	same(t, "recommendation", "app 126m 250Mi", recommendedFor(m.Status.Recommendation))
	same(t, "since", noon, m.Status.Recommendation.Since.UTC())
	same(t, "summary", &v1alpha1.MultidimPodAutoscalerSummary{Target: "Deployment/web", Sized: "0/4", CPU: "1 -> 126m",
		Memory: "2Gi -> 250Mi", Savings: "3.496 cpu, 7Gi, 0.14/h", State: v1alpha1.MultidimActive}, m.Status.Summary)
	same(t, "saved", "3496m", m.Status.Savings.Saved.CPU.String())
	same(t, "cost", "0.1400", m.Status.Savings.CostPerHour[:6])
	same(t, "replicas", []int32{4, 4}, []int32{m.Status.CurrentReplicas, m.Status.DesiredReplicas})
	same(t, "provided", "True Recommended: from what containers used in all clusters", words(m, v1alpha1.MultidimRecommendationProvided))
	if unsure := words(m, v1alpha1.MultidimLowConfidence); !strings.HasPrefix(unsure,
		"True ShortHistory: container \"app\" has been measured for ") {
		t.Errorf("low confidence: %q", unsure)
	}
	same(t, "clusters", []string{"east Active 2 0", "west Active 2 0"}, clusterWords(m))
	same(t, "Events", []string{"Normal Recommended the first recommendation: container app: 126m cpu, 250Mi memory"}, w.told())
	if w.child() != nil {
		t.Error("there is a FederatedHPA without goals")
	}
}

func clusterWords(m *v1alpha1.MultidimPodAutoscaler) (all []string) {
	for _, c := range m.Status.Clusters {
		text := c.Name + " " + string(c.State)
		for _, n := range []*int32{c.Pods, c.AsRecommended} {
			if n != nil {
				text += " " + toText(*n)
			}
		}
		for _, more := range []string{c.Reason, c.Message, recommendedFor(c.Recommendation)} {
			if more != "" {
				text += " " + more
			}
		}
		all = append(all, text)
	}
	return all
}

// Where nothing changes, a reconcile asks the hub for what is used, and for nothing else; it asks no member and writes nothing.
func TestQuiet(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(3)
	asked := w.asked
	for minute := range 5 {
		if requests := w.pass(1); len(requests) > 0 {
			t.Errorf("minute %d: %v", minute, requests)
		}
	}
	same(t, "questions", 5, w.asked-asked)
	w.pass(20)
	same(t, "the workload is asked for in members", 0, w.clusters["east"].asked)
	if at := w.object().Status.Recommendation.At; w.clock.Now().Sub(at.Time) > 11*time.Minute {
		t.Errorf("the status is of %v, and it is %v", at, w.clock.Now())
	}
}

// A silent cluster holds what is recommended; it may rise meanwhile.
func TestSilentClusterHolds(t *testing.T) {
	w := newWorld(t, object())
	w.use(400, 800*mi)
	w.pass(5)
	before := recommendedFor(w.object().Status.Recommendation)
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.use(10, 20*mi)
	w.clock.SetTime(w.clock.Now().Add(48 * time.Hour))
	w.pass(60)
	m := w.object()
	same(t, "recommendation", before, recommendedFor(m.Status.Recommendation))
	same(t, "state", v1alpha1.MultidimHeld, m.Status.Summary.State)
	same(t, "provided", "True Held: nothing becomes less while clusters are silent: west", words(m, v1alpha1.MultidimRecommendationProvided))
	same(t, "clusters", []string{"east Active 2 0", "west Unreachable 2 0 Timeout no answer"}, clusterWords(m))

	w.use(4000, 8*gi)
	w.pass(120)
	if rose := recommendedFor(w.object().Status.Recommendation); rose == before {
		t.Errorf("%s stays, though the other cluster uses ten times as much", rose)
	}
	w.clusters["west"].silence = nil
	w.use(10, 20*mi)
	w.clock.SetTime(w.clock.Now().Add(240 * time.Hour))
	w.pass(60)
	m = w.object()
	same(t, "recommendation once all answer", "app 25m 250Mi", recommendedFor(m.Status.Recommendation))
	same(t, "state once all answer", v1alpha1.MultidimActive, m.Status.Summary.State)
}

// A silent cluster that is drained holds nothing.
func TestSilentClusterThatIsDrainedHoldsNothing(t *testing.T) {
	w := newWorld(t, object())
	w.use(400, 800*mi)
	w.pass(5)
	west := w.clusters["west"]
	west.silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	west.taints = []corev1.Taint{{Key: "broken", Effect: corev1.TaintEffectNoExecute}}
	w.use(10, 20*mi)
	w.clock.SetTime(w.clock.Now().Add(240 * time.Hour))
	w.pass(60)
	m := w.object()
	same(t, "recommendation", "app 25m 250Mi", recommendedFor(m.Status.Recommendation))
	same(t, "state", v1alpha1.MultidimActive, m.Status.Summary.State)
}

// The next leader has never seen the Pods of a silent cluster. They are reported as they were, and count in all sums.
func TestRestartBesideSilentCluster(t *testing.T) {
	w := newWorld(t, object())
	for _, c := range w.clusters {
		c.prices = registration.Prices{CPUHour: new(1.0), GiBHour: new(0.5)}
	}
	w.use(400, 800*mi)
	w.pass(5)
	before := w.object()
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.clusters["west"].unmet = true
	w.restart()
	w.pass(2)
	m := w.object()
	same(t, "clusters", []string{"east Active 2 0", "west Unreachable 2 0 Timeout no answer"}, clusterWords(m))
	same(t, "replicas", before.Status.CurrentReplicas, m.Status.CurrentReplicas)
	same(t, "savings", before.Status.Savings, m.Status.Savings)
	short := before.Status.Summary.DeepCopy()
	short.State = v1alpha1.MultidimHeld
	same(t, "summary", short, m.Status.Summary)
}

// Registrations that lead nowhere, and never did, hold nothing: sizes fall as without them.
func TestDeadRegistrationsHoldNothing(t *testing.T) {
	outcome := func(dead int) []string {
		w := newWorld(t, object())
		for i := range dead {
			name := fmt.Sprintf("dead-%d", i)
			w.clusters[name] = &member{w: w, name: name, joining: true, silence: &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}}
		}
		w.use(400, 800*mi)
		w.pass(5)
		seen := []string{recommendedFor(w.object().Status.Recommendation)}
		w.use(10, 20*mi)
		w.clock.SetTime(w.clock.Now().Add(240 * time.Hour))
		w.pass(60)
		m := w.object()
		return append(append(seen, recommendedFor(m.Status.Recommendation), string(m.Status.Summary.State)), clusterWords(m)...)
	}
	want := outcome(0)
	if want[0] == want[1] {
		t.Fatalf("nothing became less: %q", want)
	}
	same(t, "with ten of them", want, outcome(10))
}

// The next leader recommends the same: what was learned is loaded first.
func TestRestart(t *testing.T) {
	w := newWorld(t, object())
	w.use(400, 800*mi)
	w.pass(15)
	before := w.object().Status.Recommendation
	ctx, stop := contextOf(t)
	ended := make(chan error)
	go func() { ended <- w.store.Run(ctx) }()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.use(4, 800*mi) // the peaks of memory of the running day are not saved
	w.pass(1)
	same(t, "recommendation", recommendedFor(before), recommendedFor(w.object().Status.Recommendation))
	same(t, "since", before.Since, w.object().Status.Recommendation.Since)
}

func TestBounds(t *testing.T) {
	unbounded := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	free := capacity.LimitRange{Min: unbounded, Max: unbounded, MaxRatio: capacity.Ratios{CPU: pods.None, Memory: pods.None}}
	tests := map[string]struct {
		spec     func(*v1alpha1.MultidimPodAutoscaler)
		east     func(*member)
		fleet    string
		clusters []string
	}{
		"what users allow": {
			spec: func(m *v1alpha1.MultidimPodAutoscaler) {
				m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "*", Requests: v1alpha1.RequestBounds{
					MinAllowed: v1alpha1.Size{Memory: quantity("1Gi")}, MaxAllowed: v1alpha1.Size{CPU: quantity("100m")}}}}
			},
			fleet: "app 100m 1Gi cpu:MaxAllowed memory:MinAllowed", clusters: []string{"", ""},
		},
		"one resource": {
			spec: func(m *v1alpha1.MultidimPodAutoscaler) {
				m.Spec.Constraints.ContainerControlledResources = []corev1.ResourceName{corev1.ResourceMemory}
			},
			fleet: "app - 250Mi", clusters: []string{"", ""},
		},
		"a LimitRange of one cluster": {
			east: func(c *member) {
				c.limits = capacity.LimitRanges{Known: true, Container: free, Pod: free, DefaultRequests: unbounded, DefaultLimits: unbounded}
				c.limits.Container.Min.MilliCPU = 200
			},
			fleet: "app 126m 250Mi", clusters: []string{"app 200m 250Mi cpu:LimitRangeMin", ""},
		},
		"the largest node of one cluster": {
			east: func(c *member) {
				c.nodes = capacity.LargestNodes{Known: true, Nodes: []pods.Resources{{MilliCPU: 100, Memory: gi}}}
			},
			fleet: "app 126m 250Mi", clusters: []string{"app 90m 250Mi cpu:LargestNode", ""},
		},
		"one of several nodes fits": {
			east: func(c *member) {
				c.nodes = capacity.LargestNodes{Known: true, Nodes: []pods.Resources{{MilliCPU: 100, Memory: 8 * gi}, {MilliCPU: 4000, Memory: gi}}}
			},
			fleet: "app 126m 250Mi", clusters: []string{"", ""},
		},
		"a quota of one cluster, divided among its Pods": {
			east: func(c *member) {
				c.quota = capacity.QuotaLeft{Known: true, Requests: pods.Resources{MilliCPU: 200, Memory: pods.None}, Limits: unbounded}
			},
			fleet: "app 126m 250Mi", clusters: []string{"app 100m 250Mi cpu:Quota", ""},
		},
		"what may not be read does not bound": {
			east: func(c *member) {
				c.nodes = capacity.LargestNodes{Unknown: &fleet.Silence{Reason: fleet.ReasonForbidden, Detail: "nodes is forbidden"}}
			},
			fleet: "app 126m 250Mi", clusters: []string{"", ""},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := object()
			if tc.spec != nil {
				tc.spec(m)
			}
			w := newWorld(t, m)
			if tc.east != nil {
				tc.east(w.clusters["east"])
			}
			w.pass(2)
			m = w.object()
			same(t, "fleet", tc.fleet, recommendedFor(m.Status.Recommendation))
			same(t, "clusters", tc.clusters, []string{recommendedFor(m.Status.Clusters[0].Recommendation),
				recommendedFor(m.Status.Clusters[1].Recommendation)})
			if name == "what may not be read does not bound" {
				same(t, "east", "its nodes do not bound what is recommended: nodes is forbidden", m.Status.Clusters[0].Message)
			}
		})
	}
}

func TestPerCluster(t *testing.T) {
	w := newWorld(t, object(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Scope = v1alpha1.ScopePerCluster }))
	for i := range w.clusters["east"].pods {
		w.clusters["east"].pods[i].cpu = 1000
	}
	w.pass(3)
	m := w.object()
	east, west := m.Status.Clusters[0].Recommendation, m.Status.Clusters[1].Recommendation
	if fleet := m.Status.Recommendation.Containers[0].Target.CPU; east != nil || west == nil ||
		west.Containers[0].Target.CPU.Cmp(*fleet) >= 0 {
		t.Errorf("of the fleet %v, east %v, west %v: want the fleet's for east, and less for west", fleet, east, west)
	}
}

// A container that was killed for want of memory is recommended more, and it is said.
func TestKilled(t *testing.T) {
	w := newWorld(t, object())
	w.pass(2)
	w.told()
	w.clusters["east"].pods[0].killed = true
	w.pass(1)
	if got := w.object().Status.Recommendation.Containers[0].Target.Memory; got.Cmp(*quantity("2Gi")) <= 0 {
		t.Errorf("%v is recommended for what was killed with 2Gi", got)
	}
	same(t, "Events", []string{"Warning OOMKilled cluster east: container app of Pod web-0 was killed for want of memory; more is " +
		"recommended for it"},
		w.told())
	w.pass(3)
	same(t, "Events afterwards", []string(nil), w.told())
}

// Goals have a FederatedHPA made, whose targets no size can move, and that nobody else changes.
func TestGoals(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(1)
	f := w.child()
	if f == nil || !metav1.IsControlledBy(f, w.object()) {
		t.Fatalf("FederatedHPA %v", f)
	}
	target := f.Spec.Metrics[0].Resource.Target
	same(t, "target", "AverageValue 500m", string(target.Type)+" "+target.AverageValue.String())
	same(t, "bounds", []int32{2, 10}, []int32{*f.Spec.MinReplicas, f.Spec.MaxReplicas})

	f.Spec.MaxReplicas = 90
	if err := w.hub.Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	same(t, "requests after an edit of others", []string{"patch FederatedHPA"}, withoutStatus(w.pass(1)))
	same(t, "maxReplicas", int32(10), w.child().Spec.MaxReplicas)

	f = w.child()
	f.Status = v1alpha1.FederatedHPAStatus{}
	f.Status.CurrentReplicas, f.Status.DesiredReplicas = 4, 5
	f.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU,
			Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("600m")}}}}
	f.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue,
		Reason: "ValidMetricFound", Message: "fine"}}
	if err := w.hub.Status().Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	m := w.object()
	same(t, "replicas", []int32{4, 5}, []int32{m.Status.CurrentReplicas, m.Status.DesiredReplicas})
	same(t, "utilization", int32(60), *m.Status.CurrentMetrics[0].Resource.Current.AverageUtilization)
	same(t, "ScalingActive", "True ValidMetricFound: fine", words(m, "ScalingActive"))
	same(t, "above the minimum a Pod reserves what it may use until others come", "app 600m 250Mi cpu:GoalFloor",
		recommendedFor(m.Status.Recommendation))

	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil })
	w.pass(1)
	if w.child() != nil {
		t.Error("the FederatedHPA stays without goals")
	}
	w.pass(1)
	same(t, "ScalingActive without goals", "", words(w.object(), "ScalingActive"))
}

func withoutStatus(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return strings.HasPrefix(r, "status ") ||
			strings.HasPrefix(r, "get ")
	})
}

// A rollout with other requests moves the target.
func TestTemplateChanges(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(2)
	changed := deployment("3", "2Gi")
	if err := w.hub.Delete(t.Context(), deployment("1", "2Gi")); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.Create(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	w.clusters["east"].pods[0].requests.MilliCPU = 3000
	w.pass(2)
	same(t, "target", "1500m", w.child().Spec.Metrics[0].Resource.Target.AverageValue.String())
}

// A workload that only members have is read there.
func TestWorkloadInMembers(t *testing.T) {
	w := newWorld(t, object(withGoal, acting(v1alpha1.UpdateModeInitial)))
	if err := w.hub.Delete(t.Context(), deployment("1", "2Gi")); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	m := w.object()
	same(t, "state", v1alpha1.MultidimFailing, m.Status.Summary.State)
	if got := words(m, v1alpha1.MultidimRecommendationProvided); !strings.Contains(got,
		`False TargetNotFound: Deployment "web" is not there: on the hub: `) ||
		!strings.Contains(got, "in cluster east: ") {
		t.Errorf("provided: %s", got)
	}
	same(t, "Pods get their sizes", "False NothingRecommended", w.actuationOf())
	w.clusters["west"].web = deployment("2", "2Gi")
	w.pass(2)
	same(t, "target", "1", w.child().Spec.Metrics[0].Resource.Target.AverageValue.String())
	same(t, "recommendation", "app 126m 250Mi", recommendedFor(w.object().Status.Recommendation))
}

func TestModes(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(2)
	for _, mode := range []v1alpha1.AutoscalingMode{v1alpha1.ModeObserve, v1alpha1.ModePaused} {
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = mode })
		asked := w.asked
		w.pass(1)
		same(t, "mode of the FederatedHPA", mode, w.child().Spec.Mode)
		if decides := w.asked > asked; decides != (mode == v1alpha1.ModeObserve) {
			t.Errorf("in mode %s, asked what is used: %v", mode, decides)
		}
	}
	m := w.object()
	same(t, "acting", "False Paused: spec.mode is Paused: nothing is decided", words(m, v1alpha1.MultidimActing))
	same(t, "state", v1alpha1.MultidimPaused, m.Status.Summary.State)
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Goals = nil })
	w.pass(1)
	if w.child() == nil {
		t.Error("the FederatedHPA is deleted while the object is paused")
	}
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = "" })
	w.pass(1)
	if w.child() != nil {
		t.Error("the FederatedHPA stays without goals")
	}
	same(t, "acting", "True Active: what is decided is carried out", words(w.object(), v1alpha1.MultidimActing))
}

func TestFaults(t *testing.T) {
	metricsAPI := errors.New("the server is currently unable to handle the request")
	tests := map[string]struct {
		prepare func(*world)
		object  []func(*v1alpha1.MultidimPodAutoscaler)
		state   v1alpha1.MultidimPodAutoscalerState
		kind    string
		want    string
	}{
		"nothing measured yet": {prepare: func(w *world) { w.clusters["east"].pods, w.clusters["west"].pods = nil, nil },
			state: v1alpha1.MultidimLearning,
			kind:  v1alpha1.MultidimRecommendationProvided, want: "False Learning: no use of the workload's containers has been measured yet"},
		"no metrics API": {prepare: func(w *world) { w.uses = metricsAPI }, state: v1alpha1.MultidimFailing,
			kind: v1alpha1.MultidimRecommendationProvided, want: "False MetricsUnavailable: asking what the Pods use: " + metricsAPI.Error()},
		"no cluster": {object: []func(*v1alpha1.MultidimPodAutoscaler){func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"north"}}
		}}, state: v1alpha1.MultidimFailing, kind: v1alpha1.MultidimRecommendationProvided,
			want: "False NoClusters: no registered cluster is selected: compare spec.clusterAffinity with the registrations"},
		"no container is sized": {object: []func(*v1alpha1.MultidimPodAutoscaler){func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "*", Mode: v1alpha1.ContainerOff}}
		}}, state: v1alpha1.MultidimFailing, kind: v1alpha1.MultidimRecommendationProvided,
			want: "False NothingSized: no container is sized: constraints leave none"},
		"a goal without a request": {object: []func(*v1alpha1.MultidimPodAutoscaler){withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.Goals.Metrics[0].Resource.Name = corev1.ResourceEphemeralStorage
		}}, state: v1alpha1.MultidimFailing, kind: v1alpha1.MultidimConfigUnsupported,
			want: "True NoRequest: spec.goals.metrics[0]: container \"app\" requests no ephemeral-storage in the template, so its utilization " +
				"cannot be told: give it a request, or write the goal as averageValue"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object(tc.object...))
			if tc.prepare != nil {
				tc.prepare(w)
			}
			w.pass(2)
			m := w.object()
			same(t, tc.kind, tc.want, words(m, tc.kind))
			same(t, "state", tc.state, m.Status.Summary.State)
		})
	}
}

// Who else governs the workload is named, and no FederatedHPA is made beside it.
func TestOthers(t *testing.T) {
	web := object().Spec.ScaleTargetRef
	local := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs"}}
	local.Spec.ScaleTargetRef = web
	federated := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs"}}
	federated.Spec.ScaleTargetRef = web
	older := object(func(m *v1alpha1.MultidimPodAutoscaler) { m.Name, m.UID = "older", "a" })
	older.CreationTimestamp = metav1.Time{Time: noon.Add(-time.Hour)}

	for name, w := range map[string]*world{
		"HorizontalPodAutoscaler": newWorld(t, object(withGoal), local), "FederatedHPA": newWorld(t, object(withGoal), federated),
		"MultidimPodAutoscaler": newWorld(t, object(withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
			m.CreationTimestamp = metav1.Time{Time: noon}
		}), older),
	} {
		t.Run(name, func(t *testing.T) {
			w.pass(1)
			m := w.object()
			if got := words(m, v1alpha1.MultidimConfigUnsupported); !strings.HasPrefix(got, "True AnotherAutoscaler: ") ||
				!strings.Contains(got, name) {
				t.Errorf("unsupported: %q", got)
			}
			same(t, "recommendation all the same", "app 126m 250Mi", recommendedFor(m.Status.Recommendation))
			if w.child() != nil {
				t.Error("a FederatedHPA is made beside another autoscaler")
			}
		})
	}
	t.Run("of mere advice", func(t *testing.T) {
		w := newWorld(t, object(), local)
		w.pass(1)
		m := w.object()
		same(t, "state", v1alpha1.MultidimActive, m.Status.Summary.State)
		same(t, "unsupported", "AnotherAutoscaler", meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MultidimConfigUnsupported).Reason)
	})
	t.Run("in a cluster", func(t *testing.T) {
		w := newWorld(t, object(withGoal))
		w.clusters["west"].hpas = []*autoscalingv2.HorizontalPodAutoscaler{local}
		w.pass(1)
		m := w.object()
		same(t, "west", v1alpha1.ClusterConflict, m.Status.Clusters[1].State)
		if got := words(m, v1alpha1.MultidimConfigUnsupported); !strings.Contains(got,
			"cluster west: the workload is scaled there by HorizontalPodAutoscaler shop/theirs") {
			t.Errorf("unsupported: %q", got)
		}
	})
	t.Run("of the same name", func(t *testing.T) {
		stranger := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		stranger.Spec.ScaleTargetRef.Name = "other"
		w := newWorld(t, object(withGoal), stranger)
		w.pass(1)
		same(t, "unsupported", `True NotTheOwner: FederatedHPA "web" is not this object's: delete it, or give this object another name`,
			words(w.object(), v1alpha1.MultidimConfigUnsupported))
		same(t, "its target", "other", w.child().Spec.ScaleTargetRef.Name)
	})
}

// Who sizes the workload on the hub, and rules that name it, are told, and replicas follow the goals all the same.
func TestBeside(t *testing.T) {
	rules := func(target, kind string) *v1alpha1.CronFederatedHPA {
		c := &v1alpha1.CronFederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "daily"}}
		c.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: kind, Name: target}
		if kind == v1alpha1.MultidimPodAutoscalerKind {
			c.Spec.ScaleTargetRef.APIVersion = v1alpha1.SchemeGroupVersion.String()
		}
		return c
	}
	one := func(mode, target string) []*vpa.VerticalPodAutoscaler {
		v := &vpa.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs"}}
		v.Spec.TargetRef, v.Spec.UpdatePolicy.UpdateMode = object().Spec.ScaleTargetRef, mode
		v.Spec.TargetRef.Name = target
		return []*vpa.VerticalPodAutoscaler{v}
	}
	const (
		sized = `True AnotherAutoscaler: Deployment "web" is sized by VerticalPodAutoscaler "theirs": delete that or set its updateMode to ` +
			`Off, or name another workload`
		ruled = `True AnotherAutoscaler: CronFederatedHPA "daily" sets the replicas of Deployment "web" too, and its rules fail: make it name ` +
			`this MultidimPodAutoscaler`
		there = `; cluster west: the workload is sized there by VerticalPodAutoscaler shop/theirs: delete it or set its updateMode to Off, ` +
			`or take the cluster out of clusterAffinity`
	)
	goals, none := []func(*v1alpha1.MultidimPodAutoscaler){withGoal}, []func(*v1alpha1.MultidimPodAutoscaler){}
	for name, tc := range map[string]struct {
		object []func(*v1alpha1.MultidimPodAutoscaler)
		rules  *v1alpha1.CronFederatedHPA
		vpas   []*vpa.VerticalPodAutoscaler // of the hub
		west   []*vpa.VerticalPodAutoscaler
		want   string
		state  v1alpha1.MultidimPodAutoscalerState
	}{
		"a VPA that acts": {object: goals, vpas: one("Auto", "web"), want: sized,
			state: v1alpha1.MultidimFailing},
		"a VPA beside mere advice":  {object: none, vpas: one("", "web"), want: sized, state: v1alpha1.MultidimActive},
		"a VPA that only advises":   {object: goals, vpas: one("Off", "web"), state: v1alpha1.MultidimActive},
		"a VPA of another workload": {object: goals, vpas: one("Auto", "other"), state: v1alpha1.MultidimActive},
		"a VPA on the hub and in a cluster": {object: goals, vpas: one("Auto", "web"),
			west: one("Auto", "web"), want: sized + there, state: v1alpha1.MultidimFailing},
		"rules for the workload": {object: goals, rules: rules("web", "Deployment"), want: ruled,
			state: v1alpha1.MultidimFailing},
		"rules for the workload beside mere advice": {object: none, rules: rules("web", "Deployment"), state: v1alpha1.MultidimActive},
		"rules for this object": {object: goals, rules: rules("web", "MultidimPodAutoscaler"),
			state: v1alpha1.MultidimActive},
		"rules for another workload": {object: goals, rules: rules("other", "Deployment"), state: v1alpha1.MultidimActive},
	} {
		t.Run(name, func(t *testing.T) {
			m, others := object(tc.object...), []client.Object{}
			if tc.rules != nil {
				others = append(others, tc.rules)
			}
			w := newWorld(t, m, others...)
			w.vpas, w.clusters["west"].vpas = tc.vpas, tc.west
			w.pass(2)
			same(t, "unsupported", tc.want, words(w.object(), v1alpha1.MultidimConfigUnsupported))
			same(t, "state", tc.state, w.object().Status.Summary.State)
			if child := w.child(); (child != nil) != (m.Spec.Goals != nil) {
				t.Errorf("the FederatedHPA is %v", child)
			}
		})
	}
}

// What a VerticalPodAutoscaler of a cluster has learned is used from the beginning.
func TestTakesOver(t *testing.T) {
	w := newWorld(t, object())
	east := w.clusters["east"]
	before := &vpa.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-vpa"}}
	before.Spec.TargetRef, before.Spec.UpdatePolicy.UpdateMode = object().Spec.ScaleTargetRef, "Off"
	east.vpas = []*vpa.VerticalPodAutoscaler{before}
	checkpoint := func(of, container string) unstructured.Unstructured {
		weights := map[string]any{"referenceTimestamp": "2026-11-22T00:00:00Z", "totalWeight": 231.5,
			"bucketWeights": map[string]any{"34": int64(10000)}}
		return unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "shop", "name": of + "-" + container},
			"spec":     map[string]any{"vpaObjectName": of, "containerName": container},
			"status": map[string]any{"version": "v3", "firstSampleStart": "2026-11-12T00:00:00Z", "lastSampleStart": "2026-11-22T11:59:00Z",
				"totalSamplesCount": int64(15000), "cpuHistogram": weights, "memoryHistogram": weights},
		}}
	}
	east.learned = []unstructured.Unstructured{checkpoint("web-vpa", "app"), checkpoint("web-vpa", "gone"), checkpoint("other", "app")}
	east.silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.pass(1)
	same(t, "questions to a silent cluster", 0, east.asked)
	east.silence = nil
	w.pass(2)
	m := w.object()
	if cpu := m.Status.Recommendation.Containers[0].Target.CPU; cpu.Cmp(*quantity("900m")) < 0 {
		t.Errorf("%v is recommended, which is not what was learned", cpu)
	}
	same(t, "low confidence", "False LongHistory: there is history of a day or more", words(m, v1alpha1.MultidimLowConfidence))
	same(t, "unsupported: one that is Off is not in the way", "", words(m, v1alpha1.MultidimConfigUnsupported))
	if told := w.told(); !slices.Contains(told,
		"Normal HistoryTakenOver cluster east: what VerticalPodAutoscaler web-vpa has learned of container app is used") {
		t.Errorf("Events %q", told)
	}
	w.restart()
	w.pass(3)
	same(t, "questions to the cluster, by two processes", 2, east.asked)
}

// An upper bound is left out until it says something.
func TestUpperBound(t *testing.T) {
	w := newWorld(t, object())
	w.pass(1)
	if upper := w.object().Status.Recommendation.Containers[0].UpperBound; upper != (v1alpha1.Size{}) {
		t.Errorf("after one sample it is %v", upper)
	}
	w.pass(30)
	if upper := w.object().Status.Recommendation.Containers[0].UpperBound; upper.CPU == nil || upper.Memory == nil {
		t.Errorf("after half an hour it is %v", upper)
	}
}

// Where there are goals, it is no failure that nothing is sized.
func TestGoalsAlone(t *testing.T) {
	w := newWorld(t, object(withGoal, func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "*", Mode: v1alpha1.ContainerOff}}
	}))
	w.pass(2)
	m := w.object()
	same(t, "state", v1alpha1.MultidimActive, m.Status.Summary.State)
	same(t, "provided", "False NothingSized: no container is sized: constraints leave none",
		words(m, v1alpha1.MultidimRecommendationProvided))
	if w.child() == nil {
		t.Error("there is no FederatedHPA for the goals")
	}
}
