// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// whole is a cluster that can do all that there is.
var whole = sizing.Support{Known: true, Serves: true, Resizes: true, Admits: true}

// acting has Pods come to their sizes.
func acting(mode v1alpha1.UpdateMode) func(*v1alpha1.MultidimPodAutoscaler) {
	return func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Policy.UpdateMode = mode
		m.Spec.Policy.MinReplicas, m.Spec.Policy.MaxUnavailable = new(int32(1)), new(intstr.FromInt32(1))
		m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: "app", ControlledValues: v1alpha1.ControlsRequestsOnly}}
	}
}

// newActing is a world whose clusters can do all that there is, and whose Pods use more than they request.
func newActing(t *testing.T, mode v1alpha1.UpdateMode, change ...func(*v1alpha1.MultidimPodAutoscaler)) *world {
	t.Helper()
	w := newWorld(t, object(append([]func(*v1alpha1.MultidimPodAutoscaler){acting(mode)}, change...)...))
	w.limiters.Rates = Rates{Resizes: 120, Evictions: 10}
	w.Sizing.ResizeDeferred, w.Sizing.ResizeTimeout = 5*time.Minute, time.Hour
	for _, c := range w.clusters {
		c.can = whole
		for i := range c.pods {
			c.pods[i].cpu, c.pods[i].memory = 2000, 3*gi
		}
	}
	return w
}

// complete adds what is known of a Pod besides its size.
func (c *member) complete(p *pods.SizedPod) {
	state := c.states[p.Name]
	p.UID, p.Created, p.Revision, p.SizedBy, p.Resize = types.UID("uid-of-"+p.Name), state.created, state.revision, state.sizedBy, state.resize
	p.Resize.Observed = !state.unseen
	p.Started, p.Resizable = state.created, !c.stubborn
	p.Class = corev1.PodQOSBurstable
	if state.actual != nil {
		p.Actual = slices.Clone(p.Containers)
		p.Actual[0].Requests = *state.actual
	}
	if p.Created.IsZero() {
		p.Created, p.Started = noon.Add(-24*time.Hour), noon.Add(-24*time.Hour)
	}
	if p.Ready.Status = corev1.ConditionTrue; state.pending {
		p.Ready.Status = corev1.ConditionFalse
	} else {
		p.Node = "node-1"
	}
}

func (c *member) Support(context.Context) sizing.Support {
	s := c.can
	s.Silence = c.silence
	return s
}

func (c *member) PodSizes(context.Context, string) sizing.PodSizes {
	all := sizing.PodSizes{Known: true, Silence: cmp.Or(c.silence, c.unread), Generation: c.version}
	if c.lags {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		all.Workloads = append(all.Workloads, c.entries[name])
	}
	return all
}

func (c *member) SetPodSizes(_ context.Context, _ string, _ types.UID, entry fleetscalev1alpha1.SizedWorkload) error {
	if err := c.refusals["give"]; err != nil {
		return err
	}
	if c.entries == nil {
		c.entries = map[string]fleetscalev1alpha1.SizedWorkload{}
	}
	c.changes = append(c.changes, "give "+entry.Containers[0].Requests["cpu"])
	c.entries[entry.Name] = entry
	c.version++
	return nil
}

func (c *member) RemovePodSizes(_ context.Context, _ string, _ types.UID, name string) error {
	c.changes = append(c.changes, "remove "+name)
	delete(c.entries, name)
	c.version++
	return c.refusals["give"]
}

func (c *member) find(ref sizing.PodRef) (int, error) {
	at := slices.IndexFunc(c.pods, func(p pod) bool { return p.name == ref.Name })
	if at < 0 || "uid-of-"+ref.Name != string(ref.UID) {
		return 0, &sizing.Refused{Why: sizing.RefusedGone}
	}
	return at, nil
}

func (c *member) Resize(_ context.Context, _ string, ref sizing.PodRef, containers []sizing.ContainerResources) error {
	at, err := c.find(ref)
	if err == nil {
		err = c.refusals["resize"]
	}
	c.changes = append(c.changes, "resize "+ref.Name)
	if err != nil {
		return err
	}
	for _, to := range containers {
		if to.Requests.MilliCPU >= 0 {
			c.pods[at].requests.MilliCPU = to.Requests.MilliCPU
		}
		if to.Requests.Memory >= 0 {
			c.pods[at].requests.Memory = to.Requests.Memory
		}
	}
	return nil
}

// Evict has another Pod take the place, as a ReplicaSet would, with the size of new ones.
func (c *member) Evict(_ context.Context, _ string, ref sizing.PodRef) error {
	at, err := c.find(ref)
	if err == nil {
		err = c.refusals["evict"]
	}
	c.changes = append(c.changes, "evict "+ref.Name)
	if err != nil {
		return err
	}
	old := c.pods[at]
	c.pods = slices.Delete(c.pods, at, at+1)
	c.add(old.name+"'", old)
	return nil
}

// add makes a Pod.
func (c *member) add(name string, as pod) {
	as.name, as.requests = name, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}
	if c.states == nil {
		c.states = map[string]podState{}
	}
	state := podState{created: c.w.clock.Now()}
	if entry, sized := c.entries[web.Name]; sized && !c.bare {
		got := containersIn(&entry)[0].Requests
		as.requests, state.sizedBy = pods.Resources{MilliCPU: got[sizes.CPU], Memory: got[sizes.Memory]}, "web@1"
	}
	c.pods, c.states[name] = append(c.pods, as), state
}

// did returns what was done in both clusters since it was last asked.
func (w *world) did() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(w.clusters)) {
		c := w.clusters[name]
		for _, change := range c.changes {
			all = append(all, name+": "+change)
		}
		c.changes = nil
	}
	return all
}

func (w *world) didNothing(t *testing.T, what string) {
	t.Helper()
	if got := w.did(); len(got) != 0 {
		t.Errorf("%s: %v was done", what, got)
	}
}

// actuationOf is the condition, in short.
func (w *world) actuationOf() string {
	c := meta.FindStatusCondition(w.object().Status.Conditions, v1alpha1.MultidimVerticalActuation)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s", c.Status, c.Reason)
}

func counted(done []string, word string) (n int) {
	for _, d := range done {
		if strings.Contains(d, word) {
			n++
		}
	}
	return n
}

// New Pods get their size once something is recommended, what runs stays, and nothing is written again while it stands.
func TestInitial(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial)
	w.pass(1)
	if got := w.did(); len(got) != 2 || counted(got, "give ") != 2 {
		t.Fatalf("%v was done, want sizes for new Pods in both clusters", got)
	}
	if !controllerutil.ContainsFinalizer(w.object(), v1alpha1.PodSizesFinalizer) {
		t.Error("it would go without what it wrote")
	}
	entry := w.clusters["east"].entries["web"]
	same(t, "labels", map[string]string{"app": "web"}, entry.MatchLabels)
	same(t, "containers", 1, len(entry.Containers))
	w.pass(30)
	if got := w.did(); counted(got, "resize") != 0 || counted(got, "evict") != 0 || len(got) > 12 {
		t.Errorf("%v was done to Pods that run, or written again and again", got)
	}
	same(t, "condition", "True Actuating", w.actuationOf())
	same(t, "admission", v1alpha1.AdmissionInstalled, w.object().Status.Clusters[0].Admission)
	w.clusters["east"].add("web-9", w.clusters["east"].pods[0])
	w.pass(1)
	same(t, "as recommended", int32(1), *w.object().Status.Clusters[0].AsRecommended)
}

// Pods that have too little grow in place. Nothing restarts, and nobody is evicted.
func TestInPlace(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	w.pass(30)
	done := w.did()
	if counted(done, "resize") == 0 || counted(done, "evict") != 0 {
		t.Fatalf("%v was done, want resizes", done)
	}
	for name, c := range w.clusters {
		for _, p := range c.pods {
			if p.requests.MilliCPU <= 1000 || p.requests.Memory <= 2*gi {
				t.Errorf("cluster %s: %s still requests %v", name, p.name, p.requests)
			}
		}
	}
	if !slices.ContainsFunc(w.told(), func(e string) bool { return strings.Contains(e, "Resized") && strings.Contains(e, "web-0") }) {
		t.Error("nobody is told of it")
	}
}

// regarding are the fields that Events of one reason are of.
type regarding map[string][]string

func (r regarding) Eventf(of, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	field := ""
	if ref, is := of.(*corev1.ObjectReference); is && ref.Name == "web" && ref.ResourceVersion != "" {
		field = ref.FieldPath
	}
	r[reason] = append(r[reason], field)
}

// Events of one reason, sent in one reconcile, are taken for one that repeats if they are of the same: then one cluster's is lost.
func TestEventsOfTwoClustersAreTwo(t *testing.T) {
	w, told := newActing(t, v1alpha1.UpdateModeInPlace), regarding{}
	w.Events = told
	w.pass(30)
	slices.Sort(told[eventResized])
	same(t, "resized", []string{"status.clusters{east}", "status.clusters{west}"}, slices.Compact(told[eventResized]))
	same(t, "recommended", []string{""}, told[eventRecommended])
}

// Where nodes resize nothing, Pods are evicted: one after the other, in one cluster after the other, and only once new ones get
// their size.
func TestInPlaceOrRecreate(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	for _, c := range w.clusters {
		c.stubborn = true
	}
	evicted := 0
	for range 60 {
		w.pass(1)
		done := w.did()
		n := counted(done, "evict")
		if n > 1 || n > 0 && counted(done, "give") > 0 {
			t.Fatalf("%v was done at once", done)
		}
		evicted += n
	}
	same(t, "evicted", 4, evicted)
	for name, c := range w.clusters {
		for _, p := range c.pods {
			if !strings.HasSuffix(p.name, "'") || p.requests.MilliCPU <= 1000 {
				t.Errorf("cluster %s: %s requests %v", name, p.name, p.requests)
			}
		}
	}
	same(t, "lately", int32(2), *w.object().Status.Clusters[0].EvictedLastHour)
	w.pass(61)
	same(t, "an hour later", int32(0), *w.object().Status.Clusters[0].EvictedLastHour)
}

// Evictions that do not help end after two.
func TestAdmissionIneffective(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	east := w.clusters["east"]
	delete(w.clusters, "west")
	east.stubborn, east.bare = true, true
	for i := range 6 {
		east.add(fmt.Sprintf("more-%d", i), east.pods[0])
	}
	w.pass(120)
	if n := counted(w.did(), "evict"); n != 2 {
		t.Errorf("%d Pods were evicted without success, want 2", n)
	}
	same(t, "admission", v1alpha1.AdmissionIneffective, w.object().Status.Clusters[0].Admission)
	same(t, "condition", "False AdmissionIneffective", w.actuationOf())
	if !slices.ContainsFunc(w.told(), func(e string) bool { return strings.Contains(e, "AdmissionIneffective") }) {
		t.Error("nobody is told of it")
	}
	east.can.Policies = "another" // and it has an effect
	east.bare = false
	w.pass(3)
	same(t, "admission, once the policy is another", v1alpha1.AdmissionInstalled, w.object().Status.Clusters[0].Admission)
	w.pass(60)
	same(t, "evicted then", len(east.pods), counted(w.did(), "evict"))
}

// What a cluster cannot do is not tried there, and said.
func TestWhatAClusterCannotDo(t *testing.T) {
	missing := sizing.Support{Known: true, Serves: true, Resizes: true, Reason: sizing.NoPolicy, Message: "it has no policy"}
	old := sizing.Support{Known: true, Reason: sizing.NoResize, Message: "it does not serve pods/resize"}
	const lacking, unknown = v1alpha1.AdmissionMissing, v1alpha1.AdmissionUnknown
	resizes := []string{"resize"}
	for name, tc := range map[string]struct {
		mode      v1alpha1.UpdateMode
		sizing    sizing.Support
		stubborn  bool
		want      []string // of what is done
		condition string
		admission v1alpha1.SizeAdmission
	}{
		"no policy: nothing is evicted":    {v1alpha1.UpdateModeInPlaceOrRecreate, missing, true, nil, "False PolicyMissing", lacking},
		"no policy: resized":               {v1alpha1.UpdateModeInPlaceOrRecreate, missing, false, resizes, "False PolicyMissing", lacking},
		"no policy: the best is to resize": {v1alpha1.UpdateModeAuto, missing, false, resizes, "True Actuating", lacking},
		"no policy: no new Pod is sized":   {v1alpha1.UpdateModeInitial, missing, false, nil, "False PolicyMissing", lacking},
		"an old cluster":                   {v1alpha1.UpdateModeAuto, old, false, nil, "False ResizeNotServed", lacking},
		"an old cluster, and no choice":    {v1alpha1.UpdateModeInPlace, old, false, nil, "False ResizeNotServed", lacking},
		"nothing is known":                 {v1alpha1.UpdateModeAuto, sizing.Support{}, false, nil, "False SizingUnknown", unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, tc.mode)
			for _, c := range w.clusters {
				c.can, c.stubborn = tc.sizing, tc.stubborn
			}
			w.pass(40)
			done := w.did()
			for _, word := range []string{"give", "resize", "evict"} {
				if slices.Contains(tc.want, word) != (counted(done, word) > 0) {
					t.Errorf("%v was done, want only %v", done, tc.want)
				}
			}
			same(t, "condition", tc.condition, w.actuationOf())
			same(t, "admission", tc.admission, w.object().Status.Clusters[0].Admission)
		})
	}
}

// Nothing is changed where that is not to be, or where not enough is known.
func TestNothingIsChanged(t *testing.T) {
	silence := &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	for name, tc := range map[string]struct {
		change    func(*world)
		condition string
	}{
		"the metrics of the hub are away": {func(w *world) { w.uses = errors.New("away") }, "False NothingRecommended"},
		"observing": {func(w *world) { w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeObserve }) },
			"False Observe"},
		"paused": {func(w *world) { w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModePaused }) }, "False Paused"},
		"the clusters are silent": {func(w *world) {
			for _, c := range w.clusters {
				c.silence = silence
			}
		}, "False Timeout"},
		"others scale the workload there": {func(w *world) {
			for _, c := range w.clusters {
				hpa := &autoscalingv2.HorizontalPodAutoscaler{}
				hpa.Namespace, hpa.Name, hpa.Spec.ScaleTargetRef = web.Namespace, "other", object().Spec.ScaleTargetRef
				c.hpas = []*autoscalingv2.HorizontalPodAutoscaler{hpa}
			}
		}, "False AnotherAutoscaler"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
			for _, c := range w.clusters {
				for i := range c.pods {
					c.pods[i].cpu, c.pods[i].memory = 900, 19*gi/10 // as they request
				}
			}
			w.pass(3)
			w.did()
			for _, c := range w.clusters {
				for i := range c.pods {
					c.pods[i].requests = pods.Resources{MilliCPU: 10, Memory: mi}
				}
			}
			tc.change(w)
			w.pass(30)
			w.didNothing(t, name)
			same(t, "condition", tc.condition, w.actuationOf())
		})
	}
}

// Pods of a silent cluster stay, and nobody elsewhere has less while it is silent.
func TestFrozenClusterHoldsWhatOthersHave(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	for _, c := range w.clusters {
		for i := range c.pods {
			c.pods[i].cpu, c.pods[i].memory = 100, 200*mi
		}
	}
	w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
	w.pass(5)
	if done := w.did(); counted(done, "resize") != 0 {
		t.Errorf("%v was done while a cluster was silent", done)
	}
	w.clusters["west"].silence = nil
	w.pass(5)
	if done := w.did(); counted(done, "resize") == 0 {
		t.Errorf("%v was done, want Pods that shrink once it is not", done)
	}
}

// What was written goes with the object, with the mode, and with the cluster that is no longer selected.
func TestWhatWasWrittenGoes(t *testing.T) {
	t.Run("deleted, while a cluster is silent", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(1)
		w.did()
		w.clusters["west"].silence = &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: "no answer"}
		if err := w.hub.Delete(t.Context(), w.object()); err != nil {
			t.Fatal(err)
		}
		w.pass(3)
		same(t, "done", []string{"east: remove web"}, w.did())
		told := w.told()
		if n := counted(told, "WaitingForClusters"); n != 1 || counted(told, "west") == 0 {
			t.Errorf("told %v, want once that west is waited for", told)
		}
		w.clusters["west"].silence = nil
		w.pass(1)
		same(t, "done", []string{"west: remove web"}, w.did())
		if err := w.hub.Get(t.Context(), web, &v1alpha1.MultidimPodAutoscaler{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("it is still there: %v", err)
		}
	})
	t.Run("Off again", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(1)
		w.did()
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Policy.UpdateMode = v1alpha1.UpdateModeOff })
		w.pass(1)
		same(t, "done", []string{"east: remove web", "west: remove web"}, w.did())
		same(t, "finalizers", 0, len(w.object().Finalizers))
		same(t, "condition", "False UpdateModeOff", w.actuationOf())
		w.pass(2)
		w.didNothing(t, "later")
	})
	t.Run("no longer selected", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(1)
		w.did()
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"east"}}
		})
		w.pass(2)
		same(t, "done", []string{"west: remove web"}, w.did())
	})
	t.Run("no longer selected, and it is refused", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInitial)
		w.pass(1)
		west := w.clusters["west"]
		entry := west.entries["web"]
		west.refusals = map[string]error{"give": errors.New("no")}
		w.edit(func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: []string{"east"}}
		})
		w.pass(1)
		same(t, "condition", "False SizesNotWritten", w.actuationOf())
		west.entries["web"], west.refusals = entry, nil
		w.pass(1)
		same(t, "condition", "True Actuating", w.actuationOf())
	})
}

// What a cluster refuses is said, and not retried all the time.
func TestRefusals(t *testing.T) {
	refused := func(why sizing.Refusal) error {
		return fmt.Errorf("doing it: %w", &sizing.Refused{Why: why, Message: "no"})
	}
	for name, tc := range map[string]struct {
		of       string
		why      sizing.Refusal
		stubborn bool
		most     int // tries in half an hour, of a Pod
		reason   string
	}{
		"no right to write sizes":  {"give", sizing.RefusedRight, false, 0, "Forbidden"},
		"too many in a namespace":  {"give", sizing.RefusedTooMany, false, 0, "TooManyInNamespace"},
		"no right to resize":       {"resize", sizing.RefusedRight, false, 30, "Forbidden"},
		"a quota":                  {"resize", sizing.RefusedQuota, false, 6, ""},
		"a budget for disruptions": {"evict", sizing.RefusedBudget, true, 6, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
			east := w.clusters["east"]
			delete(w.clusters, "west")
			east.refusals, east.stubborn = map[string]error{tc.of: refused(tc.why)}, tc.stubborn
			seen := ""
			tries := 0
			for range 30 {
				w.pass(1)
				tries += counted(w.did(), tc.of+" web-0")
				if reason := w.object().Status.Clusters[0].Reason; reason != "" {
					seen = reason
				}
			}
			if tries > tc.most || tc.most > 0 && tries == 0 {
				t.Errorf("tried %d times, want at most %d", tries, tc.most)
			}
			if tc.reason != "" {
				same(t, "reason", tc.reason, seen)
			}
		})
	}
}

// A resize that its node has no room for is awaited, and then the Pod is evicted; where that is not allowed, it is withdrawn.
func TestDeferred(t *testing.T) {
	for _, mode := range []v1alpha1.UpdateMode{v1alpha1.UpdateModeInPlaceOrRecreate, v1alpha1.UpdateModeInPlace} {
		t.Run(string(mode), func(t *testing.T) {
			w := newActing(t, mode)
			delete(w.clusters, "west")
			east := w.clusters["east"]
			w.pass(3)
			w.did()
			had := pods.Resources{MilliCPU: 1000, Memory: 2 * gi}
			east.states = map[string]podState{"web-0": {resize: pods.Resize{State: pods.ResizeDeferred}, actual: &had}}
			east.pods[0].requests = pods.Resources{MilliCPU: 5000, Memory: 4 * gi}
			w.pass(3)
			if done := w.did(); counted(done, "web-0") != 0 {
				t.Errorf("%v was done at once", done)
			}
			same(t, "deferred", int32(1), *w.object().Status.Clusters[0].Deferred)
			w.pass(10)
			word := map[bool]string{true: "evict web-0", false: "resize web-0"}[mode == v1alpha1.UpdateModeInPlaceOrRecreate]
			if done := w.did(); counted(done, word) == 0 {
				t.Errorf("%v was done, want %s", done, word)
			}
		})
	}
}

// With goals, new Pods may use what they are measured by before the fleet grows, also while the fleet is at its minimum.
func TestNewPodsReserve(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInitial, withGoal, func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Constraints.Container = nil })
	for _, c := range w.clusters {
		for i := range c.pods {
			c.pods[i].cpu = 50
		}
	}
	w.pass(3)
	entry := w.clusters["east"].entries["web"]
	got := containersIn(&entry)
	if len(got) != 1 || got[0].Requests[sizes.CPU] < 500 {
		t.Errorf("new Pods get %v, want no less than the goal, half a core", entry)
	}
	if target := w.object().Status.Recommendation.Containers[0].Target.CPU.MilliValue(); target >= 500 {
		t.Errorf("running ones should have %dm, want less at the minimum", target)
	}
}

// While a new template is rolled out, Pods of the old one stay as they are.
func TestRollout(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	delete(w.clusters, "west")
	east := w.clusters["east"]
	east.states = map[string]podState{"web-0": {revision: "old", created: noon.Add(-time.Hour)}, "web-1": {revision: "new", created: noon}}
	w.pass(30)
	done := w.did()
	if counted(done, "resize web-0") != 0 || counted(done, "resize web-1") == 0 {
		t.Errorf("%v was done, want only to the new one", done)
	}
}

// What cannot be told by its labels is not sized when it is created.
func TestMatchLabels(t *testing.T) {
	for _, tc := range []struct {
		selector, labels map[string]any
		want             map[string]string
	}{
		{map[string]any{"matchLabels": map[string]any{"app": "web"}}, map[string]any{"app": "web", "tier": "x"}, map[string]string{"app": "web"}},
		{map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "In", "values": []any{"web"}}}}, nil,
			map[string]string{"app": "web"}},
		{map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Exists"}}},
			map[string]any{"app": "web", "tier": "x"}, map[string]string{"app": "web", "tier": "x"}},
		{map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Exists"}}}, nil, nil},
	} {
		found := deployment("1", "1Gi")
		found.Object["spec"].(map[string]any)["selector"] = tc.selector
		if tc.labels != nil {
			found.Object["spec"].(map[string]any)["template"].(map[string]any)["metadata"] = map[string]any{"labels": tc.labels}
		}
		parsed, err := parse(found, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint(tc.selector), tc.want, parsed.matchLabels())
	}
}

// What a node of its size never gave is not recommended again.
func TestAcceptedIsARoom(t *testing.T) {
	in := situation{Object: object()}
	nodes := capacity.LargestNodes{Known: true, Nodes: []pods.Resources{{MilliCPU: 4000, Memory: gi}}}
	c := cluster{name: "east", memory: &clusterMemory{}, nodes: nodes}
	same(t, "rooms", 1, len(c.rooms(&in)))
	same(t, "accepted", recommendation.NoAmounts(), c.rooms(&in)[0].Accepted)
}

// The rates hold over all objects.
func TestRates(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	w.limiters.Rates = Rates{Resizes: 1, Evictions: 0}
	w.limiters.byCluster = nil
	for range 6 {
		w.pass(1)
		for _, name := range []string{"east", "west"} {
			if n := counted(w.clusters[name].changes, "resize"); n > 1 {
				t.Errorf("%d Pods of %s were resized in a minute", n, name)
			}
		}
		w.did()
	}
}

// An object that only observes says what it would do, also where new Pods are not given sizes yet, and does it once it is active.
func TestObservedMoves(t *testing.T) {
	for name, tc := range map[string]struct {
		mode v1alpha1.UpdateMode
		can  sizing.Support
		want string
	}{
		"resizes":   {v1alpha1.UpdateModeInPlaceOrRecreate, whole, "now, 4 would be resized in place, and 0 evicted"},
		"evictions": {v1alpha1.UpdateModeRecreate, whole, "now, 0 would be resized in place, and 1 evicted"},
		"neither, where new Pods could not be given their size": {v1alpha1.UpdateModeRecreate,
			sizing.Support{Known: true, Serves: true, Resizes: true}, "now, 0 would be resized in place, and 0 evicted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, tc.mode, func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeObserve })
			for _, c := range w.clusters {
				c.can = tc.can
			}
			w.pass(40)
			w.didNothing(t, "observing")
			same(t, "condition", "False Observe", w.actuationOf())
			c := meta.FindStatusCondition(w.object().Status.Conditions, v1alpha1.MultidimVerticalActuation)
			if !strings.Contains(c.Message, tc.want) {
				t.Errorf("it says %q, want %q", c.Message, tc.want)
			}
			w.edit(func(m *v1alpha1.MultidimPodAutoscaler) { m.Spec.Mode = v1alpha1.ModeActive })
			w.pass(40)
			if done := w.did(); tc.can.Admits && counted(done, "resize")+counted(done, "evict") == 0 {
				t.Errorf("once active, it did %v", done)
			}
		})
	}
}
