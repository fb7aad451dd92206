// SPDX-License-Identifier: Apache-2.0

package past

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// period is the time between two decisions, and between two scrapes.
const period = 15 * time.Second

var web = client.ObjectKey{Namespace: "shop", Name: "web"}

// world is a hub with the FederatedHPA shop/web, and two clusters in which its Pods share a load.
type world struct {
	t       *testing.T
	hub     client.WithWatch
	members []*member
	// load is what all Pods use together, in millicores.
	load int64

	mu   sync.Mutex
	told []*recording.Record // what was truly decided
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := federatedhpa.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := appsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object := federatedhpatest.NewObject(web.Name)
	object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
	v1alpha1.DefaultFederatedHPA(object)
	w := &world{t: t, load: 5000}
	w.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).
		WithIndex(&v1alpha1.FederatedHPA{}, index.ByName, index.Names).
		WithIndex(&autoscalingv2.HorizontalPodAutoscaler{}, index.ByName, index.Names).Build()
	for _, name := range []string{"east", "west"} {
		m := &member{world: w, name: name}
		m.run(5, time.Now().Add(-time.Hour))
		w.members = append(w.members, m)
	}
	return w
}

// edit changes the spec, as a person does.
func (w *world) edit(change func(*v1alpha1.FederatedHPASpec)) {
	w.t.Helper()
	object := w.object()
	change(&object.Spec)
	object.Generation++
	if err := w.hub.Update(w.t.Context(), object); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) object() *v1alpha1.FederatedHPA {
	w.t.Helper()
	object := &v1alpha1.FederatedHPA{}
	if err := w.hub.Get(w.t.Context(), web, object); err != nil {
		w.t.Fatal(err)
	}
	return object
}

// Record implements [central.Records]. What is kept is what a stream makes of it, as the program's recorder does.
func (w *world) Record(r *recording.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, r)
}

// ServeHTTP is the hub's API, of which `kubectl fleetscale` asks for one object.
func (w *world) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	to.Header().Set("Content-Type", "application/json")
	if !strings.HasSuffix(r.URL.Path, "/federatedhpas/web") {
		http.Error(to, r.URL.Path, http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(to).Encode(w.object())
}

func (w *world) Settled() error { return nil }

func (w *world) Clusters() (all []workload.Cluster) {
	for _, m := range w.members {
		all = append(all, m)
	}
	return all
}

// Ask implements [central.Asker].
func (w *world) Ask(context.Context, hubmetrics.Question) replicas.Metric {
	m := replicas.Metric{Coverage: &fleet.Coverage{}, Pods: map[string]map[string]replicas.Sample{}}
	n := int64(0)
	for _, one := range w.members {
		n += int64(len(one.created))
	}
	for _, one := range w.members {
		if one.silence != nil {
			m.Coverage.Silent = append(m.Coverage.Silent, fleet.SilentMember{Cluster: one.name, Silence: *one.silence})
			continue
		}
		m.Coverage.Answered = append(m.Coverage.Answered, one.name)
		samples := map[string]replicas.Sample{}
		for i := range one.created {
			samples[podName(i)] = replicas.Sample{Value: min(w.load/n, 1000), At: time.Now(), Window: period}
		}
		m.Pods[one.name] = samples
	}
	return m
}

// leader is a controller-manager that is at work.
type leader struct {
	*world
	program  *federatedhpa.Reconciler
	registry *prometheus.Registry
}

// lead has a controller-manager begin, which remembers nothing.
func (w *world) lead() *leader {
	l := &leader{world: w, registry: prometheus.NewRegistry()}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{appsv1.SchemeGroupVersion})
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	recorder := record.New(w.hub, silent{})
	l.program = federatedhpa.New(federatedhpa.Options{
		Hub: w.hub, Live: w.hub, Recorder: recorder, Distributed: none{}, SyncPeriod: period, Clock: clock.RealClock{},
		Losses: served.NewLosses(l.registry), Metrics: federatedhpa.NewMetrics(l.registry), MostShown: 100,
		Hold: func() error { return nil },
		Central: central.New(central.Options{
			Hub: w.hub, Live: w.hub, Scales: none{}, Mapper: mapper, Recorder: recorder, Ask: w, PropagationGrace: 5 * time.Minute,
			Fleet: &sight.Reader{Reader: selection.Reader{Fleet: w, Timeout: 5 * time.Second}, Clock: clock.RealClock{}},
			Decision: replicas.Options{
				StabilizationWindow: 5 * time.Minute, Tolerance: 0.1, CPUInitializationPeriod: 5 * time.Minute, InitialReadinessDelay: 30 * time.Second,
			},
			Metrics: central.NewMetrics(l.registry),
			Records: w,
		}),
	})
	return l
}

// standby is a controller-manager that is not at work.
func standby() http.Handler {
	registry := prometheus.NewRegistry()
	federatedhpa.NewMetrics(registry)
	central.NewMetrics(registry)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// ServeHTTP is /metrics.
func (l *leader) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(l.registry, promhttp.HandlerOpts{}).ServeHTTP(to, r)
}

// member is a cluster that runs what it is told.
type member struct {
	workload.Cluster // what central mode does not ask for
	*world
	name    string
	silence *fleet.Silence
	version int
	created []time.Time // of its Pods
}

func podName(i int) string { return fmt.Sprintf("web-%05d", i) }

// run makes it so many Pods.
func (m *member) run(n int, now time.Time) {
	m.created = m.created[:min(n, len(m.created))]
	for len(m.created) < n {
		m.created = append(m.created, now)
	}
}

func (m *member) Facts() assignment.ClusterFacts { return assignment.ClusterFacts{Name: m.name} }
func (m *member) Headroom() int32                { return 0 }
func (m *member) Joining() bool                  { return false }
func (m *member) ClockOffset() time.Duration     { return 0 }
func (m *member) Silence() *fleet.Silence        { return m.silence }

func (m *member) Autoscalers(context.Context, string) workload.Autoscalers {
	return workload.Autoscalers{Known: true}
}

func (m *member) Additional(context.Context, string, autoscalingv2.CrossVersionObjectReference, *unstructured.Unstructured) (int32, bool) {
	return 0, false
}

func (m *member) Get(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}, nil
}

func (m *member) Pods(context.Context, string, labels.Selector) pods.Listing {
	l := pods.Listing{Known: true, Silent: m.silence, AsOf: time.Now()}
	for i, created := range m.created {
		l.Pods = append(l.Pods, replicas.Pod{Name: podName(i), Phase: corev1.PodRunning, Started: created, Requests: federatedhpatest.Full,
			Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: created}})
	}
	return l
}

func (m *member) Scale(_ context.Context, namespace string, of autoscalingv2.CrossVersionObjectReference) (*autoscalingv1.Scale, error) {
	n := int32(len(m.created))
	return &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: of.Name, ResourceVersion: strconv.Itoa(m.version)},
		Spec: autoscalingv1.ScaleSpec{Replicas: n}, Status: autoscalingv1.ScaleStatus{Replicas: n, Selector: "app=web"}}, nil
}

func (m *member) SetScale(_ context.Context, _ autoscalingv2.CrossVersionObjectReference, to *autoscalingv1.Scale) error {
	m.version++
	m.run(int(to.Spec.Replicas), time.Now())
	return nil
}

// none is a hub without workloads, and what nobody asks of the other mode.
type none struct{ scale.ScaleInterface }

func (none) Scales(string) scale.ScaleInterface { return none{} }

func (none) Get(_ context.Context, resource schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return nil, apierrors.NewNotFound(resource, name)
}

func (none) Reconcile(context.Context, *v1alpha1.FederatedHPA, *distributed.Memory) error { return nil }
func (none) Forget(client.ObjectKey, *distributed.Memory)                                 {}
func (none) Leave(context.Context, *v1alpha1.FederatedHPA, *distributed.Memory) (bool, error) {
	return true, nil
}

// silent tells nobody of Events.
type silent struct{}

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// truth is what was decided last at a time; nil: nothing was yet.
func (w *world) truth(at time.Time) *recording.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, exact := slices.BinarySearchFunc(w.told, at, func(r *recording.Record, at time.Time) int { return r.Question.Now.Compare(at) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	return w.told[i]
}
