// SPDX-License-Identifier: Apache-2.0

package distributed

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

	"k8s.io/utils/dump"
	"k8s.io/utils/ptr"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/controllers/perobject"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// The API stores whole seconds; clocks have more.
var start = time.Date(2027, 3, 1, 9, 30, 0, 123456789, time.UTC)

const (
	period = 15 * time.Second
	grace  = 5 * time.Minute
	// deletionGrace is so long that most deletions wait.
	deletionGrace = time.Hour
)

var web = federatedhpatest.Web

// world is a hub, its members, and the controller that reconciles it all. Whatever is written to a member is judged at once.
type world struct {
	*federatedhpatest.World
	hub      *hub
	members  map[string]*member
	placed   placement.Source
	registry *prometheus.Registry
	program  *Mode
	recorder *record.Recorder
	memories *perobject.Store[Memory]
	records  records

	checked int // reconciles of mustReconcile
	// shown is what the cache shows instead of the object; nil: it shows what there is.
	shown *v1alpha1.FederatedHPA

	// The lock is that of all that follows.
	calls int
	// dies: the program is cut off from everything at that call; 0: never. unanswered: that call is carried out all the same.
	// once: only that one call fails.
	dies             int
	unanswered, once bool
	sumBefore        int32 // the maxima before the reconcile
	log              []entry
	asked            []hubmetrics.Question
	answer           replicas.Metric
	// createsNothing: the program does not create workloads.
	createsNothing bool
	// uses is what the Pods of a member use, in percent of their requests.
	uses func(*member) int32
}

// entry is a write, or several side by side.
type entry struct{ kind, what string }

func newWorld(t testing.TB, policy v1alpha1.FederatedHPAAssignmentType, change ...func(*v1alpha1.FederatedHPA)) *world {
	w := &world{World: federatedhpatest.NewWorld(t, start), members: map[string]*member{}}
	w.uses = func(*member) int32 { return 50 }
	w.hub, w.records.t = newHub(w), t
	w.restart()
	object := newObject(policy)
	for _, f := range change {
		f(object)
	}
	w.hub.Put(object)
	return w
}

// fleetOf has these members, each with so many replicas, all of which run.
func fleetOf(t testing.TB, policy v1alpha1.FederatedHPAAssignmentType, runs map[string]int32,
	change ...func(*v1alpha1.FederatedHPA)) *world {
	w := newWorld(t, policy, change...)
	for name, n := range runs {
		w.member(name).deploy(n)
	}
	return w
}

func newObject(policy v1alpha1.FederatedHPAAssignmentType) *v1alpha1.FederatedHPA {
	f := federatedhpatest.NewObject(web.Name)
	f.Spec.MaxReplicas = 10
	f.Spec.FederatedHPAAssignment = &v1alpha1.FederatedHPAAssignment{FederatedHPAAssignmentType: policy}
	return f
}

func bounds(lower, upper int32) func(*v1alpha1.FederatedHPA) {
	return func(f *v1alpha1.FederatedHPA) { f.Spec.MinReplicas, f.Spec.MaxReplicas = &lower, upper }
}

func toZero(f *v1alpha1.FederatedHPA) { f.Spec.ScalingToZero = new(true) }

// weighs gives clusters weights.
func weighs(weights map[string]int32) func(*v1alpha1.FederatedHPA) {
	return prefers(weights, func(p *v1alpha1.TargetClusterAutoscalingPreference, n int32) { p.StaticWeight = &n })
}

// ranks gives clusters priorities.
func ranks(priorities map[string]int32) func(*v1alpha1.FederatedHPA) {
	return prefers(priorities, func(p *v1alpha1.TargetClusterAutoscalingPreference, n int32) { p.Priority = &n })
}

// caps gives clusters maxima of their own.
func caps(most map[string]int32) func(*v1alpha1.FederatedHPA) {
	return prefers(most, func(p *v1alpha1.TargetClusterAutoscalingPreference, n int32) { p.AutoscalingMaxThreshold = &n })
}

func prefers(numbers map[string]int32, set func(*v1alpha1.TargetClusterAutoscalingPreference, int32)) func(*v1alpha1.FederatedHPA) {
	return func(f *v1alpha1.FederatedHPA) {
		a := f.Spec.FederatedHPAAssignment
		a.ClusterAutoscalingPreference = nil
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			p := v1alpha1.TargetClusterAutoscalingPreference{TargetCluster: &v1alpha1.ClusterAffinity{ClusterNames: []string{name}}}
			set(&p, numbers[name])
			a.ClusterAutoscalingPreference = append(a.ClusterAutoscalingPreference, p)
		}
	}
}

// only selects these clusters.
func only(names ...string) func(*v1alpha1.FederatedHPA) {
	return func(f *v1alpha1.FederatedHPA) {
		f.Spec.ClusterAffinity = &v1alpha1.ClusterAffinity{ClusterNames: names}
	}
}

// restart is another leader, who remembers nothing.
func (w *world) restart() {
	w.registry = prometheus.NewRegistry()
	w.memories, w.recorder = &perobject.Store[Memory]{}, record.New(w.hub, w)
	w.program = New(Options{
		Live: w.hub, Fleet: &sight.Reader{Reader: selection.Reader{Fleet: w, Placements: w.placed, Timeout: 5 * time.Second}, Clock: w.Clock},
		Recorder: w.recorder,
		Ask:      w, Grace: grace, CreateWorkloads: !w.createsNothing, DeletionGrace: deletionGrace, Window: 5 * time.Minute, Tolerance: 0.1,
		Rest: 2 * time.Minute, WindowStep: 2 * time.Minute,
		Metrics: NewMetrics(w.registry),
		Records: &w.records,
	})
}

func (w *world) Settled() error { return nil }

func (w *world) Clusters() []workload.Cluster {
	w.Lock()
	defer w.Unlock()
	return federatedhpatest.Clusters(w.members)
}

func (w *world) Ask(_ context.Context, q hubmetrics.Question) replicas.Metric {
	w.Lock()
	defer w.Unlock()
	w.asked = append(w.asked, q)
	return w.answer
}

// member returns the member of that name, which it makes if there is none.
func (w *world) member(name string) *member {
	if w.members[name] == nil {
		w.members[name] = newMember(w, name)
	}
	return w.members[name]
}

var errCutOff = errors.New("the program is cut off")

// reach reports whether a call gets through, and whether its answer gets back. The lock is held.
func (w *world) reach() (through bool, err error) {
	w.calls++
	switch {
	case w.dies == 0 || w.calls < w.dies || w.once && w.calls > w.dies:
		return true, nil
	case w.calls == w.dies && w.unanswered:
		return true, errCutOff
	default:
		return false, errCutOff
	}
}

func (w *world) wrote(kind, what string, args ...any) {
	w.log = append(w.log, entry{kind, fmt.Sprintf(what, args...)})
}

// writes returns those since the last time. What is written side by side is in order of the clusters.
func (w *world) writes() []string {
	w.Lock()
	defer w.Unlock()
	var all []string
	for from := 0; from < len(w.log); {
		to := from
		var side []string
		for ; to < len(w.log) && w.log[to].kind == w.log[from].kind; to++ {
			side = append(side, w.log[to].what)
		}
		slices.SortStableFunc(side, func(a, b string) int { return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0]) })
		all = append(all, side...)
		from = to
	}
	w.log = nil
	return all
}

// reconcile is one reconcile of the object, as the cache shows it.
func (w *world) reconcile() error {
	object, err := w.read()
	if object == nil || err != nil {
		return err
	}
	w.Lock()
	w.sumBefore = w.sum()
	w.Unlock()
	return w.program.Reconcile(w.Context(), object, w.memories.Of(object))
}

// cached is the object as the cache shows it; nil: it shows none.
func (w *world) cached() *v1alpha1.FederatedHPA {
	w.Lock()
	defer w.Unlock()
	return cmp.Or(w.shown, w.hub.Objects[web]).DeepCopy()
}

// read is the object as the program gets it; nil: there is none.
func (w *world) read() (*v1alpha1.FederatedHPA, error) {
	object := w.cached()
	if object == nil {
		return nil, nil
	}
	if w.recorder.Stale(object) {
		return nil, record.Conflict(object, "it is known only as before our own last write")
	}
	if object.DeletionTimestamp != nil {
		served.Restore(object)
	}
	v1alpha1.DefaultFederatedHPA(object)
	return object, nil
}

func (w *world) leave() (bool, error) {
	object, err := w.read()
	if err != nil {
		return false, err
	}
	return w.program.Leave(w.Context(), object, w.memories.Of(object))
}

// reconcileN is so many reconciles, with a period after each in which the members' own autoscalers work. It says the last one's
// error.
func (w *world) reconcileN(n int) (err error) {
	for range n {
		err = w.reconcile()
		w.passes(period)
	}
	return err
}

// passes lets time pass.
func (w *world) passes(d time.Duration) {
	w.Clock.SetTime(w.Clock.Now().Add(d))
	w.Lock()
	defer w.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		w.members[name].autoscale()
	}
}

// settle has no member scale by itself, and reconciles so often.
func (w *world) settle(n int) {
	w.T.Helper()
	for _, m := range w.members {
		m.scales = false
	}
	w.mustReconcile(n)
}

// mustReconcile reconciles so many times, and none may fail.
func (w *world) mustReconcile(n int) {
	w.T.Helper()
	for range n {
		// To write down twice what was gathered takes ten times as long as a reconcile. In the short form one in ten is judged: in each test
		// others, as most make a few only, and some make hundreds of worlds that begin alike.
		if w.checked++; !testing.Short() || (w.checked+len(w.T.Name()))%10 == 0 {
			w.decidesPurely()
		}
		if err := w.reconcileN(1); err != nil {
			w.T.Fatalf("reconciling: %v", err)
		}
	}
}

// decidesPurely: a decision reads what was gathered, and changes nothing of it.
func (w *world) decidesPurely() {
	object, err := w.read()
	if object == nil || err != nil || object.DeletionTimestamp != nil {
		return
	}
	calls, asked := w.calls, len(w.asked)
	in := w.program.gather(w.Context(), object, w.memories.Of(object))
	w.calls, w.asked = calls, w.asked[:asked]
	for i := range in.Clusters {
		in.Clusters[i].Member = nil // a decision asks nobody
	}
	before := dump.ForHash(in.sites)
	decide(in)
	same(w.T, "what was gathered, before and after the decision", before, dump.ForHash(in.sites))
}

// object is as the hub has it.
func (w *world) object() *v1alpha1.FederatedHPA { return w.hub.Stored(web) }

// edit changes the spec as a person does.
func (w *world) edit(changes ...func(*v1alpha1.FederatedHPA)) {
	w.T.Helper()
	object := w.object()
	for _, change := range changes {
		change(object)
	}
	object.Generation++
	w.hub.Put(object)
}

// has returns what each member has: "1-4 runs 3".
func (w *world) has() map[string]string {
	w.Lock()
	defer w.Unlock()
	all := map[string]string{}
	for name, m := range w.members {
		all[name] = m.String()
	}
	return all
}

// intends returns what the status assigns to each cluster: "1-4", and "to 3" replicas where that is an order.
func (w *world) intends() map[string]string {
	all := map[string]string{}
	for _, c := range w.object().Status.Clusters {
		all[c.Name] = fmt.Sprintf("%d-%d", ptr.Deref(c.AssignedMin, 0), ptr.Deref(c.AssignedMax, 0))
		if c.AssignedReplicas != nil {
			all[c.Name] += fmt.Sprintf(" to %d", *c.AssignedReplicas)
		}
	}
	return all
}

// clusters is each cluster of the status in one line.
func (w *world) clusters() []string {
	number := federatedhpatest.Number
	var all []string
	for _, c := range w.object().Status.Clusters {
		line := fmt.Sprintf("%s %s %s-%s current %s ready %s", c.Name, c.State, number(c.AssignedMin), number(c.AssignedMax),
			number(c.CurrentReplicas), number(c.ReadyReplicas))
		if c.AssignedReplicas != nil {
			line += " to " + number(c.AssignedReplicas)
		}
		all = append(all, strings.TrimSpace(line+" "+c.Reason))
	}
	return all
}

// message is that of a condition; empty: there is none.
func (w *world) message(kind autoscalingv2.HorizontalPodAutoscalerConditionType) string {
	_, message, _ := strings.Cut(w.condition(kind), ": ")
	return message
}

// condition is one of the status: "True Reason: message"; empty: there is none.
func (w *world) condition(kind autoscalingv2.HorizontalPodAutoscalerConditionType) string {
	c := summary.Condition(&w.object().Status, kind)
	if c.Type == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	fleettest.Same(t, what, want, got)
}

// placedIn is somebody who places the workload in these clusters; nil: nowhere.
type placedIn struct {
	names []string
	rule  placement.Rule
	err   error
}

func (p placedIn) Of(context.Context, string, autoscalingv2.CrossVersionObjectReference) (map[string]*int32, placement.Rule, error) {
	placed := map[string]*int32{}
	for _, name := range p.names {
		placed[name] = nil
	}
	return placed, p.rule, p.err
}

var (
	_ workload.Fleet   = (*world)(nil)
	_ Asker            = (*world)(nil)
	_ workload.Cluster = (*member)(nil)
)
