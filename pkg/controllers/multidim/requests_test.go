// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// ledger is a hub of many objects, that counts requests.
type ledger struct {
	mu       sync.Mutex // histories are saved beside reconciles
	objects  map[client.ObjectKey]*v1alpha1.MultidimPodAutoscaler
	children map[client.ObjectKey]*v1alpha1.FederatedHPA
	random   *rand.Rand
	requests map[string]int
	version  int
}

// count returns the requests since it was last asked.
func (l *ledger) count() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted := l.requests
	l.requests = map[string]int{}
	return counted
}

// statusWriter writes the status.
type statusWriter struct {
	client.SubResourceWriter
	*ledger
}

func (s statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests["status"]++
	s.objects[client.ObjectKeyFromObject(o)].Status = *o.(*v1alpha1.MultidimPodAutoscaler).Status.DeepCopy()
	return nil
}

// hubClient reads from a cache, or live.
type hubClient struct {
	client.Client
	*ledger
	live bool
}

func (h hubClient) Status() client.SubResourceWriter { return statusWriter{ledger: h.ledger} }

func (h hubClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live {
		h.requests["get "+kindOf(into)]++
	}
	switch into := into.(type) {
	case *v1alpha1.MultidimPodAutoscaler:
		h.objects[key].DeepCopyInto(into)
	case *unstructured.Unstructured:
		into.Object = deployment("1", "2Gi").Object
	case *v1alpha1.FederatedHPA:
		child := h.children[key]
		if child == nil {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		child.DeepCopyInto(into)
		into.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU,
				Current: autoscalingv2.MetricValueStatus{AverageValue: resource.NewMilliQuantity(98+h.random.Int64N(5), resource.DecimalSI)}}}}
	}
	return nil
}

func (h hubClient) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live {
		h.requests[fmt.Sprintf("list %T", list)]++
	}
	return nil
}

func (h hubClient) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests["create "+kindOf(o)]++
	if f, is := o.(*v1alpha1.FederatedHPA); is {
		h.children[client.ObjectKeyFromObject(o)] = f.DeepCopy()
	}
	return h.written(o)
}

func (h hubClient) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests["update "+kindOf(o)]++
	return h.written(o)
}

func (h hubClient) written(o client.Object) error {
	h.version++
	o.SetResourceVersion(strconv.Itoa(h.version))
	return nil
}

// What many objects cost the hub in an hour in which nothing happens: each reconcile asks what is used, and in an hour each object
// is written once, its history is, and its workload is read.
func TestRequestsOfAnHour(t *testing.T) {
	objects, minutes := 1000, 60
	if testing.Short() {
		objects = 50
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, object())
		l := &ledger{objects: map[client.ObjectKey]*v1alpha1.MultidimPodAutoscaler{}, children: map[client.ObjectKey]*v1alpha1.FederatedHPA{},
			random: rand.New(rand.NewPCG(1, 0)), requests: map[string]int{}}
		for n := range objects {
			m := object(func(m *v1alpha1.MultidimPodAutoscaler) { m.Name, m.UID = fmt.Sprint("web-", n), uid(fmt.Sprint(n)) })
			if n%2 == 0 {
				withGoal(m)
			}
			l.objects[client.ObjectKeyFromObject(m)] = m
		}
		live, cached := hubClient{ledger: l, live: true}, hubClient{ledger: l}
		store := history.New(live, 10*time.Minute)
		w.Reconciler = New(Options{Hub: cached, Live: live, Fleet: w.Fleet, VPAs: w, Uses: w, History: store, Hold: func() error { return nil },
			Period: time.Minute, Sizing: w.Sizing, Clock: clock.RealClock{}, Events: &events.FakeRecorder{},
			Metrics: NewMetrics(prometheus.NewRegistry())})
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		w.liveFor(8*24*time.Hour, l, store)
		ended := make(chan error)
		go func() { ended <- store.Run(ctx) }()

		w.reconcileAll(ctx, 5, l)
		l.count()
		w.asked = 0
		w.reconcileAll(ctx, minutes, l)
		got := l.count()
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"status": objects, "update MultidimPodAutoscalerHistory": objects, "get Deployment": objects}
		same(t, "requests", want, got)
		same(t, "questions", objects*minutes, w.asked)
		same(t, "requests to members", 0, w.clusters["east"].asked+w.clusters["west"].asked)
		same(t, "as the program ends", map[string]int{"update MultidimPodAutoscalerHistory": objects}, l.count())
	})
}

// liveFor feeds the histories of all objects once an hour.
func (w *world) liveFor(long time.Duration, l *ledger, store *history.Store) {
	w.t.Helper()
	for key, m := range l.objects {
		if _, err := store.Load(w.t.Context(), ownerOf(m), time.Now()); err != nil {
			w.t.Fatal(key, err)
		}
	}
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Hour) {
		w.clock.SetTime(time.Now())
		w.use(95+l.random.Int64N(10), 200*mi+l.random.Int64N(4*mi))
		uses, _ := w.Uses(w.t.Context(), hubmetrics.Question{Clusters: []string{"east", "west"}})
		listed := map[string]pods.SizedListing{}
		for name, c := range w.clusters {
			listed[name] = c.SizedPods(w.t.Context(), "shop", labels.SelectorFromSet(labels.Set{"app": "web"}))
		}
		for key, m := range l.objects {
			if _, err := store.Feed(ownerOf(m), history.Pass{At: time.Now(), Uses: uses, Pods: listed}); err != nil {
				w.t.Fatal(key, err)
			}
		}
	}
}

func ownerOf(m *v1alpha1.MultidimPodAutoscaler) history.Owner {
	return history.Owner{Namespace: m.Namespace, Name: m.Name, UID: m.UID, Workload: workloadOf(m)}
}

// reconcileAll reconciles all objects, so many minutes.
func (w *world) reconcileAll(ctx context.Context, minutes int, l *ledger) {
	w.t.Helper()
	for range minutes {
		w.clock.SetTime(time.Now())
		w.use(95+l.random.Int64N(10), 200*mi+l.random.Int64N(4*mi))
		for key := range l.objects {
			if _, err := w.Reconcile(ctx, reconcile.Request{NamespacedName: key}); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
	}
}
