// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims/index"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// many is a world of many objects, each with a workload of its own in each member, of which all answers are made before: what
// is measured is the controller.
type many struct {
	*world
	requests []reconcile.Request
	listing  map[string]pods.Listing // by selector
	metric   replicas.Metric
}

// ready is a member whose Pods are listed before.
type ready struct {
	*fakeMember
	listing map[string]pods.Listing
}

func (r ready) Pods(_ context.Context, _ string, selector labels.Selector) pods.Listing {
	return r.listing[selector.String()]
}

func (m *many) Clusters() []workload.Cluster {
	all := m.world.Clusters()
	for i := range all {
		all[i] = ready{all[i].(*fakeMember), m.listing}
	}
	return all
}

// indexed is a hub that has its autoscalers by their names, as the cache has.
type indexed struct{ *hub }

func (h indexed) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(opts)
	h.Lock()
	defer h.Unlock()
	name, _ := asked.FieldSelector.RequiresExactMatch(index.ByName)
	found := h.Objects[client.ObjectKey{Namespace: asked.Namespace, Name: name}]
	if into, federated := list.(*v1alpha1.FederatedHPAList); federated && found != nil {
		into.Items = []v1alpha1.FederatedHPA{*found}
		if shared := asked.UnsafeDisableDeepCopy; shared == nil || !*shared {
			into.Items[0] = *found.DeepCopy()
		}
	}
	return nil
}

func (m *many) Ask(context.Context, hubmetrics.Question) replicas.Metric { return m.metric }

func newMany(b testing.TB, objects, clusters, podsEach int, direct bool) *many {
	m := &many{world: newWorld(b), listing: map[string]pods.Listing{}}
	m.metric = replicas.Metric{Pods: map[string]map[string]replicas.Sample{}, Coverage: &fleet.Coverage{}}
	template := m.member("c000")
	template.run("app", podsEach)
	template.aged()
	listing := template.Pods(b.Context(), "shop", labels.Everything())
	samples := map[string]replicas.Sample{}
	for _, p := range listing.Pods {
		samples[p.Name] = replicas.Sample{Value: 500, At: start, Window: period}
	}
	for i := range clusters {
		name := fmt.Sprintf("c%03d", i)
		m.member(name)
		m.metric.Pods[name] = samples
		m.metric.Coverage.Answered = append(m.metric.Coverage.Answered, name)
	}
	for i := range objects {
		object := federatedhpatest.NewObject(fmt.Sprint("app", i))
		object.Spec.MaxReplicas = 100_000
		n := int32(clusters * podsEach)
		if direct {
			object.Spec.ReplicaDistribution = &v1alpha1.ReplicaDistribution{}
			for _, one := range m.members {
				one.Workloads[object.Name] = federatedhpatest.NewWorkload(object.Name, int32(podsEach))
			}
		} else {
			m.hub.workloads[client.ObjectKeyFromObject(object)] = federatedhpatest.NewWorkload(object.Name, n)
		}
		m.listing["app="+object.Name] = listing
		m.hub.Put(object)
		m.requests = append(m.requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	m.program.Central.Fleet.Fleet, m.program.Central.Ask, m.program.Central.Hub = m, m, indexed{m.hub}
	for range 2 { // the first tells much
		m.all(b, 1)
	}
	return m
}

// all reconciles every object, so many at a time.
func (m *many) all(b testing.TB, workers int) {
	b.Helper()
	ctx := klog.NewContext(b.Context(), logr.Discard())
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(m.requests); i += workers {
				if _, err := m.program.Reconcile(ctx, m.requests[i]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkReconciles reconciles many objects that have nothing to change. An op is one reconcile. What requests to the hub
// cost is not in it.
func BenchmarkReconciles(b *testing.B) {
	for _, size := range sizes {
		for _, direct := range []bool{false, true} {
			b.Run(fmt.Sprintf("objects=%d/clusters=%d/pods=%d/direct=%v", size.objects, size.clusters, size.pods, direct), func(b *testing.B) {
				m := newMany(b, size.objects, size.clusters, size.pods, direct)
				ctx := klog.NewContext(b.Context(), logr.Discard())
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if _, err := m.program.Reconcile(ctx, m.requests[i%len(m.requests)]); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}

// sizes are of the worlds that are measured.
var sizes = []struct{ objects, clusters, pods int }{{5000, 2, 5}, {200, 10, 1}, {100, 10, 100}, {50, 100, 10}}

// BenchmarkRecords reconciles the same objects by turns without the recorder and with it, and compares what that takes of the CPU, in all
// goroutines: on/off is the ratio. An op is a reconcile of all objects in both ways.
func BenchmarkRecords(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("objects=%d/clusters=%d/pods=%d", size.objects, size.clusters, size.pods), func(b *testing.B) {
			m, registry := newMany(b, size.objects, size.clusters, size.pods, false), prometheus.NewRegistry()
			store := recordstore.New(recordstore.Options{
				Most: 32 << 20, Age: 7 * 24 * time.Hour, Clock: m.Clock, Metrics: recordstore.NewMetrics(registry),
			})
			var off, on time.Duration
			for b.Loop() {
				m.later(period)
				m.program.Central.Records = nil
				off += m.used(b, func() { m.all(b, 1) })
				m.program.Central.Records = store
				on += m.used(b, func() { m.recorded(b, store) })
			}
			n := float64(b.N * len(m.requests))
			b.ReportMetric(float64(on)/float64(off), "on/off")
			b.ReportMetric(float64(off)/n, "off-cpu-ns/reconcile")
			b.ReportMetric(float64(on)/n, "on-cpu-ns/reconcile")
			b.ReportMetric(value(b, registry, "fleetscale_decision_record_bytes")/n, "kept-B/reconcile")
			if got := value(b, registry, "fleetscale_decision_record_records_total"); got != n {
				b.Errorf("%v of %v decisions were recorded", got, n)
			}
		})
	}
}

// later lets time pass, and all Pods be measured again.
func (m *many) later(by time.Duration) {
	m.Clock.SetTime(m.Clock.Now().Add(by))
	for _, samples := range m.metric.Pods {
		for name, sample := range samples {
			sample.At = m.Clock.Now()
			samples[name] = sample
		}
	}
}

// recorded reconciles every object, so few at a time that the store keeps up, and waits until all is written.
func (m *many) recorded(b *testing.B, store *recordstore.Store) {
	for part := range slices.Chunk(m.requests, 500) {
		ctx, cancel := context.WithCancel(b.Context())
		written := make(chan error)
		go func() { written <- store.Run(ctx) }()
		one := *m
		one.requests = part
		one.all(b, 1)
		cancel()
		if err := <-written; err != nil {
			b.Fatal(err)
		}
	}
}

// used is what the process uses of the CPU meanwhile.
func (m *many) used(b *testing.B, do func()) time.Duration {
	b.Helper()
	cpu := func() time.Duration {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			b.Fatal(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	before := cpu()
	do()
	return cpu() - before
}

// counted is what a counter without labels counts.
func value(b *testing.B, registry prometheus.Gatherer, name string) float64 {
	b.Helper()
	families, err := registry.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.Metric[0].GetCounter().GetValue() + family.Metric[0].GetGauge().GetValue()
		}
	}
	b.Fatalf("there is no %s", name)
	return 0
}

// Workers side by side do what one does: nothing, here, but of thousands of objects.
func TestManySideBySide(t *testing.T) {
	objects := 300
	if testing.Short() {
		objects = 50
	}
	for _, direct := range []bool{false, true} {
		m := newMany(t, objects, 4, 3, direct)
		before := m.hub.StatusWrites
		m.all(t, 8)
		if n := m.hub.StatusWrites - before; n > 0 || len(m.wrote) > 0 {
			t.Errorf("%d writes of the status, %v", n, m.wrote)
		}
		for i := range m.metric.Pods {
			for name, sample := range m.metric.Pods[i] {
				sample.Value = 1000
				m.metric.Pods[i][name] = sample
			}
		}
		m.all(t, 8)
		for _, r := range m.requests {
			if got := m.hub.Objects[r.NamespacedName].Status.DesiredReplicas; got != 24 {
				t.Errorf("%v: %d replicas are desired", r, got)
			}
		}
	}
}
