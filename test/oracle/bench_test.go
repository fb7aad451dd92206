// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/logic"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// The fleet of the benchmark: 1,000 workloads, each of ten containers in five clusters, after eight days of hourly samples.
const (
	workloads  = 1000
	clusters   = 5
	each       = 2
	containers = workloads * clusters * each
)

// memory is who remembers the fleet.
type memory interface {
	add(workload, cluster, container int, amounts sizes.Amounts, at time.Time)
	advise() // of the fleet, and of each cluster
}

// BenchmarkPass is what a minute costs, and what a container takes: a sample of each of 10,000, and all advice. Of the
// library there are only the histograms and what advises: its state of a cluster, which it needs to find them, comes on top.
func BenchmarkPass(b *testing.B) {
	for name, begin := range map[string]func() memory{
		"ours":    func() memory { return new(ourMemory) },
		"library": func() memory { return newTheirMemory() },
	} {
		b.Run(name, func(b *testing.B) {
			before := heap()
			m, r, at := begin(), rand.New(rand.NewPCG(1, 0)), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
			for range 8 * 24 {
				at = at.Add(time.Hour)
				feed(r, m, at)
			}
			taken := float64(heap()-before) / containers
			cpu := cpuTime()
			for b.Loop() {
				at = at.Add(time.Minute)
				feed(r, m, at)
				m.advise()
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(taken, "B/container")
		})
	}
}

// feed adds one sample of each container: by day they use twice what they use at night.
func feed(r *rand.Rand, m memory, at time.Time) {
	for w := range workloads {
		for c := range clusters {
			for i := range each {
				load := (0.5 + r.Float64()) * (1 + float64(at.Hour()/12))
				m.add(w, c, i, sizes.Amounts{int64(load * float64(50+4*w)), int64(load * float64((50+8*w)<<20))}, at)
			}
		}
	}
}

type ourMemory struct {
	uses      [workloads][clusters]sizes.Use
	instances [workloads][clusters][each]sizes.Instance
}

func (m *ourMemory) add(w, c, i int, amounts sizes.Amounts, at time.Time) {
	m.instances[w][c][i].Add(&m.uses[w][c], sizes.Sample{Amounts: amounts, At: at, Measured: at})
}

func (m *ourMemory) advise() {
	o := sizes.Options{Percentile: [2]int{90, 90}, Margin: 15, PodMinimum: sizes.Amounts{25, 250 << 20}, Containers: 1}
	for w := range m.uses {
		parts := make([]sizes.Part, clusters)
		for c := range parts {
			parts[c] = sizes.Part{Cluster: name(c), Use: &m.uses[w][c]}
		}
		fleet := sizes.AdviseFleet(parts, o, sizes.Advice{})
		for _, p := range parts {
			sizes.AdviseCluster(p, o, fleet, sizes.Advice{})
		}
	}
}

type theirMemory struct {
	recommender logic.PodResourceRecommender
	uses        [workloads][clusters]*model.AggregateContainerState
	instances   [workloads][clusters][each]*model.ContainerState
}

func newTheirMemory() *theirMemory {
	w := &world{Rand: rand.New(rand.NewPCG(0, 0)), names: make([][]*part, 1)}
	_, config := w.options()
	m := &theirMemory{recommender: logic.CreatePodResourceRecommender(config)}
	for w := range m.uses {
		for c := range m.uses[w] {
			m.uses[w][c] = model.NewAggregateContainerState()
			for i := range each {
				m.instances[w][c][i] = model.NewContainerState(nil, m.uses[w][c])
			}
		}
	}
	return m
}

func (m *theirMemory) add(w, c, i int, amounts sizes.Amounts, at time.Time) {
	for r, name := range []model.ResourceName{model.ResourceCPU, model.ResourceMemory} {
		m.instances[w][c][i].AddSample(&model.ContainerUsageSample{MeasureStart: at, Usage: model.ResourceAmount(amounts[r]), Resource: name})
	}
}

func (m *theirMemory) advise() {
	for w := range m.uses {
		all := model.NewAggregateContainerState()
		for _, use := range m.uses[w] {
			all.MergeContainerState(use)
			m.recommender.GetRecommendedPodResources(model.ContainerNameToAggregateStateMap{"c": use})
		}
		m.recommender.GetRecommendedPodResources(model.ContainerNameToAggregateStateMap{"c": all})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// cpuTime is what the process has used of processors: unlike time, it is not for others that run meanwhile.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
