// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/speccopy"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

const period = 15 * time.Second

func objectKey(name string) client.ObjectKey { return client.ObjectKey{Namespace: "shop", Name: name} }

var web = federatedhpatest.Web

// world is a hub, its members, a load, and the controller that reconciles it all.
type world struct {
	*federatedhpatest.World
	hub     *hub
	members map[string]*fakeMember
	settled error
	held    error
	placed  placement.Source

	asked  []hubmetrics.Question
	use    func(cluster, pod string) int64 // in percent of what a Pod requests; negative: there is no sample
	values []int64                         // of External metrics, in milli
	fault  error                           // instead of an answer
	answer func(*replicas.Metric)          // changes an answer
	wrote  []string                        // what members were told, in order

	records  records
	other    otherMode
	registry *prometheus.Registry
	program  *Reconciler
}

// onHub has a Deployment of ten on the hub, whose Pods run in two members, at their target.
func onHub(t testing.TB) *world {
	w := newWorld(t)
	w.hub.workloads[web] = federatedhpatest.NewWorkload("web", 10)
	w.member("east").run("web", 5)
	w.member("west").run("web", 5)
	w.aged()
	w.hub.Put(federatedhpatest.NewObject("web"))
	return w
}

// inMembers has a Deployment in each of these members, at its target, and the hub tells each its part.
func inMembers(t testing.TB, n map[string]int32, change ...func(*v1alpha1.FederatedHPA)) *world {
	w := newWorld(t)
	for name, replicas := range n {
		w.member(name).deploy("web", replicas)
	}
	w.aged()
	object := federatedhpatest.NewObject("web")
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
	for _, f := range change {
		f(object)
	}
	w.hub.Put(object)
	return w
}

func newWorld(t testing.TB) *world {
	w := &world{World: federatedhpatest.NewWorld(t, start), members: map[string]*fakeMember{}}
	w.hub = newHub(w.World)
	w.use = func(string, string) int64 { return 50 }
	w.restart()
	return w
}

// restart is another leader, who remembers nothing.
func (w *world) restart() {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{appsv1.SchemeGroupVersion})
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		mapper.Add(appsv1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	w.registry = prometheus.NewRegistry()
	recorder := record.New(w.hub, w)
	w.program = New(Options{
		Hub: w.hub, Live: w.hub, Recorder: recorder, Distributed: &w.other, SyncPeriod: period, Clock: w.Clock,
		Losses: served.NewLosses(w.registry), Metrics: NewMetrics(w.registry), MostShown: 100,
		Hold: func() error { return cmp.Or(w.held, w.settled) },
		Central: central.New(central.Options{
			Hub: w.hub, Live: w.hub, Scales: scales{hub: w.hub}, Mapper: mapper, Recorder: recorder, Ask: w,
			PropagationGrace: 5 * time.Minute,
			Fleet:            &sight.Reader{Reader: selection.Reader{Fleet: w, Placements: w.placed, Timeout: 5 * time.Second}, Clock: w.Clock},
			Decision: replicas.Options{
				StabilizationWindow: 5 * time.Minute, Tolerance: 0.1, CPUInitializationPeriod: 5 * time.Minute, InitialReadinessDelay: 30 * time.Second,
			},
			Metrics: central.NewMetrics(w.registry),
			Records: &w.records,
		}),
	})
}

// member returns the member of that name, which it makes if there is none.
func (w *world) member(name string) *fakeMember {
	if w.members[name] == nil {
		w.members[name] = newMember(w, name)
	}
	return w.members[name]
}

// deploy makes a workload of so many replicas, all of which run.
func (m *fakeMember) deploy(app string, n int32) {
	m.Workloads[app] = federatedhpatest.NewWorkload(app, n)
	m.run(app, int(n))
}

func (w *world) aged() {
	for _, m := range w.members {
		m.aged()
	}
}

func (w *world) Settled() error { return w.settled }

func (w *world) Clusters() []workload.Cluster { return federatedhpatest.Clusters(w.members) }

// Ask answers for the members that are not silent.
func (w *world) Ask(_ context.Context, q hubmetrics.Question) replicas.Metric {
	w.Lock()
	defer w.Unlock()
	w.asked = append(w.asked, q)
	if w.fault != nil {
		return replicas.Metric{Err: w.fault}
	}
	m := replicas.Metric{Coverage: &fleet.Coverage{}, Pods: map[string]map[string]replicas.Sample{}}
	for _, name := range q.Clusters {
		one := w.members[name]
		if one == nil || one.Silent != nil {
			m.Coverage.Silent = append(m.Coverage.Silent, fleet.SilentMember{Cluster: name, Silence: fleet.Silence{Reason: fleet.ReasonTimeout}})
			continue
		}
		m.Coverage.Answered = append(m.Coverage.Answered, name)
		m.Pods[name] = w.samples(one, q.Selector)
	}
	if q.Metric.External != nil || q.Metric.Object != nil {
		m.Pods, m.Values = nil, w.values
	}
	if w.answer != nil {
		w.answer(&m)
	}
	return m
}

func (w *world) samples(m *fakeMember, selector labels.Selector) map[string]replicas.Sample {
	samples := map[string]replicas.Sample{}
	for _, p := range m.listing(selector).Pods {
		percent := w.use(m.About.Name, p.Name)
		if p.Phase == corev1.PodRunning && percent >= 0 {
			samples[p.Name] = replicas.Sample{Value: 10 * percent, At: w.Clock.Now().Add(m.Offset), Window: period}
		}
	}
	return samples
}

// usesPercent is the use of every Pod.
func (w *world) usesPercent(percent int64) { w.use = func(string, string) int64 { return percent } }

// reconcile is one reconcile at an object.
func (w *world) reconcile(key client.ObjectKey) (time.Duration, error) {
	result, err := w.program.Reconcile(w.Context(), reconcile.Request{NamespacedName: key})
	return result.RequeueAfter, err
}

// reconcileN lets so many periods pass, with a reconcile the end of each, and says the last one's error.
func (w *world) reconcileN(n int) (err error) {
	for range n {
		_, err = w.reconcile(web)
		w.Clock.SetTime(w.Clock.Now().Add(period))
	}
	return err
}

// object is as the hub has it.
func (w *world) object() *v1alpha1.FederatedHPA { return w.hub.Stored(web) }

// edit changes the spec as a person does, which the webhook admits.
func (w *world) edit(change func(*v1alpha1.FederatedHPASpec)) {
	w.T.Helper()
	before := w.object()
	object := before.DeepCopy()
	change(&object.Spec)
	object.Generation++
	speccopy.Admit(object, speccopy.Sent(object), before)
	w.hub.Put(object)
}

// runs returns what each member was told to run.
func (w *world) runs() map[string]int32 {
	n := map[string]int32{}
	for name, m := range w.members {
		if one := m.Workloads["web"]; one != nil {
			n[name] = one.Replicas
		}
	}
	return n
}

// say is a status in one line: the summary, the replicas, and each condition that says something else than usual.
func say(s *v1alpha1.FederatedHPAStatus) string {
	usual := []string{replicas.ReasonSucceededGetScale, replicas.ReasonReadyForNewScale, replicas.ReasonValidMetricFound,
		replicas.ReasonDesiredWithinRange, replicas.ReasonAllClustersVisible, replicas.ReasonNotScaledToZero, replicas.ReasonSucceededRescale}
	words := []string{}
	if s.Summary != nil {
		words = append(words, string(s.Summary.State), s.Summary.Clusters)
	}
	words = append(words, fmt.Sprintf("%d->%d", s.CurrentReplicas, s.DesiredReplicas))
	for _, c := range s.Conditions {
		if !slices.Contains(usual, c.Reason) {
			words = append(words, c.Reason)
		}
	}
	return strings.Join(words, " ")
}

// says is the status of one cluster in one line.
func says(c v1alpha1.ClusterStatus) string {
	number := federatedhpatest.Number
	return strings.TrimSpace(fmt.Sprintf("%s %s assigned %s current %s ready %s %s", c.Name, c.State,
		number(c.AssignedReplicas), number(c.CurrentReplicas), number(c.ReadyReplicas), c.Reason))
}

func (w *world) clusters() []string {
	var all []string
	for _, c := range w.object().Status.Clusters {
		all = append(all, says(c))
	}
	return all
}

// otherMode notes what it is asked to do.
type otherMode struct {
	did  []string
	left bool
	err  error
	// policy is that of the object that was last reconciled.
	policy v1alpha1.DeletionPolicy
}

func (o *otherMode) Reconcile(_ context.Context, object *v1alpha1.FederatedHPA, _ *distributed.Memory) error {
	o.did, o.policy = append(o.did, "reconcile "+object.Name), object.Spec.DeletionPolicy
	return o.err
}

func (o *otherMode) Leave(_ context.Context, object *v1alpha1.FederatedHPA, _ *distributed.Memory) (bool, error) {
	o.did = append(o.did, "leave "+object.Name)
	return o.left, o.err
}

func (o *otherMode) Forget(key client.ObjectKey, _ *distributed.Memory) {
	o.did = append(o.did, "forget "+key.Name)
}

var errHeld = errors.New("the hub serves another schema")

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	fleettest.Same(t, what, want, got, cmpopts.EquateComparable(replicas.Requests{}))
}

var _ workload.Fleet = (*world)(nil)
var _ central.Asker = (*world)(nil)
var _ workload.Cluster = (*fakeMember)(nil)
