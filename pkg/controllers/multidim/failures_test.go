// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// What fails, and what happens: docs/multidim.md has it as a table. These tests show it row by row:
//
//	the hub                              TestHubIsAway
//	the hub's metrics API                TestMetricsAreAway, TestNothingIsChanged, TestBecomesStale, TestBecomesStaleAfterARestart
//	a member, or its metrics-server      TestFrozenClusterHoldsWhatOthersHave, TestSilentClusterHolds, TestSilences, history.TestFeed
//	a member without the rights          TestForbiddenInOneCluster, TestOneRequestWithoutTheRight, TestWhatAClusterCannotDo
//	a node that cannot give a size       TestDeferred, TestUnseenResizeIsAwaited, TestNodeTooSmall, TestInfeasibleThreeTimes,
//	                                     sizes.TestAccepted
//	a policy that does nothing           TestAdmissionIneffective
//	tighter LimitRanges and quotas       TestTighterBounds
//	a new template                       TestRollout, TestTemplateChanges, TestTemplateIsReadAgain
//	a member's clock                     TestKillsCountUntilResized, sizes.TestAgesByOurClock, history.TestFeed
//	what a member says of itself         TestAClusterDoesNotChooseThePodsOfAnother, TestUnsound, TestShapesAreBounded,
//	                                     workload.TestPodSizesAreBounded
//	two leaders                          TestTwoLeaders, workload.TestSetPodSizesOfTwoWriters, workload.TestRefusals, history.TestConflict
//	the FederatedHPA is changed          TestGoals, TestChildIsDeleted, TestChildFollows, TestWhatWasWrittenGoes
//	a recommender with bad numbers       TestRefused, TestBadNumbersAreNotGiven
//	many kills at once                   TestKillStorm, TestKillsAreAnsweredInTime, history.TestManyKillsAtOnce

// refuse has the hub answer requests of one kind with an error from now on.
func (w *world) refuse(kind string, with error) {
	of := func(what string) error {
		if strings.HasPrefix(what, kind) {
			return with
		}
		return nil
	}
	w.Hub = interceptor.NewClient(w.Hub.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
			return cmp.Or(of("get "+kindOf(into)), hub.Get(ctx, key, into, o...))
		},
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, p client.Patch, o ...client.PatchOption) error {
			if err := of("patch " + kindOf(object)); err != nil {
				return err
			}
			return hub.Patch(ctx, object, p, o...)
		},
		SubResourceUpdate: func(ctx context.Context, hub client.Client, _ string, object client.Object,
			o ...client.SubResourceUpdateOption) error {
			if err := of("status " + kindOf(object)); err != nil {
				return err
			}
			return hub.Status().Update(ctx, object, o...)
		},
	})
}

var errAway = apierrors.NewServiceUnavailable("the hub is away")

// failing reconciles once a minute, so many times, and returns the last error.
func (w *world) failing(minutes int) (err error) {
	for range minutes {
		_, err = w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: web})
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	return err
}

// Without the hub nothing is done. What cannot be noted there is not begun, and what was done is not done again each time it could not
// be reported.
func TestHubIsAway(t *testing.T) {
	t.Run("nothing can be read", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
		w.refuse("get ", errAway)
		if err := w.failing(10); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("%v is reported", err)
		}
		w.didNothing(t, "without the hub")
	})
	t.Run("no finalizer can be written", func(t *testing.T) {
		w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
		w.refuse("patch ", errAway)
		if err := w.failing(10); err == nil || !strings.Contains(err.Error(), v1alpha1.PodSizesFinalizer) {
			t.Errorf("%v is reported", err)
		}
		w.didNothing(t, "without a finalizer")
	})
	t.Run("no status can be written", func(t *testing.T) {
		w, other := newActing(t, v1alpha1.UpdateModeInPlace), newActing(t, v1alpha1.UpdateModeInPlace)
		w.refuse("status ", errAway)
		if err := w.failing(30); err == nil || !strings.Contains(err.Error(), "writing the status") {
			t.Errorf("%v is reported", err)
		}
		other.pass(30)
		same(t, "done", other.did(), w.did())
	})
}

// While nobody says what Pods use, new ones get the last size, and nothing is written.
func TestMetricsAreAway(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	w.pass(20)
	w.did()
	entry := w.clusters["east"].entries["web"]
	w.uses = errors.New("away")
	w.use(9000, 9*gi)
	w.pass(30)
	w.didNothing(t, "the metrics are away")
	same(t, "what new Pods get", entry, w.clusters["east"].entries["web"])
	if got := words(w.object(), v1alpha1.MultidimRecommendationProvided); !strings.HasPrefix(got, "False RecommendationStale") {
		t.Error(got)
	}
}

// One cluster that refuses does not keep others from their sizes, and what it lacks is said.
func TestForbiddenInOneCluster(t *testing.T) {
	for what, right := range map[string]string{"give": "patch podsizes", "resize": "patch pods/resize", "evict": "create pods/eviction"} {
		t.Run(what, func(t *testing.T) {
			w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
			for _, c := range w.clusters {
				c.stubborn = what == "evict"
			}
			w.clusters["east"].refusals = map[string]error{what: &sizing.Refused{Why: sizing.RefusedRight, Right: right, Message: "no"}}
			done := map[string]int{}
			for range 40 {
				w.pass(1)
				for _, d := range w.did() {
					words := strings.Fields(d)
					done[words[0]+" "+words[1]]++
				}
			}
			want := map[string]string{"give": "resize", "resize": "resize", "evict": "evict"}[what]
			if done["west: give"] == 0 || done["west: "+want] == 0 {
				t.Errorf("%v was done, want all of it in west", done)
			}
			clusters := w.object().Status.Clusters
			same(t, "east", "Forbidden", clusters[0].Reason)
			if !strings.Contains(clusters[0].Message, "our identity lacks the right to "+right) {
				t.Errorf("east: %q", clusters[0].Message)
			}
			same(t, "west", "", clusters[1].Reason)
			same(t, "condition", "False Forbidden", w.actuationOf())
		})
	}
}

// After three Pods whose nodes could never give them their size, less is recommended there: what the nodes have given.
func TestInfeasibleThreeTimes(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace)
	east := w.clusters["east"]
	node := pods.Resources{MilliCPU: 8000, Memory: 64 * gi}
	east.nodes = capacity.LargestNodes{Known: true, Nodes: []pods.Resources{node}, Allocatable: func(string) pods.Resources { return node }}
	for i := range 4 {
		east.pods = append(east.pods, pod{fmt.Sprintf("more-%d", i), 2000, 3 * gi, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}, false})
	}
	w.limiters.Rates = Rates{Resizes: 3}
	had := pods.Resources{MilliCPU: 1000, Memory: 2 * gi}
	east.states = map[string]podState{}
	for n := 0; n < 3; {
		w.pass(1)
		for i := range east.pods {
			if p := &east.pods[i]; p.requests != had && n < 3 {
				east.states[p.name] = podState{resize: pods.Resize{State: pods.ResizeInfeasible}, actual: &had}
				n++
			}
		}
	}
	same(t, "before", "", recommendedFor(w.object().Status.Clusters[0].Recommendation))
	w.pass(2)
	got := recommendedFor(w.object().Status.Clusters[0].Recommendation)
	if !strings.Contains(got, "cpu:LargestNode") {
		t.Errorf("%q is recommended in east, want no more than its nodes have given", got)
	}
	same(t, "elsewhere", "", recommendedFor(w.object().Status.Clusters[1].Recommendation))
}

// What new Pods get follows tighter bounds in the next reconcile, also where it is but a little too much.
func TestTighterBounds(t *testing.T) {
	unbounded := pods.Resources{MilliCPU: pods.None, Memory: pods.None}
	free := capacity.LimitRange{Min: unbounded, Max: unbounded, MaxRatio: capacity.Ratios{CPU: pods.None, Memory: pods.None}}
	for name, tighten := range map[string]func(c *member, most int64){
		"a LimitRange": func(c *member, most int64) {
			c.limits = capacity.LimitRanges{Known: true, Container: free, Pod: free, DefaultRequests: unbounded, DefaultLimits: unbounded}
			c.limits.Container.Max.MilliCPU = most
		},
		"a quota": func(c *member, most int64) {
			c.quota = capacity.QuotaLeft{Known: true, Requests: pods.Resources{MilliCPU: most * 2, Memory: pods.None}, Limits: unbounded}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, v1alpha1.UpdateModeInitial)
			east := w.clusters["east"]
			w.pass(5)
			w.did()
			entry := east.entries["web"]
			most := containersIn(&entry)[0].Requests[sizes.CPU] - 1
			tighten(east, most)
			w.pass(1)
			entry = east.entries["web"]
			same(t, "what new Pods get", most, containersIn(&entry)[0].Requests[sizes.CPU])
			same(t, "done", 1, len(w.did()))
		})
	}
}

// Two that both think they lead do the same once: what is written is the same, a Pod that one has changed has its size for the other, and
// the status of the slower one is not written over that of the faster.
func TestTwoLeaders(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate)
	w.clusters["west"].stubborn = true // so that Pods are evicted there
	first := w.Reconciler
	w.restart()
	w.limiters.Rates, w.Sizing = first.limiters.Rates, first.Sizing
	second := w.Reconciler
	evicted := map[string]int{}
	for range 60 {
		for _, r := range []*Reconciler{first, second} {
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: web})
			if err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		for _, did := range w.did() {
			evicted[did]++
		}
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	for did, times := range evicted {
		if times > 1 && !strings.Contains(did, "give") {
			t.Errorf("%s: %d times", did, times)
		}
	}
	for name, c := range w.clusters {
		for _, p := range c.pods {
			if p.requests.MilliCPU <= 1000 || strings.HasSuffix(p.name, "''") {
				t.Errorf("cluster %s: %s requests %v", name, p.name, p.requests)
			}
		}
	}
	// What one has read before the other wrote is refused by the hub, and comes again at once.
	w.refuse("status ", apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("it was changed")))
	w.use(5000, 8*gi)
	again, err := second.Reconcile(t.Context(), reconcile.Request{NamespacedName: web})
	same(t, "again", reconcile.Result{RequeueAfter: soon}, again)
	same(t, "err", nil, err)
}

// A FederatedHPA that somebody deletes is made again in the next reconcile.
func TestChildIsDeleted(t *testing.T) {
	w := newWorld(t, object(withGoal))
	w.pass(2)
	want := w.child().Spec
	if err := w.hub.Delete(t.Context(), w.child()); err != nil {
		t.Fatal(err)
	}
	w.pass(1)
	if w.child() == nil {
		t.Fatal("it is not made again")
	}
	same(t, "spec", want, w.child().Spec)
}

// Numbers that are refused are given to nobody: running Pods stay, and new ones get what was last written.
func TestBadNumbersAreNotGiven(t *testing.T) {
	w := newActing(t, v1alpha1.UpdateModeInPlace, recommendedByModel)
	w.recommend(model, w.recommendation("1500m", "3Gi"))
	w.pass(2)
	entry := w.clusters["east"].entries["web"]
	same(t, "what new Pods get", int64(1500), containersIn(&entry)[0].Requests[sizes.CPU])
	w.did()
	w.recommend(model, w.recommendation("0", "3Gi"))
	w.pass(20)
	w.didNothing(t, "refused numbers")
	same(t, "what new Pods get then", entry, w.clusters["east"].entries["web"])
}

// When all Pods are killed at once, none waits for its history, but budgets and rates hold, and no more is recommended than is allowed.
func TestKillStorm(t *testing.T) {
	const many, each = 40, 5
	w := newActing(t, v1alpha1.UpdateModeInPlaceOrRecreate, func(m *v1alpha1.MultidimPodAutoscaler) {
		m.Spec.Policy.ActAfterSeconds = new(int32(86400))
		m.Spec.Constraints.Container[0].Requests.MaxAllowed = v1alpha1.Size{Memory: quantity("2560Mi")}
	})
	delete(w.clusters, "west")
	east := w.clusters["east"]
	east.pods, east.states, east.stubborn = nil, map[string]podState{}, true
	for i := range many {
		east.pods = append(east.pods, pod{fmt.Sprint("web-", i), 500, 19 * gi / 10, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}, false})
	}
	w.limiters.Rates = Rates{Resizes: 120, Evictions: each}
	w.pass(5)
	w.did()
	for _, p := range east.pods {
		east.states[p.name] = podState{killed: w.clock.Now()}
	}
	evicted := map[string]bool{}
	for minute := range 2 * many {
		w.pass(1)
		now := 0
		for _, did := range w.did() {
			if name, is := strings.CutPrefix(did, "east: evict "); is {
				now++
				if evicted[name] || strings.HasSuffix(name, "'") {
					t.Errorf("minute %d: %s, and it was evicted before", minute, did)
				}
				evicted[name] = true
			}
		}
		if now > 1 { // maxUnavailable
			t.Errorf("minute %d: %d are evicted at once", minute, now)
		}
	}
	if len(evicted) != many {
		t.Errorf("%d Pods were evicted, want all %d", len(evicted), many)
	}
	same(t, "recommended", int64(2560*mi), w.object().Status.Recommendation.Containers[0].Target.Memory.Value())
}

// A container that is killed for want of memory has more within 75 seconds, whenever in a period that happens, and though the hub takes
// its time to say what Pods use: a period, two such answers, and the time of a request.
func TestKillsAreAnsweredInTime(t *testing.T) {
	const bound, answer, request = 75 * time.Second, 5 * time.Second, 2 * time.Second
	trials := 500
	if testing.Short() {
		trials = 50
	}
	random := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for range trials {
		w := newActing(t, v1alpha1.UpdateModeInPlace, func(m *v1alpha1.MultidimPodAutoscaler) {
			m.Spec.Policy.ActAfterSeconds = new(int32(86400))
		})
		w.use(500, 19*gi/10)
		k := &killing{world: w, at: noon.Add(5*time.Minute + time.Duration(random.Int64N(int64(2*time.Minute))))}
		k.answer, w.Reconciler.Uses = answer, k
		for k.resized.IsZero() && w.clock.Now().Before(k.at.Add(10*time.Minute)) {
			again, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: web})
			if err != nil {
				t.Fatal(err)
			}
			k.pass(request)
			if done := w.did(); slices.Contains(done, "east: resize web-0") {
				k.resized = w.clock.Now()
			}
			k.pass(again.RequeueAfter)
		}
		if k.resized.IsZero() {
			t.Fatal("it is never resized")
		}
		took = append(took, k.resized.Sub(k.at))
	}
	slices.Sort(took)
	t.Logf("from a kill to the resize, %d times: at least %v, half within %v, at most %v", trials, took[0], took[trials/2], took[trials-1])
	if most := took[trials-1]; most > bound || took[0] < 0 {
		t.Errorf("it took %v, more than %v", most, bound)
	}
}

// killing is a world in which a container is killed at a time, and the hub's metrics API takes a while for each answer.
type killing struct {
	*world
	at, resized time.Time
	answer      time.Duration
}

// pass lets time pass, and the container be killed in it.
func (k *killing) pass(long time.Duration) {
	k.clock.SetTime(k.clock.Now().Add(long))
	if !k.clock.Now().Before(k.at) {
		k.clusters["east"].states = map[string]podState{"web-0": {killed: k.at}}
	}
}

// Uses implements [Uses].
func (k *killing) Uses(ctx context.Context, q hubmetrics.Question) ([]hubmetrics.ClusterUses, error) {
	k.pass(k.answer)
	return k.world.Uses(ctx, q)
}
