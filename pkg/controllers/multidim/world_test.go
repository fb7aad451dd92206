// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/hubtest"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const (
	mi = 1 << 20
	gi = 1 << 30
)

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	web  = client.ObjectKey{Namespace: "shop", Name: "web"}
)

// world is a hub with clusters, and the controller.
type world struct {
	t        testing.TB
	clock    *clocktesting.FakePassiveClock
	hub      client.WithWatch
	requests []string // to the hub, but for reads from the cache
	clusters map[string]*member
	vpas     []*vpa.VerticalPodAutoscaler // of the hub
	uses     error                        // why the hub's metrics API says nothing
	asked    int                          // of it
	events   *events.FakeRecorder
	store    *history.Store
	owners   owners
	records  *records
	*Reconciler
}

// member is a cluster.
type member struct {
	taints []corev1.Taint
	workload.Cluster
	w       *world
	name    string
	silence *fleet.Silence
	joining bool
	pods    []pod
	web     *unstructured.Unstructured // nil: it has none
	limits  capacity.LimitRanges
	nodes   capacity.LargestNodes
	quota   capacity.QuotaLeft
	prices  registration.Prices
	hpas    []*autoscalingv2.HorizontalPodAutoscaler
	vpas    []*vpa.VerticalPodAutoscaler
	learned []unstructured.Unstructured // of the vpas
	asked   int                         // for the workload

	can      sizing.Support
	entries  map[string]fleetscalev1alpha1.SizedWorkload // what new Pods are created with
	version  int64                                       // of these
	changes  []string                                    // what was written there, and done to Pods
	refusals map[string]error                            // by what is refused: give, resize or evict
	stubborn bool                                        // its nodes resize nothing
	bare     bool                                        // new Pods do not get their size
	states   map[string]podState                         // of its Pods, by name
	lags     bool                                        // what was written there is not seen
	hidden   *fleet.Silence                              // why its autoscalers cannot be seen
	unread   *fleet.Silence                              // why it is not seen now
	ahead    time.Duration                               // its clock is
	unmet    bool                                        // its Pods were never seen
}

// podState is what else is known of a Pod.
type podState struct {
	created  time.Time
	revision string
	sizedBy  string
	resize   pods.Resize
	pending  bool
	killed   time.Time       // zero: it was not
	unseen   bool            // its node has not seen its spec
	actual   *pods.Resources // nil: what it requests
}

// pod has one container, app.
type pod struct {
	name        string
	cpu, memory int64 // what it uses
	requests    pods.Resources
	killed      bool
}

// object recommends only.
func object(change ...func(*v1alpha1.MultidimPodAutoscaler)) *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name, UID: "uid-of-mpa",
		Generation: 1}}
	m.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for _, c := range change {
		c(m)
	}
	return m
}

// withGoal follows the cpu of its Pods, which should be half of what the template requests, and sizes cpu and memory.
func withGoal(m *v1alpha1.MultidimPodAutoscaler) {
	m.Spec.Goals = &v1alpha1.Goals{Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(50))}}}}}
	m.Spec.Constraints.Global = &v1alpha1.GlobalConstraints{MinReplicas: new(int32(2)), MaxReplicas: 10}
	m.Spec.Constraints.ContainerControlledResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// deployment is the workload, of one container that requests so much.
func deployment(cpu, memory string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": web.Namespace, "name": web.Name},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "app", "resources": map[string]any{"requests": map[string]any{"cpu": cpu, "memory": memory}},
			}}}},
		},
	}}
}

// newWorld has the clusters east and west, and two Pods in each that request a core and 2 GiB, and use a tenth of that.
func newWorld(t testing.TB, m *v1alpha1.MultidimPodAutoscaler, others ...client.Object) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(noon), clusters: map[string]*member{}, events: events.NewFakeRecorder(100),
		records: &records{t: t}}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, autoscalingv2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	build := hubtest.NewBuilder(scheme).WithObjects(append(others, m, deployment("1", "2Gi"))...).
		WithStatusSubresource(&v1alpha1.MultidimPodAutoscaler{}, &v1alpha1.FederatedHPA{})
	for _, kind := range index.Kinds() {
		build = build.WithIndex(kind, index.ByName, index.Names)
	}
	w.hub = build.Build()
	for n, name := range []string{"east", "west"} {
		c := &member{w: w, name: name}
		for i := range 2 {
			c.pods = append(c.pods, pod{fmt.Sprintf("web-%d", 2*n+i), 100, 200 * mi, pods.Resources{MilliCPU: 1000, Memory: 2 * gi}, false})
		}
		w.clusters[name] = c
	}
	w.restart()
	return w
}

// restart is another process.
func (w *world) restart() {
	live := interceptor.NewClient(w.hub, interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
			w.requests = append(w.requests, "get "+kindOf(into))
			return hub.Get(ctx, key, into, o...)
		},
	})
	writes := interceptor.NewClient(w.hub, interceptor.Funcs{
		Create: func(ctx context.Context, hub client.WithWatch, object client.Object, o ...client.CreateOption) error {
			w.requests = append(w.requests, "create "+kindOf(object))
			return hub.Create(ctx, object, o...)
		},
		Delete: func(ctx context.Context, hub client.WithWatch, object client.Object, o ...client.DeleteOption) error {
			w.requests = append(w.requests, "delete "+kindOf(object))
			return hub.Delete(ctx, object, o...)
		},
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, p client.Patch, o ...client.PatchOption) error {
			w.requests = append(w.requests, "patch "+kindOf(object))
			return hub.Patch(ctx, object, p, o...)
		},
		SubResourceUpdate: func(ctx context.Context, hub client.Client, _ string, object client.Object,
			o ...client.SubResourceUpdateOption) error {
			w.requests = append(w.requests, "status "+kindOf(object))
			if m, is := object.(*v1alpha1.MultidimPodAutoscaler); is {
				w.owners = w.owners.update(FieldManager, m.Status.Recommendation)
			}
			return hub.Status().Update(ctx, object, o...)
		},
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
			err := hub.Get(ctx, key, into, o...)
			if m, is := into.(*v1alpha1.MultidimPodAutoscaler); is && err == nil {
				m.ManagedFields = w.owners.entries()
			}
			return err
		},
	})
	w.store = history.New(w.hub, 10*time.Minute)
	w.Reconciler = New(Options{
		Hub: writes, Live: live, Fleet: &selection.Reader{Fleet: w, Timeout: time.Second}, VPAs: w, Uses: w, History: w.store,
		Hold: func() error { return nil }, Period: time.Minute, Grace: time.Hour,
		Sizing: Sizing{PodMinimum: sizes.Amounts{25, 250 * mi}, Headroom: 10}, Clock: w.clock, Events: w.events,
		Metrics: NewMetrics(prometheus.NewRegistry()), MostShown: 100, Records: w.records,
	})
}

func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	_, name, _ := strings.Cut(fmt.Sprintf("%T", object), ".")
	return name
}

// Uses implements [Uses].
func (w *world) Uses(_ context.Context, q hubmetrics.Question) ([]hubmetrics.ClusterUses, error) {
	w.asked++
	var all []hubmetrics.ClusterUses
	for _, name := range q.Clusters {
		c := w.clusters[name]
		u := hubmetrics.ClusterUses{Cluster: name, Outcome: hubmetrics.Answered}
		switch {
		case w.uses != nil:
			u.Outcome, u.Silence = hubmetrics.Silent, &fleet.Silence{Reason: fleet.ReasonTimeout, Detail: w.uses.Error()}
		case c.silence != nil:
			u.Outcome, u.Silence = hubmetrics.Silent, c.silence
		default:
			for _, p := range c.pods {
				u.Pods = append(u.Pods, hubmetrics.PodUses{Name: p.name, Measured: w.clock.Now(),
					Containers: []hubmetrics.ContainerUse{{Name: "app", MilliCPU: p.cpu, Memory: p.memory}}})
			}
		}
		all = append(all, u)
	}
	return all, w.uses
}

// VPAs implements [VPAs].
func (w *world) VPAs(context.Context, string) sizing.VPAs {
	return sizing.VPAs{Known: true, Objects: w.vpas}
}

// Settled implements [workload.Fleet].
func (w *world) Settled() error { return nil }

// Clusters implements [workload.Fleet].
func (w *world) Clusters() []workload.Cluster { return federatedhpatest.Clusters(w.clusters) }

func (c *member) Facts() assignment.ClusterFacts {
	return assignment.ClusterFacts{Name: c.name, Taints: c.taints}
}
func (c *member) Silence() *fleet.Silence     { return c.silence }
func (c *member) Prices() registration.Prices { return c.prices }
func (c *member) ClockOffset() time.Duration  { return c.ahead }
func (c *member) Joining() bool               { return c.joining }
func (c *member) Sizer() sizing.Sizer         { return c }
func (c *member) LimitRanges(context.Context, string) capacity.LimitRanges {
	return c.limits
}
func (c *member) LargestNodes(context.Context, *corev1.PodTemplateSpec) capacity.LargestNodes {
	return c.nodes
}
func (c *member) QuotaLeft(context.Context, string, *corev1.PodTemplateSpec, []pods.SizedPod) capacity.QuotaLeft {
	return c.quota
}
func (c *member) Autoscalers(context.Context, string) workload.Autoscalers {
	if c.hidden != nil {
		return workload.Autoscalers{Silence: c.hidden}
	}
	return workload.Autoscalers{Known: true, Objects: c.hpas}
}
func (c *member) VPAs(context.Context, string) sizing.VPAs {
	if c.hidden != nil {
		return sizing.VPAs{Silence: c.hidden}
	}
	return sizing.VPAs{Known: true, Objects: c.vpas}
}

func (c *member) VPACheckpoints(context.Context, string) ([]unstructured.Unstructured, error) {
	c.asked++
	return c.learned, nil
}

func (c *member) SizedPods(_ context.Context, _ string, selector labels.Selector) pods.SizedListing {
	if !selector.Matches(labels.Set{"app": "web"}) {
		return pods.SizedListing{Known: true}
	}
	if c.unmet {
		return pods.SizedListing{Silent: c.silence}
	}
	l := pods.SizedListing{Known: true, Silent: c.silence, AsOf: c.w.clock.Now()}
	for _, p := range c.pods {
		one := pods.SizedPod{Pod: replicas.Pod{Name: p.name, Phase: corev1.PodRunning}, Containers: []pods.Container{{
			Name: "app", Requests: p.requests, Limits: pods.Resources{MilliCPU: pods.None, Memory: pods.None}}}}
		c.complete(&one)
		if p.killed {
			one.OOMKills = []pods.OOMKill{{Container: "app", Restarts: 1, FinishedAt: noon}}
		}
		if killed := c.states[p.name].killed; !killed.IsZero() {
			one.OOMKills = []pods.OOMKill{{Container: "app", Restarts: 1, FinishedAt: killed}}
		}
		l.Pods = append(l.Pods, one)
	}
	return l
}

func (c *member) Get(_ context.Context, _ string, of autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	c.asked++
	switch {
	case c.silence != nil:
		return nil, errors.New(c.silence.Detail)
	case c.web == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: of.Kind}, of.Name)
	}
	return c.web, nil
}

// pass reconciles once a minute, so many times, and returns the requests of the last time.
func (w *world) pass(minutes int) []string {
	w.t.Helper()
	for range minutes {
		w.requests = nil
		if _, err := w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: web}); err != nil {
			w.t.Fatal(err)
		}
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	return w.requests
}

func (w *world) object() *v1alpha1.MultidimPodAutoscaler {
	w.t.Helper()
	m := &v1alpha1.MultidimPodAutoscaler{}
	if err := w.hub.Get(w.t.Context(), web, m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// child is the FederatedHPA, or nil.
func (w *world) child() *v1alpha1.FederatedHPA {
	f := &v1alpha1.FederatedHPA{}
	if w.hub.Get(w.t.Context(), web, f) != nil {
		return nil
	}
	return f
}

// edit changes the spec.
func (w *world) edit(change func(*v1alpha1.MultidimPodAutoscaler)) {
	w.t.Helper()
	m := w.object()
	change(m)
	m.Generation++
	if err := w.hub.Update(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
}

// told are the Events since it was last called.
func (w *world) told() (all []string) {
	for len(w.events.Events) > 0 {
		all = append(all, <-w.events.Events)
	}
	return all
}

// use sets what each Pod uses.
func (w *world) use(cpu, memory int64) {
	for _, c := range w.clusters {
		for i := range c.pods {
			c.pods[i].cpu, c.pods[i].memory = cpu, memory
		}
	}
}

// words is a condition in one line; empty if there is none.
func words(m *v1alpha1.MultidimPodAutoscaler, kind string) string {
	for _, c := range m.Status.Conditions {
		if c.Type == kind {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	fleettest.Same(t, what, want, got)
}

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

func uid(text string) types.UID { return types.UID(text) }

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func toText(v any) string { return fmt.Sprint(v) }

// defaulted is the object as it is reconciled.
func (w *world) defaulted() *v1alpha1.MultidimPodAutoscaler {
	m := w.object()
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	return m
}
