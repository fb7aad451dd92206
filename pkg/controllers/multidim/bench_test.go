// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/recording"
)

// The fleets of the benchmark, and how many minutes of them count.
const (
	benchClusters = 5
	benchMinutes  = 60
)

// many is a world whose answers are made before each minute: what is measured is the controller, with its history.
type many struct {
	*world
	uses     []hubmetrics.ClusterUses
	listings map[string]pods.SizedListing
}

type ready struct {
	*member
	m *many
}

func (r ready) Sizer() sizing.Sizer { return r }

func (r ready) SizedPods(context.Context, string, labels.Selector) pods.SizedListing {
	return r.m.listings[r.name]
}

func (m *many) Clusters() (all []workload.Cluster) {
	for _, c := range m.world.Clusters() {
		all = append(all, ready{c.(*member), m})
	}
	return all
}

// Uses implements [Uses].
func (m *many) Uses(context.Context, hubmetrics.Question) ([]hubmetrics.ClusterUses, error) {
	m.asked++
	return slices.Clone(m.uses), nil
}

// written are records as they are written down, which a goroutine of its own does elsewhere.
type written struct {
	encoder  *recording.Encoder
	frame    []byte
	bytes, n int
}

func (w *written) Record(r *recording.Record) {
	w.frame, _ = w.encoder.Append(w.frame[:0], r)
	w.bytes, w.n = w.bytes+len(w.frame), w.n+1
}

// newMany has so many Pods in each cluster, each with so many containers.
func newMany(b *testing.B, podsEach, containers int) *many {
	b.Helper()
	m := &many{world: newWorld(b, object(withGoal)), listings: map[string]pods.SizedListing{}}
	template := deployment("1", "2Gi")
	spec := template.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	app := spec["containers"].([]any)[0].(map[string]any)
	var all []any
	var sized []pods.Container
	for i := range containers {
		all = append(all, map[string]any{"name": fmt.Sprint("app-", i), "resources": app["resources"]})
		sized = append(sized, pods.Container{Name: fmt.Sprint("app-", i), Requests: pods.Resources{MilliCPU: 1000, Memory: 2 * gi},
			Limits: pods.Resources{MilliCPU: pods.None, Memory: pods.None}})
	}
	spec["containers"] = all
	if err := m.hub.Update(b.Context(), template); err != nil {
		b.Fatal(err)
	}
	m.clusters = map[string]*member{}
	for c := range benchClusters {
		name := fmt.Sprint("c", c)
		m.clusters[name] = &member{w: m.world, name: name}
		u, l := hubmetrics.ClusterUses{Cluster: name, Outcome: hubmetrics.Answered}, pods.SizedListing{Known: true}
		for i := range podsEach {
			p := pods.SizedPod{Containers: sized}
			p.Name, p.Phase = fmt.Sprintf("web-%d-%04d", c, i), "Running"
			l.Pods = append(l.Pods, p)
			u.Pods = append(u.Pods, hubmetrics.PodUses{Name: p.Name, Containers: make([]hubmetrics.ContainerUse, containers)})
		}
		m.uses, m.listings[name] = append(m.uses, u), l
	}
	m.Fleet.Fleet, m.Reconciler.Uses = m, m
	return m
}

// measure makes the answers of the next minute.
func (m *many) measure(r *rand.Rand) {
	now := m.clock.Now().Add(time.Minute)
	m.clock.SetTime(now)
	for _, u := range m.uses {
		for i := range u.Pods {
			u.Pods[i].Measured = now
			for c := range u.Pods[i].Containers {
				u.Pods[i].Containers[c] = hubmetrics.ContainerUse{Name: fmt.Sprint("app-", c),
					MilliCPU: 50 + r.Int64N(200), Memory: 100*mi + r.Int64N(200*mi)}
			}
		}
	}
}

// BenchmarkReconcile reconciles one object, minute after minute. An op is one reconcile; requests to the hub are the question for
// what is used, and whatever is not read from the cache; those of the first hour count, but for the first reconcile. The decision is
// recorded, and written down.
func BenchmarkReconcile(b *testing.B) {
	for _, size := range []struct{ pods, containers int }{{1, 2}, {10, 2}, {200, 2}} {
		b.Run(fmt.Sprintf("clusters=%d/pods=%d/containers=%d", benchClusters, size.pods, size.containers), func(b *testing.B) {
			m, r := newMany(b, size.pods, size.containers), rand.New(rand.NewPCG(1, 0))
			ctx := klog.NewContext(b.Context(), logr.Discard())
			once := func() {
				if _, err := m.Reconcile(ctx, reconcile.Request{NamespacedName: web}); err != nil {
					b.Fatal(err)
				}
			}
			m.measure(r)
			once()
			m.requests, m.asked = nil, 0
			records := &written{encoder: recording.NewEncoder()}
			m.Records = records
			for range benchMinutes {
				m.measure(r)
				once()
			}
			hub, members := len(m.requests)+m.asked, 0
			for _, c := range m.clusters {
				members += c.asked
			}
			if members > 0 {
				b.Errorf("%d requests to members", members)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				m.measure(r)
				b.StartTimer()
				once()
			}
			b.ReportMetric(float64(hub)/benchMinutes, "hub-requests/op")
			b.ReportMetric(float64(members)/benchMinutes, "member-requests/op")
			b.ReportMetric(float64(records.bytes)/float64(records.n), "record-bytes/op")
		})
	}
}
