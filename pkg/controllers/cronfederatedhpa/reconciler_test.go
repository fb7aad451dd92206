// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
)

// fakeHub is controller-runtime's, which writes as a real one does.
func fakeHub(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	return hubtest.Indexed(t, AddToScheme, objects...)
}

// What is sent for an autoscaler is what changes, and what it was read as.
func TestBoundsAreSentAlone(t *testing.T) {
	for _, ref := range autoscalers() {
		t.Run(ref.Kind, func(t *testing.T) {
			var sent map[string]any
			hub := interceptor.NewClient(fakeHub(t, newTarget(ref.Kind, 1, 10)), interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
					data, err := patch.Data(obj)
					if err != nil {
						return err
					}
					if err := json.Unmarshal(data, &sent); err != nil {
						return err
					}
					return c.Patch(ctx, obj, patch, opts...)
				},
			})
			target, err := readBounds(t.Context(), hub, hub, newCron(ref, setsMin("r", "0 9 * * *", 5)))
			if err != nil {
				t.Fatal(err)
			}
			if err := target.set(t.Context(), cronplan.Values{cronplan.MinReplicas: new(int32(5))}); err != nil {
				t.Fatal(err)
			}
			spec := map[string]any{"minReplicas": 5.0}
			if ref == multidim {
				spec = map[string]any{"constraints": map[string]any{"global": spec}}
			}
			want := map[string]any{"metadata": map[string]any{"resourceVersion": "999"}, "spec": spec}
			fleettest.Same(t, "sent", want, sent)
			if err := target.set(t.Context(), cronplan.Values{cronplan.MaxReplicas: new(int32(5))}); !apierrors.IsConflict(err) {
				t.Errorf("to write what was read before another wrote: %v, want a conflict", err)
			}
			found := newTarget(ref.Kind, 0, 0)
			if err := hub.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "shop"}, found); err != nil {
				t.Fatal(err)
			}
			if bounds := cronplan.BoundsIn(found); **bounds.Min != 5 || *bounds.Max != 10 {
				t.Errorf("bounds are %d and %d", **bounds.Min, *bounds.Max)
			}
			if writers := found.GetManagedFields(); len(writers) > 0 && writers[len(writers)-1].Manager != fieldManager {
				t.Errorf("written by %s", writers[len(writers)-1].Manager)
			}
		})
	}
}

func TestScaledBy(t *testing.T) {
	hpa := func(change func(*autoscalingv2.HorizontalPodAutoscaler)) client.Object {
		h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		h.Spec.ScaleTargetRef = deployment
		change(h)
		return h
	}
	other := newFederatedHPA(1, 10)
	other.Spec.ScaleTargetRef.Kind = "StatefulSet"
	labelled := newFederatedHPA(1, 10)
	labelled.Labels = map[string]string{v1alpha1.ManagedByLabel: "uid"}
	tests := map[string]struct {
		there client.Object
		want  string
	}{
		"a FederatedHPA": {newFederatedHPA(1, 10),
			`Deployment "shop" is scaled by FederatedHPA "shop": name that FederatedHPA in scaleTargetRef, and set its bounds`},
		"a FederatedHPA of another": {other, ""},
		"a FederatedHPA, whatever its labels": {labelled,
			`Deployment "shop" is scaled by FederatedHPA "shop": name that FederatedHPA in scaleTargetRef, and set its bounds`},
		"a HorizontalPodAutoscaler": {hpa(func(*autoscalingv2.HorizontalPodAutoscaler) {}),
			`Deployment "shop" is scaled by HorizontalPodAutoscaler "web": delete that, or make a FederatedHPA of it and name that in scaleTargetRef`},
		"one of another version": {hpa(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef.APIVersion = "apps/v1beta2" }),
			`Deployment "shop" is scaled by HorizontalPodAutoscaler "web": delete that, or make a FederatedHPA of it and name that in scaleTargetRef`},
		"one of another group": {hpa(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef.APIVersion = "argoproj.io/v1" }),
			""},
		"one in another namespace": {hpa(func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Namespace = "other" }), ""},
		"one of ours, for the member": {hpa(func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.Labels = map[string]string{v1alpha1.ManagedByLabel: "uid"}
		}), ""},
		"one that is going": {hpa(func(h *autoscalingv2.HorizontalPodAutoscaler) {
			h.DeletionTimestamp, h.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"x/y"}
		}), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := scaledBy(t.Context(), fakeHub(t, tc.there), newCron(deployment))
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
			for _, autoscaler := range autoscalers() {
				if got, err := scaledBy(t.Context(), fakeHub(t, tc.there), newCron(autoscaler)); err != nil || got != "" {
					t.Errorf("%s: got %q, %v", autoscaler.Kind, got, err)
				}
			}
		})
	}
	no := errors.New("no")
	hub := interceptor.NewClient(fakeHub(t), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return no },
	})
	if _, err := scaledBy(t.Context(), hub, newCron(deployment)); !errors.Is(err, no) {
		t.Errorf("error %v, want %v", err, no)
	}
}

// What another sets is not changed, and the run says why.
func TestGovernedTarget(t *testing.T) {
	onDeployment := newCron(deployment, sets("r", "0 9 * * *", 7))
	tests := map[string]struct {
		object *v1alpha1.CronFederatedHPA
		there  []client.Object
		want   string
	}{
		"a Deployment of a FederatedHPA": {onDeployment, []client.Object{newDeployment(3), newFederatedHPA(1, 10)},
			`Deployment "shop" is scaled by FederatedHPA "shop": name that FederatedHPA in scaleTargetRef, and set its bounds`},
		"a Deployment of a MultidimPodAutoscaler": {onDeployment, []client.Object{newDeployment(3), madeBy("sized", 10)},
			`Deployment "shop" belongs to MultidimPodAutoscaler "sized": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`},
		"a Deployment of a MultidimPodAutoscaler that has made nothing yet": {onDeployment, []client.Object{newDeployment(3), withGoals("sized")},
			`Deployment "shop" belongs to MultidimPodAutoscaler "sized": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`},
		"a FederatedHPA of a MultidimPodAutoscaler": {newCron(federated, setsBoth("r", "0 9 * * *", 7, 7)), []client.Object{madeBy("sized", 3)},
			`FederatedHPA "shop" belongs to MultidimPodAutoscaler "sized": name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, moment(t, "08:00"), append(tc.there, tc.object)...)
			program := s.program()
			for _, at := range []string{"08:00", "09:00", "09:01"} {
				s.reconcileAt(program, at)
				got := meta.FindStatusCondition(s.cron().Status.Conditions, v1alpha1.CronConflicting)
				if got.Status != metav1.ConditionTrue || got.Message != tc.want {
					t.Errorf("%s: condition %+v", at, got)
				}
			}
			failed := s.cron().Status.ExecutionHistories[0].FailedExecutions
			if len(failed) != 1 || failed[0].Message != tc.want || s.replicas() != 3 {
				t.Errorf("replicas %d, failures %+v", s.replicas(), failed)
			}
		})
	}
}

// A MultidimPodAutoscaler without goals leaves the replicas to the rules.
func TestTargetThatIsOnlySized(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3), newMultidim(1, 10))
	program := s.program()
	for _, at := range []string{"08:00", "09:00", "09:01"} {
		s.reconcileAt(program, at)
	}
	if s.replicas() != 7 || meta.IsStatusConditionTrue(s.cron().Status.Conditions, v1alpha1.CronConflicting) {
		t.Errorf("replicas %d, conditions %+v", s.replicas(), s.cron().Status.Conditions)
	}
}

func withGoals(name string) *v1alpha1.MultidimPodAutoscaler {
	m := newMultidim(1, 10)
	m.Name, m.Spec.Goals = name, &v1alpha1.Goals{}
	return m
}

// madeBy is a FederatedHPA that a MultidimPodAutoscaler made.
func madeBy(owner string, most int32) *v1alpha1.FederatedHPA {
	f := newFederatedHPA(1, most)
	f.OwnerReferences = []metav1.OwnerReference{{APIVersion: multidim.APIVersion, Kind: multidim.Kind, Name: owner, Controller: new(true)}}
	return f
}

// targetFound returns what the status says of the target.
func targetFound(object *v1alpha1.CronFederatedHPA) bool {
	return meta.IsStatusConditionTrue(object.Status.Conditions, v1alpha1.CronTargetFound)
}

// An autoscaler is set as a Deployment is; one that is not there is awaited.
func TestBoundsOfAnAutoscaler(t *testing.T) {
	for _, ref := range autoscalers() {
		t.Run(ref.Kind, func(t *testing.T) {
			s := newSim(t, moment(t, "08:00"), newCron(ref, setsBoth("r", "0 9 * * *", 20, 30)))
			program := s.program()
			s.reconcileAt(program, "08:00")
			if wait := s.reconcileAt(program, "09:00"); wait != time.Second+margin {
				t.Errorf("tries again in %v", wait)
			}
			if targetFound(s.cron()) {
				t.Error("the target is said to be there")
			}
			s.store.put(newTarget(ref.Kind, 1, 10))
			s.reconcileAt(program, "09:00:05")
			object, _ := s.target()
			if bounds := cronplan.BoundsIn(object); **bounds.Min != 20 || *bounds.Max != 30 || !targetFound(s.cron()) {
				t.Errorf("bounds %d and %d, conditions %+v", **bounds.Min, *bounds.Max, s.cron().Status.Conditions)
			}
		})
	}
}

// A MultidimPodAutoscaler that has no bounds gets none, and is awaited as one that is not there.
func TestMultidimWithoutBounds(t *testing.T) {
	bare := newMultidim(1, 10)
	bare.Spec.Constraints.Global = nil
	s := newSim(t, moment(t, "08:00"), newCron(multidim, setsBoth("r", "0 9 * * *", 20, 30)), bare)
	program := s.program()
	s.reconcileAt(program, "08:00")
	if wait := s.reconcileAt(program, "09:00"); wait != time.Second+margin || targetFound(s.cron()) {
		t.Errorf("again in %v, conditions %+v", wait, s.cron().Status.Conditions)
	}
	found := &v1alpha1.MultidimPodAutoscaler{}
	if err := s.store.Get(t.Context(), client.ObjectKeyFromObject(bare), found); err != nil || found.Spec.Constraints.Global != nil {
		t.Errorf("it has bounds now: %+v, %v", found.Spec.Constraints, err)
	}
	s.store.put(newMultidim(1, 10))
	s.reconcileAt(program, "09:00:05")
	if s.replicas() != 30 || !targetFound(s.cron()) {
		t.Errorf("maxReplicas %d, conditions %+v", s.replicas(), s.cron().Status.Conditions)
	}
}

func TestTargetOfAnUnknownKind(t *testing.T) {
	s := newSim(t, moment(t, "08:00"),
		newCron(autoscalingv2.CrossVersionObjectReference{APIVersion: "example.com/v1", Kind: "Shop", Name: "shop"}, sets("r", "0 9 * * *", 1)))
	if _, err := s.reconcile(s.program()); err != nil {
		t.Fatal(err)
	}
	if got := s.cron().Status.Conditions[1]; got.Reason != "NotFound" || got.Message != "the hub does not serve kind Shop of example.com/v1" {
		t.Errorf("condition %+v", got)
	}
}

// What goes or is gone is forgotten, and nothing is taken back.
func TestDeletedObject(t *testing.T) {
	object := newCron(deployment, sets("r", "0 9 * * *", 7))
	s := newSim(t, moment(t, "08:00"), object, newDeployment(3))
	program := s.program()
	if _, err := s.reconcile(program); err != nil {
		t.Fatal(err)
	}
	going := s.cron()
	going.DeletionTimestamp, going.Finalizers = stamp(moment(t, "08:30")), []string{"x/y"}
	s.store.put(going)
	s.clock.SetTime(moment(t, "09:00"))
	if wait, err := s.reconcile(program); wait != 0 || err != nil || s.replicas() != 3 {
		t.Errorf("an object that is being deleted: again in %v, %v, %d replicas", wait, err, s.replicas())
	}
	clear(s.store.objects)
	if wait, err := s.reconcile(program); wait != 0 || err != nil {
		t.Errorf("an object that is gone: again in %v, %v", wait, err)
	}
	if got := program.Metrics.earliest(); got != 0 {
		t.Errorf("a next run at %v", got)
	}
}

func TestWhomAnAutoscalerConcerns(t *testing.T) {
	named := func(name string, target autoscalingv2.CrossVersionObjectReference) client.Object {
		c := newCron(target)
		c.Name = name
		return c
	}
	elsewhere := named("elsewhere", deployment)
	elsewhere.SetNamespace("other")
	r := New(Options{Clock: clocktesting.NewFakePassiveClock(time.Now()),
		Hub: fakeHub(t, named("of-workload", deployment),
			named("of-bounds", autoscalingv2.CrossVersionObjectReference{Kind: "FederatedHPA", Name: "bounds"}),
			named("of-none", autoscalingv2.CrossVersionObjectReference{Name: "x"}), elsewhere)})
	f := newFederatedHPA(1, 2)
	f.Name = "bounds"
	m := newMultidim(1, 2)
	m.Name = "bounds"
	for _, autoscaler := range []client.Object{f, m} {
		var got []string
		for _, request := range r.concerned(t.Context(), autoscaler) {
			got = append(got, request.Name)
		}
		if diff := cmp.Diff([]string{"of-workload", "of-bounds"}, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", autoscaler, diff)
		}
	}
	moved, resized, going, made := f.DeepCopy(), f.DeepCopy(), f.DeepCopy(), f.DeepCopy()
	moved.Spec.ScaleTargetRef.Name, resized.Spec.MaxReplicas, going.DeletionTimestamp = "y", 50, stamp(moment(t, "08:00"))
	made.OwnerReferences = madeBy("sized", 2).OwnerReferences
	for name, tc := range map[string]struct {
		to   client.Object
		want bool
	}{"another target": {moved, true}, "other bounds": {resized, false}, "deletion": {going, true}, "an owner": {made, true}} {
		if got := comesOrGoes().Update(event.UpdateEvent{ObjectOld: f, ObjectNew: tc.to}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// said are Events as text.
type said []string

func (s *said) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) {
	on := ""
	if ref, ok := regarding.(*corev1.ObjectReference); ok {
		on = ref.FieldPath + " "
	}
	*s = append(*s, fmt.Sprintf("%s%s %s %s: %s", on, kind, reason, action, fmt.Sprintf(note, args...)))
}

func TestEventsAndMetrics(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("up", "0 9 * * *", 7), sets("down", "0 10 * * *", 1)))
	program := s.program()
	var events said
	registry := prometheus.NewRegistry()
	program.Events, program.Metrics = &events, NewMetrics(registry)
	reconcileAt := func(at string) {
		t.Helper()
		s.clock.SetTime(moment(t, at))
		if _, err := s.reconcile(program); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{"08:00", "09:00", "09:00:01", "09:00:02"} {
		reconcileAt(at)
	}
	s.store.put(newDeployment(3))
	reconcileAt("09:00:04")
	reconcileAt("2027-03-02 10:00:00")
	const none = `there is no Deployment "shop" in the namespace, or it cannot be scaled`
	want := said{
		`Warning RunDelayed SetTarget: ` + none + `; it is retried`,
		`spec.rules{up} Normal RunSucceeded SetTarget: rule "up": replicas 7 of Deployment "shop"`,
		`spec.rules{down} Warning RunFailed SetTarget: rule "down": missed 1 execution, at 2027-03-01T10:00:00Z: the controller was not running, or could not reach the hub`,
		`spec.rules{up} Warning RunFailed SetTarget: rule "up": superseded by rule "down", scheduled at 2027-03-02T10:00:00Z`,
		`spec.rules{down} Normal RunSucceeded SetTarget: rule "down": replicas 1 of Deployment "shop"`,
	}
	fleettest.Same(t, "Events", want, events)
	metrics := `
# HELP fleetscale_cron_next_run_timestamp_seconds When the next run of all is due, in seconds since 1970. In the past: it is delayed. 0: there is none.
# TYPE fleetscale_cron_next_run_timestamp_seconds gauge
fleetscale_cron_next_run_timestamp_seconds 1.8040644e+09
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(metrics), "fleetscale_cron_next_run_timestamp_seconds"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]uint64{}
	for _, family := range gathered {
		for _, m := range family.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				runs[m.GetLabel()[0].GetValue()] = h.GetSampleCount()
			}
		}
	}
	fleettest.Same(t, "runs", map[string]uint64{"succeeded": 2, "superseded": 1, "missed": 1, "failed": 0}, runs)
}

// An object that takes the place of another of the same name has none of its troubles.
func TestRecreatedObject(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)))
	program := s.program()
	reconcileAt := func(at string) {
		t.Helper()
		s.clock.SetTime(moment(t, at))
		if _, err := s.reconcile(program); err != nil {
			t.Fatal(err)
		}
	}
	reconcileAt("08:00")
	reconcileAt("09:00")
	if program.memories.Of(s.cron()).delay == nil {
		t.Fatal("a run without a target is no trouble")
	}
	again := newCron(deployment, sets("r", "0 10 * * *", 8))
	again.UID, again.CreationTimestamp = "2", *stamp(moment(t, "09:00:01"))
	s.store.put(again)
	if known := program.memories.Of(s.cron()).delay; known != nil {
		t.Errorf("the object inherits %+v", known)
	}
	reconcileAt("09:00:02")
	s.store.put(newDeployment(3))
	reconcileAt("10:00")
	history := s.cron().Status.ExecutionHistories[0]
	if s.replicas() != 8 || len(history.FailedExecutions) != 0 || len(history.SuccessfulExecutions) != 1 {
		t.Errorf("replicas %d, history %+v", s.replicas(), history)
	}
}

// What was read of one target is never taken for another's, nor an object for
// one that had its name: who sees an older object comes back.
func TestCacheThatIsBehind(t *testing.T) {
	tests := map[string]func(*sim){
		"the target is another": func(s *sim) {
			s.edit(func(spec *v1alpha1.CronFederatedHPASpec) {
				spec.ScaleTargetRef, spec.Rules = federated, []ruleSpec{setsMin("r", "0 9 * * *", 5)}
			})
		},
		"the object is another": func(s *sim) {
			again := newCron(deployment, sets("r", "0 9 * * *", 8))
			again.UID, again.CreationTimestamp = "2", *stamp(moment(s.t, "08:59"))
			s.store.put(again)
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3))
			program := s.program()
			behind := false
			s.stale = func() bool { return behind }
			reconcileNow := func() time.Duration {
				t.Helper()
				wait, err := s.reconcile(program)
				if err != nil {
					t.Fatal(err)
				}
				return wait
			}
			reconcileNow()
			change(s)
			s.clock.SetTime(moment(t, "09:00"))
			behind = true
			before := s.cron()
			if wait := reconcileNow(); wait != soon {
				t.Errorf("comes back in %v, want %v", wait, soon)
			}
			if diff := cmp.Diff(before, s.cron()); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
			behind = false
			reconcileNow()
			if got := s.cron().Status.ExecutionHistories[0].NextExecutionTime; got == nil {
				t.Error("the rule waits for nothing")
			}
		})
	}
}

// As many rules as there may be, all due each minute, cost no more calls than
// one: the target and the object are read, and each is written at most once.
func TestAllRulesAreOneWrite(t *testing.T) {
	var rules []ruleSpec
	for i := range 32 {
		rules = append(rules, sets(fmt.Sprintf("r%d", i), "* * * * *", int32(i)))
	}
	s := newSim(t, moment(t, "08:00"), newCron(deployment, rules...), newDeployment(3))
	program := s.program()
	for minute := range 60 {
		s.clock.SetTime(moment(t, "08:00").Add(time.Duration(minute) * time.Minute))
		s.calls = 0
		if _, err := s.reconcile(program); err != nil {
			t.Fatal(err)
		}
		want := []int{3, 4, 3}[min(minute, 2)] // not due, set, and then as it should be
		if s.calls != want {
			t.Errorf("minute %d: %d calls, want %d", minute, s.calls, want)
		}
	}
	if s.replicas() != 31 {
		t.Errorf("%d replicas, want those of the last rule", s.replicas())
	}
}

// Who is overtaken by another writer tries again at once. A target that always
// says so, as a webhook may, is a trouble: it has a time limit, and an entry.
func TestOvertakenByOthers(t *testing.T) {
	for conflicts, want := range map[int]struct {
		wait     time.Duration
		replicas int32
		said     string
	}{
		0:            {maxSleep, 7, ""},
		2:            {maxSleep, 7, ""},
		maxTries - 1: {maxSleep, 7, ""},
		maxTries:     {time.Second + margin, 3, `setting Deployment "shop": Operation cannot be fulfilled on deployments.apps "shop": too late`},
	} {
		s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3))
		program := s.program()
		reconcileAt := func(at string) time.Duration {
			t.Helper()
			s.clock.SetTime(moment(t, at))
			s.calls = 0
			wait, err := s.reconcile(program)
			if err != nil {
				t.Fatal(err)
			}
			return wait
		}
		reconcileAt("08:00")
		s.before = func(call int) error { // target and object are read, and then it is set
			if call%3 == 2 && call < 3*conflicts {
				return apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "shop", errors.New("too late"))
			}
			return nil
		}
		if wait := reconcileAt("09:00"); wait != want.wait || s.replicas() != want.replicas {
			t.Errorf("%d conflicts: %d replicas, again in %v; want %d, %v", conflicts, s.replicas(), wait, want.replicas, want.wait)
		}
		reconcileAt("09:10")
		said := ""
		for _, f := range s.cron().Status.ExecutionHistories[0].FailedExecutions {
			said += f.Message
		}
		if said != want.said {
			t.Errorf("%d conflicts: recorded as %q, want %q", conflicts, said, want.said)
		}
	}
}

func TestStatusThatCannotBeWritten(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3))
	no := errors.New("no")
	s.before = func(call int) error { // target and object are read, and then the status is written
		if call == 2 {
			return no
		}
		return nil
	}
	if _, err := s.reconcile(s.program()); !errors.Is(err, no) {
		t.Errorf("error %v, want %v", err, no)
	}
}

func TestSleep(t *testing.T) {
	now := moment(t, "08:00")
	for wake, want := range map[time.Time]time.Duration{
		{}: 0, now.Add(time.Second): time.Second + margin, now.Add(time.Hour): maxSleep, now: margin,
	} {
		if got := sleep(now, wake); got != want {
			t.Errorf("sleep until %v: %v, want %v", wake, got, want)
		}
	}
}
