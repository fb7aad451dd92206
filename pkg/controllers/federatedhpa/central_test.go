// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// What a person sees after one reconcile of a workload of ten on the hub, at its target.
func TestOneReconcile(t *testing.T) {
	const cpuAbove = "cpu resource utilization (percentage of request) above target"
	tests := map[string]struct {
		arrange func(*world)
		want    string   // the status
		told    []string // Events
		runs    int32
		err     string
	}{
		"at the target nothing is done": {func(*world) {}, "Active 2/2 10->10", nil, 10, ""},
		"above it replicas rise": {func(w *world) { w.usesPercent(75) },
			"Active 2/2 10->15", []string{"SuccessfulRescale: New size: 15; reason: " + cpuAbove}, 15, ""},
		"far above they rise to twice at most": {func(w *world) { w.usesPercent(150) },
			"Limited 2/2 10->20 ScaleUpLimit", []string{"SuccessfulRescale: New size: 20; reason: " + cpuAbove}, 20, ""},
		"below it the window holds": {func(w *world) { w.usesPercent(10) }, "Active 2/2 10->10 ScaleDownStabilized", nil, 10, ""},
		"more than the most is cut": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 7 }) },
			"Active 2/2 10->7", []string{"SuccessfulRescale: New size: 7; reason: Current number of replicas above Spec.MaxReplicas"}, 7, ""},
		"fewer than the least are raised": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { *s.MinReplicas = 12 }) },
			"Active 2/2 10->12", []string{"SuccessfulRescale: New size: 12; reason: Current number of replicas below Spec.MinReplicas"}, 12, ""},
		"the most limits": {func(w *world) { w.usesPercent(75); w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 12 }) },
			"Limited 2/2 10->12 TooManyReplicas", []string{"SuccessfulRescale: New size: 12; reason: " + cpuAbove}, 12, ""},
		"zero by hand is left": {func(w *world) { w.hub.workloads[web].ByHand(0) }, "Paused 2/2 0->0 ScalingDisabled", nil, 0, ""},
		"no such apiVersion": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.APIVersion = "a/b/c" }) },
			"Failing 2/2 0->0 FailedGetScale",
			[]string{"!FailedGetScale: unexpected GroupVersion string: a/b/c"}, 10,
			"reading the scale of Deployment/shop/web: unexpected GroupVersion string: a/b/c"},
		"no such kind": {func(w *world) { w.edit(func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.Kind = "Rollout" }) },
			"Failing 0/0 0->0 FailedGetScale",
			[]string{"!FailedGetScale: no matches for apps/, Resource=Rollout" + nowhere}, 10,
			"reading the scale of Rollout/shop/web: no matches for apps/, Resource=Rollout" + nowhere},
		"no such workload": {func(w *world) { w.hub.workloads = nil },
			"Failing 0/0 0->0 FailedGetScale",
			[]string{`!FailedGetScale: deployments.apps "web" not found` + nowhere}, 0,
			`reading the scale of Deployment/shop/web: deployments.apps "web" not found` + nowhere},
		"a workload without a selector": {func(w *world) { w.hub.workloads[web].Selector = "" },
			"Failing 2/2 10->0 InvalidSelector",
			[]string{"!SelectorRequired: selector is required", "!FailedComputeMetricsReplicas: selector is required"}, 10,
			"computing the replicas of Deployment/shop/web by its metrics: selector is required"},
		"a selector that cannot be read": {func(w *world) { w.hub.workloads[web].Selector = "app in (" },
			"Failing 2/2 10->0 InvalidSelector", nil, 10, "couldn't convert selector into a corresponding internal selector object: "},
		"metrics that cannot be asked": {func(w *world) { w.fault = errors.New("unable to fetch metrics from resource metrics API: 503") },
			"Failing 2/2 10->0 FailedGetResourceMetric", []string{
				"!FailedGetResourceMetric: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from " +
					"resource metrics API: 503",
				"!FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: " +
					"failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: 503"}, 10,
			"invalid metrics (1 invalid out of 1)"},
		"a workload that cannot be written": {func(w *world) { w.usesPercent(75); w.hub.failSet = func() error { return errors.New("no") } },
			"Failing 2/2 10->0 FailedUpdateScale",
			[]string{"!FailedRescale: New size: 15; reason: " + cpuAbove + "; error: no"}, 10, "scaling Deployment/shop/web: no"},
		"no cluster at all": {func(w *world) { clear(w.members) },
			"Failing 0/0 10->0 FailedGetResourceMetric", nil, 10, "no pods returned by selector while calculating replica count"},
		"no cluster is selected": {func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"north"}}
			})
		}, "Failing 0/0 10->0 FailedGetResourceMetric", nil, 10, "no pods returned by selector while calculating replica count"},
		"an affinity that cannot be read": {func(w *world) {
			w.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.ClusterAffinity = &v1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "/"}}}
			})
		}, "Failing 0/0 0->0 FailedGetScale", nil, 10, "spec.clusterAffinity: "},
		"a cluster is silent, above the target": {func(w *world) { w.usesPercent(90); w.members["west"].Silent = federatedhpatest.Silence() },
			"Active 1/2 10->10 ClusterUnreachable",
			[]string{"!ClusterUnreachable: nothing is scaled down while clusters cannot be seen: west: Timeout"}, 10, ""},
		"a cluster is silent, far above the target": {func(
			w *world) {
			w.usesPercent(140)
			w.members["west"].Silent = federatedhpatest.Silence()
		},
			"Active 1/2 10->14 ClusterUnreachable", []string{
				"!ClusterUnreachable: nothing is scaled down while clusters cannot be seen: west: Timeout",
				"SuccessfulRescale: New size: 14; reason: " + cpuAbove}, 14, ""},
		"a cluster is silent, below the target": {func(w *world) {
			w.usesPercent(5)
			w.members["west"].Silent = federatedhpatest.Silence()
			w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics[0] = federatedhpatest.CPU(90) })
		},
			"Held 1/2 10->10 ClusterUnreachable", []string{
				"!ClusterUnreachable: nothing is scaled down while clusters cannot be seen: west: Timeout; " +
					"holding 10 replicas, where what can be seen calls for 6; clusters cannot be seen: west: Timeout"}, 10, ""},
		"the metrics lack a cluster": {func(w *world) {
			w.answer = func(m *replicas.Metric) {
				delete(m.Pods, "west")
				m.Coverage = &fleet.Coverage{Answered: []string{"east"}}
			}
		}, "Active 1/2 10->10 ClusterUnreachable",
			[]string{"!ClusterUnreachable: nothing is scaled down while clusters cannot be seen: west: NotAsked"}, 10, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			tc.arrange(w)
			_, err := w.reconcile(web)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			same(t, "status", tc.want, say(&w.object().Status))
			if tc.told != nil || tc.err == "" {
				same(t, "Events", tc.told, w.Heard())
			}
			if found := w.hub.workloads[web]; found != nil && found.Replicas != tc.runs {
				t.Errorf("%d replicas, want %d", found.Replicas, tc.runs)
			}
		})
	}
}

// An error is retried after a period, and so is success.
func TestWhenToComeBack(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("somebody wrote since"))
	tests := map[string]struct {
		arrange func(*world)
		want    time.Duration
		err     bool
	}{
		"after a reconcile":                     {func(*world) {}, period, false},
		"where something is not known yet":      {func(w *world) { w.settled = errors.New("registrations are being read") }, soon, false},
		"where the hub's schema is not ours":    {func(w *world) { w.held = errors.New("no such field") }, soon, false},
		"where the object was edited meanwhile": {func(w *world) { w.hub.FailStatus = func() error { return conflict } }, soon, false},
		"where the status cannot be written":    {func(w *world) { w.hub.FailStatus = func() error { return errors.New("no") } }, 0, true},
		"where there is no object any more":     {func(w *world) { w.hub.Remove(web) }, 0, false},
		"where it is being deleted": {func(w *world) {
			object := w.object()
			object.DeletionTimestamp = &metav1.Time{Time: start}
			w.hub.Put(object)
		}, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			tc.arrange(w)
			got, err := w.reconcile(web)
			if got != tc.want || (err != nil) != tc.err {
				t.Errorf("comes back after %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// Load falls: the replicas stay for the window, and not for longer. Then it rises again.
func TestDownAfterTheWindow(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(3)
	w.usesPercent(25)
	begun := w.Clock.Now()
	for w.hub.workloads[web].Replicas == 10 && w.Clock.Since(begun) < time.Hour {
		_ = w.reconcileN(1)
	}
	if took := w.Clock.Since(begun); took < 5*time.Minute || took > 5*time.Minute+2*period {
		t.Errorf("scaled in after %v", took)
	}
	same(t, "replicas written", []int32{5}, w.hub.workloads[web].Writes)
	w.usesPercent(50)
	w.hub.workloads[web].StatusReplicas = 5
	w.members["east"].run("web", 3)
	w.members["west"].run("web", 2)
	w.usesPercent(30)
	_ = w.reconcileN(1)
	same(t, "status", "Active 2/2 5->5 ScaleDownStabilized", say(&w.object().Status))
}

// A workload without work goes to zero after the window, by an External metric, and comes back as soon as there is some.
func TestZeroAndBack(t *testing.T) {
	w := onHub(t)
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		*s.MinReplicas, s.Metrics = 0, []autoscalingv2.MetricSpec{federatedhpatest.Queue("10")}
	})
	w.values = []int64{0}
	_ = w.reconcileN(30)
	same(t, "status without work", "Active 2/2 0->0 ScaledToZero", say(&w.object().Status))
	same(t, "replicas written", []int32{0}, w.hub.workloads[web].Writes)
	w.hub.workloads[web].StatusReplicas = 0
	for _, m := range w.members {
		m.run("web", 0)
	}
	w.restart()
	w.values = []int64{25_000}
	_ = w.reconcileN(1)
	same(t, "status with work", "Active 2/2 0->3", say(&w.object().Status))
	same(t, "replicas written", []int32{0, 3}, w.hub.workloads[web].Writes)
}

// Registrations that lead nowhere, and never did, change nothing: all is scaled in as without them.
func TestDeadRegistrationsHoldNothing(t *testing.T) {
	outcome := func(dead int) []string {
		w := onHub(t)
		for i := range dead {
			m := w.member(fmt.Sprintf("dead-%d", i))
			m.Joins, m.Silent = true, federatedhpatest.Silence()
		}
		w.usesPercent(10)
		var seen []string
		for range 60 {
			_ = w.reconcileN(1)
			seen = append(seen, say(&w.object().Status))
		}
		return append(seen, w.clusters()...)
	}
	want := outcome(0)
	if !strings.Contains(want[59], "2->2") {
		t.Fatalf("nothing was scaled in: %q", want)
	}
	same(t, "with ten of them", want, outcome(10))
}

// While a cluster is silent nothing is scaled in, for as long as that is, and people are told once that it is silent.
func TestASilentClusterHolds(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(2)
	w.members["west"].Silent = federatedhpatest.Silence()
	_ = w.reconcileN(2)
	w.Heard()
	_ = w.reconcileN(40)
	same(t, "Events while nothing changes", nil, w.Heard())
	same(t, "clusters", []string{"east Active assigned ? current ? ready 5", "west Unreachable assigned ? current ? ready 5 Timeout"},
		w.clusters())
	w.usesPercent(1)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics[0] = federatedhpatest.CPU(90) })
	_ = w.reconcileN(400)
	same(t, "status for hours", "Held 1/2 10->10 ClusterUnreachable", say(&w.object().Status))
	if n := w.hub.workloads[web].Replicas; n != 10 {
		t.Errorf("%d replicas", n)
	}
	w.Heard()
	delete(w.members, "west") // somebody took it out
	for range 30 {
		_ = w.reconcileN(1)
		w.members["east"].run("web", int(w.hub.workloads[web].Replicas)) // somebody propagates
	}
	same(t, "status without the cluster", "Limited 1/1 2->2 TooFewReplicas", say(&w.object().Status))
	same(t, "clusters", []string{"east Active assigned ? current ? ready 2"}, w.clusters())
}

// Where others write the workload at the same time, the decision holds, as a HorizontalPodAutoscaler's does.
func TestConflictOnTheWorkload(t *testing.T) {
	w := onHub(t)
	w.usesPercent(75)
	times := 0
	w.hub.failSet = func() error {
		if times++; times < 3 {
			w.hub.workloads[web].ByHand(11)
		}
		return nil
	}
	if _, err := w.reconcile(web); err != nil {
		t.Error(err)
	}
	same(t, "replicas written", []int32{15}, w.hub.workloads[web].Writes)
	w.usesPercent(100)
	w.hub.failSet = func() error {
		if times++; times == 4 {
			w.hub.workloads[web].ByHand(20)
		}
		return nil
	}
	if _, err := w.reconcile(web); err != nil {
		t.Error(err)
	}
	same(t, "status", "Active 2/2 15->20", say(&w.object().Status))
	same(t, "replicas written, where somebody else wrote the same", []int32{15}, w.hub.workloads[web].Writes)
}

// Who else writes the status would also write the replicas: then nothing is done, until it has been gone for a while.
func TestAnotherControllerWritesTheStatus(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(1)
	w.usesPercent(75)
	object := w.object()
	object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "karmada-controller-manager", Subresource: "status",
		Time: &metav1.Time{Time: w.Clock.Now()}}}
	w.hub.Put(object)
	writes := w.hub.StatusWrites
	w.Heard()
	err := w.reconcileN(1)
	if err == nil || !strings.Contains(err.Error(), "karmada-controller-manager") {
		t.Errorf("error %v", err)
	}
	if told := w.Heard(); len(told) != 1 || !strings.HasPrefix(told[0], "!AnotherController: ") ||
		!strings.Contains(told[0], "karmada-controller-manager") {
		t.Errorf("Events %q", told)
	}
	if w.hub.StatusWrites != writes || len(w.hub.workloads[web].Writes) > 0 {
		t.Error("something was written")
	}
	_ = w.reconcileN(22)
	same(t, "replicas written after it was gone", []int32{15}, w.hub.workloads[web].Writes)
}

// An object as it was before our last write is not decided on.
func TestStaleCache(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(1)
	w.hub.Stale = func() bool { return true }
	w.usesPercent(75)
	if wait, err := w.reconcile(web); wait != soon || err != nil {
		t.Errorf("comes back after %v, %v", wait, err)
	}
	if len(w.hub.workloads[web].Writes) > 0 {
		t.Error("decided on an old object")
	}
	w.hub.Stale = nil
	_ = w.reconcileN(1)
	same(t, "replicas written", []int32{15}, w.hub.workloads[web].Writes)
}

// A hub that drops what is new in a status, as one with an older schema does, does not take the write for one: there is no
// newer object to wait for. The object is doubted, and then it is as it is.
func TestAWriteThatChangesNothing(t *testing.T) {
	w := onHub(t)
	w.hub.Prunes = func(s *v1alpha1.FederatedHPAStatus) {
		s.ReadyReplicas, s.Clusters, s.Summary, s.Stabilization = nil, nil, nil, nil
	}
	_ = w.reconcileN(2)
	w.hub.Prunes = nil
	w.usesPercent(75)
	_ = w.reconcileN(3)
	same(t, "replicas written in doubt", nil, w.hub.workloads[web].Writes)
	_ = w.reconcileN(1)
	same(t, "replicas written", []int32{15}, w.hub.workloads[web].Writes)
}

// Of an object that is gone nothing is kept, as also that its last version was written here.
func TestNothingIsKeptOfWhatIsGone(t *testing.T) {
	w := onHub(t)
	old := w.object()
	_ = w.reconcileN(1)
	if !w.program.Recorder.Stale(old) {
		t.Error("what was there before our write is not stale")
	}
	w.hub.Remove(web)
	_ = w.reconcileN(1)
	if w.program.Recorder.Stale(old) || w.program.memories.Find(web) != nil {
		t.Error("it is still known")
	}
	same(t, "asked of the other mode", []string{"forget web"}, w.other.did)
}

// An object of the same name is another one; it does not inherit.
func TestRecreated(t *testing.T) {
	w := onHub(t)
	w.usesPercent(50)
	_ = w.reconcileN(30)
	w.usesPercent(20)
	w.hub.Remove(web)
	object := federatedhpatest.NewObject("web")
	object.UID = "another"
	w.hub.Put(object)
	_ = w.reconcileN(19)
	same(t, "replicas written within a window", nil, w.hub.workloads[web].Writes)
	_ = w.reconcileN(3)
	same(t, "replicas written after it", []int32{4}, w.hub.workloads[web].Writes)
}

// Who switches to distributed mode is left to it. On the way back its autoscalers go first, and the hub learns what the
// fleet runs, so that nothing is scaled by the change.
func TestDistributedAndBack(t *testing.T) {
	w := onHub(t)
	_ = w.reconcileN(3)
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{} })
	before := w.hub.StatusWrites
	if wait, err := w.reconcile(web); wait != period || err != nil || w.hub.StatusWrites != before {
		t.Errorf("comes back after %v, %v, and %d writes", wait, err, w.hub.StatusWrites-before)
	}
	if wait, err := w.reconcile(web); wait != period || err != nil {
		t.Errorf("comes back after %v, %v, the next time", wait, err)
	}
	if n, err := testutil.GatherAndCount(w.registry, "fleetscale_horizontal_pod_autoscaler_controller_desired_replicas"); n > 0 || err != nil {
		t.Errorf("central mode still shows %d series, %v", n, err)
	}
	stored := w.hub.Objects[web]
	stored.Finalizers, stored.Status.CurrentReplicas = []string{v1alpha1.MemberAutoscalersFinalizer}, 14
	w.edit(func(s *v1alpha1.FederatedHPASpec) { s.FederatedHPAAssignment = nil })
	w.other.err = errors.New("a cluster cannot be written")
	if _, err := w.reconcile(web); err == nil {
		t.Error("there is no error while autoscalers are left")
	}
	same(t, "replicas written while autoscalers are left", []int32{14}, w.hub.workloads[web].Writes)
	w.usesPercent(100)
	w.other.left, w.other.err = true, nil
	_ = w.reconcileN(1)
	same(t, "replicas written", []int32{14, 20}, w.hub.workloads[web].Writes)
	same(t, "asked of the other mode", []string{"reconcile web", "reconcile web", "leave web", "leave web", "forget web"}, w.other.did)
}

// Who ended before it stored anything about clusters does not know what the fleet runs, and so does not tell the hub.
func TestDistributedForAMoment(t *testing.T) {
	w := onHub(t)
	w.hub.Objects[web].Finalizers = []string{v1alpha1.MemberAutoscalersFinalizer}
	w.other.left = true
	_ = w.reconcileN(3)
	same(t, "replicas written", nil, w.hub.workloads[web].Writes)
}

// A cluster that answers, but not for Pods, and whose Pods are no longer known: as many count as Ready as the status says.
func TestPodsThatCanNotBeListed(t *testing.T) {
	w := onHub(t)
	w.edit(func(s *v1alpha1.FederatedHPASpec) {
		metric := federatedhpatest.Queue("10")
		metric.External.Target = autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: new(resource.MustParse("10"))}
		s.Metrics = []autoscalingv2.MetricSpec{metric}
	})
	w.values = []int64{10_000}
	_ = w.reconcileN(1)
	w.members["west"].hidden = &fleet.Silence{Reason: fleet.ReasonForbidden, Detail: "pods is forbidden"}
	w.restart()
	w.values = []int64{15_000}
	_ = w.reconcileN(1)
	same(t, "status", "Active 1/2 10->15 ClusterUnreachable", say(&w.object().Status))
	same(t, "clusters", []string{"east Active assigned ? current ? ready 5", "west Unreachable assigned ? current ? ready 5 Forbidden"},
		w.clusters())
	same(t, "message", "pods is forbidden", w.object().Status.Clusters[1].Message)
}

// A template on the hub knows nothing of its Pods; nor does a workload whose controller lags. Shares of a value are then
// those of the Pods that run, and tolerated as such: Kubernetes, dividing by none, would write 11.
func TestATemplateThatKnowsNothingOfItsPods(t *testing.T) {
	tests := map[string]struct {
		reported int32 // status.replicas on the hub
		milli    int64
		want     string
		share    string
	}{
		"within the tolerance":        {0, 10_500, "Active 2/2 10->10", "1050m"},
		"at its end":                  {0, 11_000, "Active 2/2 10->10", "1100m"},
		"beyond it":                   {0, 11_001, "Active 2/2 10->12", "1101m"},
		"as where the hub knows them": {10, 10_500, "Active 2/2 10->10", "1050m"},
		"what the hub says counts, whatever is found": {9, 10_500, "Active 2/2 10->11", "1167m"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := onHub(t)
			w.hub.workloads[web].StatusReplicas = tc.reported
			w.edit(func(s *v1alpha1.FederatedHPASpec) {
				s.Metrics = []autoscalingv2.MetricSpec{federatedhpatest.Queue("1")}
			})
			w.values = []int64{tc.milli}
			if _, err := w.reconcile(web); err != nil {
				t.Fatal(err)
			}
			status := w.object().Status
			same(t, "status", tc.want, say(&status))
			same(t, "share", tc.share, status.CurrentMetrics[0].External.Current.AverageValue.String())
		})
	}
}
