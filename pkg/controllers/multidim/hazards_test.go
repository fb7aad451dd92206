// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// A resize that its node has not seen yet is waited for from when it was sent, not from when its Pod was first seen.
func TestUnseenResizeIsAwaited(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	delete(w.clusters, "west")
	east := w.clusters["east"]
	w.use(900, 19*gi/10) // as they request
	w.pass(90)
	w.did()
	had := east.pods[0].requests
	east.states = map[string]podState{"web-0": {unseen: true, actual: &had}}
	east.pods[0].requests = pods.Resources{MilliCPU: 5000, Memory: 4 * gi}
	w.pass(3)
	if done := w.did(); counted(done, "web-0") != 0 {
		t.Errorf("%v was done at once", done)
	}
	same(t, "resizing", int32(1), *w.object().Status.Clusters[0].Resizing)
	w.pass(70)
	if done := w.did(); counted(done, "web-0") == 0 {
		t.Error("it is waited for without end")
	}
}

// What new Pods would be created with may be known where nothing stands, or can stand.
func TestNothingStandsForNewPods(t *testing.T) {
	t.Run("an older one has the workload", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(2)
		w.did()
		older := object(acting(v1alpha1.UpdateModeInitial))
		older.Name, older.UID, older.CreationTimestamp = "older", "uid-of-older", metav1.NewTime(noon.Add(-time.Hour))
		if err := w.hub.Create(t.Context(), older); err != nil {
			t.Fatal(err)
		}
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.CreationTimestamp = metav1.NewTime(noon) })
		w.pass(1)
		same(t, "done", []string{"east: remove web", "west: remove web"}, w.did())
		w.pass(2)
		w.didNothing(t, "later")
	})
	t.Run("new Pods could be sized, and running ones cannot", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeAuto)
		for _, c := range w.clusters {
			c.can.Resizes = false
		}
		w.pass(3)
		w.didNothing(t, "Auto is Off there")
	})
}

// Reconciles that began at other times share one limit.
func TestRatesHoldForReconcilesThatBeganEarlier(t *testing.T) {
	l := limiters{Rates: Rates{Resizes: 60, Evictions: 6}}
	taken := 0
	for range 100 {
		for _, began := range []time.Duration{0, 30 * time.Second} {
			if l.of("east", noon).take(sizes.WayEvict, noon.Add(began)) {
				taken++
			}
		}
	}
	if taken > 9 {
		t.Errorf("%d Pods were evicted in half a minute, of 6 in a minute and 6 at once", taken)
	}
	same(t, "left", Rates{60, 0}, l.of("east", noon).left(noon.Add(30*time.Second)))
	if !l.of("east", noon).take(sizes.WayEvict, noon.Add(time.Minute)) {
		t.Error("none may be evicted later")
	}
}

// Of another workload nothing is remembered, and what was written for the one before goes.
func TestAnotherWorkloadIsActedOn(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(3)
	w.did()
	api := deployment("1", "2Gi")
	api.SetName("api")
	api.Object["spec"].(map[string]any)["selector"] = map[string]any{"matchLabels": map[string]any{"app": "api"}}
	if err := w.hub.Create(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	w.memories.Find(web).clusters["east"].evictions = []time.Time{w.clock.Now()}
	other := &v1alpha1.FederatedHPA{} // so that nothing is given
	other.Namespace, other.Name, other.Spec.ScaleTargetRef = web.Namespace, "other", object().Spec.ScaleTargetRef
	other.Spec.ScaleTargetRef.Name = "api"
	if err := w.hub.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.ScaleTargetRef.Name = "api" })
	w.pass(1)
	same(t, "evicted", int32(0), *w.object().Status.Clusters[0].EvictedLastHour)
	same(t, "done", []string{"east: remove web", "west: remove web"}, w.did())
}

// A Pod that no template was made of, as one of a Job with the same labels, says nothing of a rollout, and stays as it is.
func TestPodsOfOthersWithTheSameLabels(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	delete(w.clusters, "west")
	w.clusters["east"].states = map[string]podState{"web-0": {revision: "one", created: noon.Add(-time.Hour)}, "web-1": {created: noon}}
	w.pass(30)
	if done := w.did(); counted(done, "resize web-0") == 0 || counted(done, "resize web-1") != 0 {
		t.Errorf("%v was done, want only to web-0", done)
	}
}

// A silent cluster holds what others have also if somebody else scales the workload there.
func TestSilentClusterOfAnotherAutoscalerHolds(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	w.use(100, 200*mi)
	west := w.clusters["west"]
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	hpa.Namespace, hpa.Name, hpa.Spec.ScaleTargetRef = web.Namespace, "other", object().Spec.ScaleTargetRef
	west.hpas = []*autoscalingv2.HorizontalPodAutoscaler{hpa}
	west.silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.pass(5)
	if done := w.did(); counted(done, "resize") != 0 {
		t.Errorf("%v was done while a cluster was silent", done)
	}
}

// What differs in the words of one failure is not written each minute.
func TestFailureIsWrittenOnce(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	delete(w.clusters, "west")
	w.use(900, 19*gi/10)
	w.pass(3)
	written := 0
	for i := range 20 {
		w.clusters["east"].refusals = map[string]error{"resize": fmt.Errorf("read tcp 10.0.0.1:%d: connection reset by peer", 40000+i)}
		w.use(2000, 3*gi)
		w.pass(1)
		for _, request := range w.requests {
			if request == "status MultidimPodAutoscaler" {
				written++
			}
		}
	}
	same(t, "condition", "False PodsNotChanged", w.actuationOf())
	if written > 8 {
		t.Errorf("the status was written %d times in 20 minutes", written)
	}
}

// What was written a moment ago may not be seen yet, and goes all the same.
func TestWhatIsNotSeenYetGoes(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(1)
	w.did()
	east := w.clusters["east"]
	east.lags = true
	w.clock.SetTime(noon.Add(time.Second))
	if err := w.hub.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	if done := w.did(); counted(done, "remove web") != 2 || len(east.entries) != 0 {
		t.Errorf("%v was done, and %v stays", done, east.entries)
	}
}

// A Pod has its size from when it was last seen without, and what it was asked to be before that is no size.
func TestPodsAreRemembered(t *testing.T) {
	is := func(actual, asked int64, resize pods.ResizeState) pods.SizedPod {
		of := func(amount int64) []pods.Container {
			return []pods.Container{{Name: "app", Requests: pods.Resources{MilliCPU: amount, Memory: gi}}}
		}
		return pods.SizedPod{UID: "1", Node: "node-1", Containers: of(asked), Actual: of(actual),
			Resize: pods.Resize{State: resize, Observed: true}}
	}
	var m podMemories
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	for minute, p := range []pods.SizedPod{
		is(100, 100, pods.ResizeNone), is(100, 200, pods.ResizeInProgress), is(100, 200, pods.ResizeInProgress),
		is(200, 200, pods.ResizeNone), is(200, 200, pods.ResizeNone),
	} {
		m = m.see(&cluster{pods: pods.SizedListing{Pods: []pods.SizedPod{p, {}}}}, nil, at(minute))
		want := []time.Time{{}, at([]int{0, 1, 1, 3, 3}[minute])}
		if minute >= 3 {
			want[0] = at(2)
		}
		same(t, fmt.Sprintf("resized, and since when it is in its state, after %d minutes", minute), want,
			[]time.Time{m["1"].resized, m["1"].since})
	}
	same(t, "Pods", 1, len(m))
	same(t, "once they are gone", 0, len(m.see(&cluster{}, nil, noon)))
}

// Where others were never seen who may have the workload, nothing is done.
func TestUnseenAutoscalers(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	delete(w.clusters, "west")
	w.clusters["east"].hidden = fleet.Silencef(fleet.ReasonForbidden, "it may not be listed")
	w.pass(30)
	w.didNothing(t, "unseen")
	same(t, "condition", "False Forbidden", w.actuationOf())
	w.clusters["east"].hidden = nil
	w.pass(3)
	if done := w.did(); counted(done, "give") == 0 || counted(done, "resize") == 0 {
		t.Errorf("%v was done, want sizes once they are seen", done)
	}
}

// What an older one takes over is removed also where nothing is measured.
func TestYieldsWhereNothingIsMeasured(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(2)
	w.did()
	older := object(acting(v1alpha1.UpdateModeInitial))
	older.Name, older.UID, older.CreationTimestamp = "older", "uid-of-older", metav1.NewTime(noon.Add(-time.Hour))
	if err := w.hub.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.CreationTimestamp = metav1.NewTime(noon) })
	w.uses = errors.New("away")
	w.pass(2)
	same(t, "done", []string{"east: remove web", "west: remove web"}, w.did())
}

// Evictions count for how many Pods there should be for a while, and not longer.
func TestWanted(t *testing.T) {
	m := clusterMemory{}
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	for _, tc := range []struct {
		second, running, assigned, want int
		evicts                          bool
	}{
		{second: 0, running: 5, want: 5, evicts: true},
		{second: 60, running: 4, want: 5},
		{second: 61, running: 4, assigned: 8, want: 8},
		{second: 62, running: 6, want: 6},
		{second: 119, running: 3, want: 5},
		{second: 120, running: 3, want: 3, evicts: true}, // it was scaled in
		{second: 180, running: 2, want: 3},
	} {
		same(t, fmt.Sprintf("after %d s", tc.second), tc.want, m.wanted(tc.running, tc.assigned, at(tc.second)))
		if tc.evicts {
			m.evictions = append(m.evictions, at(tc.second))
		}
	}
}

// A deletion tells which clusters it waits for, and not each minute in what other words they do not answer.
func TestWaitingIsToldOnce(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(1)
	if err := w.hub.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	w.told()
	for port := range 5 {
		w.clusters["west"].silence = fleet.Silencef(fleet.ReasonTimeout, "read tcp 10.0.0.1:%d: i/o timeout", 40000+port)
		w.pass(1)
	}
	same(t, "told", 1, len(w.told()))
	c := meta.FindStatusCondition(w.object().Status.Conditions, v1alpha1.MultidimVerticalActuation)
	if c == nil || c.Status != "False" || c.Reason != "WaitingForClusters" ||
		c.Message != "what new Pods are created with is still there, in clusters that are waited for: west" {
		t.Errorf("condition: %v", c)
	}
}

// A deletion that a cluster does not let end is over after the grace, and says what stays there.
func TestDeletionEnds(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(1)
	w.clusters["west"].silence = fleet.Silencef(fleet.ReasonTimeout, "no answer")
	if err := w.hub.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	deleted := w.object().DeletionTimestamp.Time
	w.clock.SetTime(deleted.Add(time.Hour - time.Minute))
	w.told()
	w.did()
	w.pass(1)
	if w.object() == nil || counted(w.told(), "LeftBehind") > 0 {
		t.Error("it is over before the grace is")
	}
	w.pass(1)
	if err := w.hub.Get(t.Context(), web, &v1alpha1.MultidimPodAutoscaler{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is still there: %v", err)
	}
	same(t, "told", []string{"Warning LeftBehind what new Pods are created with is left behind, in clusters that could not be written for " +
		`1h0m0s: west: Timeout: no answer; delete the entry "web" of PodSizes there`}, w.told())
}

// A time of a member is told by our clock, and a kill counts until its Pod has got another size.
func TestKillsCountUntilResized(t *testing.T) {
	size := func(peak, limit int64) *sizes.RunningContainer {
		return &sizes.RunningContainer{Name: "app", Peak: peak, Resources: sizes.Resources{Limits: sizes.Amounts{sizes.None, limit}}}
	}
	now := noon
	for name, tc := range map[string]struct {
		of        *sizes.RunningContainer
		kill      pods.OOMKill
		sized     time.Time
		oom, soon bool
	}{
		"long after it began": {size(0, gi), pods.OOMKill{StartedAt: now.Add(-time.Hour), FinishedAt: now.Add(-time.Minute)},
			now.Add(-time.Hour), true, false},
		"soon after": {size(0, gi), pods.OOMKill{StartedAt: now.Add(-2 * time.Minute), FinishedAt: now.Add(-time.Minute)},
			now.Add(-time.Hour), true, true},
		"soon after, but long ago": {size(0, gi), pods.OOMKill{StartedAt: now.Add(-21 * time.Minute), FinishedAt: now.Add(-20 * time.Minute)},
			now.Add(-time.Hour), true, false},
		"before it had its size": {size(0, gi), pods.OOMKill{StartedAt: now.Add(-2 * time.Minute), FinishedAt: now.Add(-time.Minute)},
			now.Add(-time.Second), false, false},
		"supposed, and full": {size(gi, gi), pods.OOMKill{StartedAt: now.Add(-time.Hour), FinishedAt: now.Add(-time.Minute),
			Supposed: true}, now.Add(-time.Hour), true, false},
		"supposed, with half of it": {size(gi/2, gi), pods.OOMKill{StartedAt: now.Add(-time.Hour), FinishedAt: now.Add(-time.Minute),
			Supposed: true}, now.Add(-time.Hour), false, false},
		"supposed, without any limit": {size(gi, sizes.None), pods.OOMKill{StartedAt: now.Add(-time.Hour), FinishedAt: now.Add(-time.Minute),
			Supposed: true}, now.Add(-time.Hour), false, false},
		"it is not told when": {size(0, gi), pods.OOMKill{}, time.Time{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			ahead := time.Hour // is the member's clock
			tc.kill.Container = "app"
			if !tc.kill.FinishedAt.IsZero() {
				tc.kill.StartedAt, tc.kill.FinishedAt = tc.kill.StartedAt.Add(ahead), tc.kill.FinishedAt.Add(ahead)
			}
			c := cluster{Cluster: &member{ahead: ahead}}
			oom, soon := c.killed(&pods.SizedPod{OOMKills: []pods.OOMKill{tc.kill}}, tc.of, tc.sized, now)
			same(t, "killed, soon", []bool{tc.oom, tc.soon}, []bool{oom, soon})
		})
	}
}

// Of many that are killed at once one Event tells.
func TestKillsAreToldTogether(t *testing.T) {
	for n, and := range map[int]string{1: "", 2: ", and 1 more"} {
		fed := history.Fed{Cluster: "east", Kills: make([]history.Kill, n)}
		fed.Kills[0] = history.Kill{Pod: "web-0", Container: "app"}
		same(t, "told", "cluster east: container app of Pod web-0 was killed for want of memory"+and+"; more is recommended for it", killed(fed))
	}
}

// A percentage is rounded down, and one Pod always may be disrupted.
func TestBudget(t *testing.T) {
	for _, tc := range []struct {
		may           intstr.IntOrString
		running, want int
	}{
		{intstr.FromString("25%"), 7, 1}, {intstr.FromString("25%"), 8, 2}, {intstr.FromString("25%"), 3, 1}, {intstr.FromString("100%"), 3, 3},
		{intstr.FromInt32(3), 1, 3}, {intstr.FromString("25%"), 0, 1},
	} {
		p := plan{situation: situation{Object: object(func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.Policy.MinReplicas, m.Spec.Policy.MaxUnavailable = new(int32(2)), &tc.may
		})}}
		c := cluster{rates: Rates{Resizes: 5, Evictions: 4}}
		want := sizes.Budget{MinReplicas: 2, MaxUnavailable: tc.want, Resizes: 5, Evictions: 4}
		same(t, fmt.Sprintf("%s of %d", tc.may.String(), tc.running), want, p.budget(&c, tc.running))
	}
}

// History is as long as that of the container of which there is least: in the fleet, or in the cluster where each has its own.
func TestHistoryOf(t *testing.T) {
	ago := func(hours int) time.Time { return noon.Add(-time.Duration(hours) * time.Hour) }
	in := func(cluster string, hours, samples int) history.ClusterAdvice {
		return history.ClusterAdvice{Cluster: cluster, First: ago(hours), Samples: samples}
	}
	advice := []history.Advice{
		{Container: "app", First: ago(9), Samples: 10, Clusters: []history.ClusterAdvice{in("east", 9, 5), in("west", 2, 5)}},
		{Container: "log", First: ago(5), Samples: 10, Clusters: []history.ClusterAdvice{in("east", 5, 10), in("west", 5, 0)}},
		{Container: "own", First: ago(7), Samples: 10, Clusters: []history.ClusterAdvice{in("east", 7, 10), in("west", 1, 1)}},
	}
	p := plan{situation: situation{Now: noon, Object: object(), advice: advice}}
	same(t, "of the fleet", 5*time.Hour, p.history("west"))
	p.Object.Spec.Scope = v1alpha1.ScopePerCluster
	same(t, "of east", 5*time.Hour, p.history("east"))
	same(t, "of west, of which one has no samples", time.Duration(0), p.history("west"))
	same(t, "of a cluster of which there are none", time.Duration(0), p.history("north"))
	p.Object.Spec.Recommenders = []v1alpha1.RecommenderReference{{Name: "model"}}
	same(t, "by somebody else", time.Duration(math.MaxInt64), p.history("west"))
}

// What is not seen now is not written again.
func TestUnreadPodSizes(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	for _, c := range w.clusters {
		c.unread = fleet.Silencef(fleet.ReasonTimeout, "no answer")
	}
	w.pass(5)
	w.didNothing(t, "unread")
	same(t, "condition", "False Timeout", w.actuationOf())
}

// Where new Pods get no size any longer, nothing is left for whoever puts that right much later.
func TestPolicyGoes(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(2)
	w.did()
	w.clusters["east"].can.Admits = false
	w.pass(3)
	same(t, "done", []string{"east: remove web"}, w.did())
}

// A sample that is told again is no other sample.
func TestSamplesCountOnce(t *testing.T) {
	is := pods.Resources{MilliCPU: 1000, Memory: gi}
	p := pods.SizedPod{UID: "1", Containers: []pods.Container{{Name: "app", Requests: is}}}
	p.Name = "web-0"
	advised := []sizes.Size{{Name: "app", Advice: sizes.Advice{Target: sizes.Amounts{2000, 2 * gi}}}}
	var m podMemories
	see := func(measured time.Time) (pressed [2]bool) {
		c := &cluster{pods: pods.SizedListing{Pods: []pods.SizedPod{p}}, uses: hubmetrics.ClusterUses{Pods: []hubmetrics.PodUses{{
			Name: "web-0", Measured: measured, Containers: []hubmetrics.ContainerUse{{Name: "app", MilliCPU: 1000, Memory: gi}},
		}}}}
		m = m.see(c, advised, noon)
		rc := sizes.RunningContainer{Name: "app"}
		m["1"].tell(&rc)
		same(t, "peak", int64(gi), rc.Peak)
		return rc.Pressed
	}
	for range 10 {
		same(t, "one sample", [2]bool{}, see(noon))
	}
	for i := range 3 {
		same(t, "some samples", [2]bool{}, see(noon.Add(time.Duration(i+1)*time.Minute)))
	}
	same(t, "five samples", [2]bool{true, true}, see(noon.Add(time.Hour)))
}

// The highest of a day or two is kept, and not that of longer ago.
func TestPeak(t *testing.T) {
	var p peak
	for _, tc := range []struct {
		hour         int
		amount, want int64
	}{{0, 5, 5}, {1, 3, 5}, {24, 2, 5}, {47, 1, 5}, {48, 1, 2}, {72, 1, 1}, {200, 4, 4}} {
		p.add(tc.amount, noon.Add(time.Duration(tc.hour)*time.Hour))
		same(t, fmt.Sprintf("after %d hours", tc.hour), tc.want, p.most())
	}
}

// Only what changes is asked for.
func TestChanges(t *testing.T) {
	is := func(cpu, memory int64) sizes.Resources {
		return sizes.Resources{Requests: sizes.Amounts{cpu, memory}, Limits: sizes.Amounts{sizes.None, gi}}
	}
	pod := &sizes.Running{Containers: []sizes.RunningContainer{{Name: "app", Resources: is(100, mi)}, {Name: "log", Resources: is(5, mi)}}}
	to := []sizes.Resources{is(100, 2*mi), is(5, mi)}
	nothing := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	same(t, "changes", []sizing.ContainerResources{{Name: "app", Requests: pods.Resources{MilliCPU: pods.None, Memory: 2 * mi},
		Limits: nothing}},
		changesOf(sizes.Move{Pod: pod, Resize: sizes.Resize{Containers: to}}))
}

// What its node has less of is not asked for again, and the Pod is evicted.
func TestNodeTooSmall(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	delete(w.clusters, "west")
	w.clusters["east"].refusals = map[string]error{"resize": &sizing.Refused{Why: sizing.RefusedNode, Message: "no"}}
	w.pass(20)
	if done := w.did(); counted(done, "evict web-0") != 1 || counted(done, "resize web-0") == 0 {
		t.Errorf("%v was done, want an eviction after a refusal", done)
	}
}

// What somebody else keeps is not waited for, and what may not be removed is.
func TestRemovalIsRefused(t *testing.T) {
	for why, want := range map[sizing.Refusal]bool{sizing.RefusedTaken: false, sizing.RefusedRight: true} {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(2)
		w.clusters["east"].refusals = map[string]error{"give": &sizing.Refused{Why: why, Message: "no"}}
		if err := w.hub.Delete(t.Context(), w.object()); err != nil {
			t.Fatal(err)
		}
		w.clock.SetTime(w.clock.Now().Add(-time.Minute)) // just now written
		w.pass(1)
		err := w.hub.Get(t.Context(), web, &v1alpha1.MultidimPodAutoscaler{})
		same(t, "it is still there after "+string(why), want, err == nil)
	}
}

// Who lacks a right lacks it for all Pods of the cluster.
func TestOneRequestWithoutTheRight(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	delete(w.clusters, "west")
	w.clusters["east"].refusals = map[string]error{"resize": &sizing.Refused{Why: sizing.RefusedRight, Message: "no"}}
	most := 0
	for range 20 {
		w.pass(1)
		most = max(most, counted(w.did(), "resize"))
	}
	same(t, "requests of one reconcile", 1, most)
}

// Where somebody else has the workload, new Pods get no size either.
func TestNothingIsGivenBesideAnother(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	hpa.Namespace, hpa.Name, hpa.Spec.ScaleTargetRef = web.Namespace, "other", object().Spec.ScaleTargetRef
	w.clusters["east"].hpas = []*autoscalingv2.HorizontalPodAutoscaler{hpa}
	w.pass(5)
	if done := w.did(); counted(done, "east") != 0 || counted(done, "west: give") == 0 {
		t.Errorf("%v was done, want sizes only in west", done)
	}
}
