// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// The fleet of the benchmarks: 1,000 workloads, each of ten Pods of one container in five clusters.
const (
	benchWorkloads = 1000
	benchEach      = 2
)

var benchClusters = []string{"east", "north", "south", "up", "west"}

// workload is one of the fleet, and what is seen of it, which is changed in place.
type workload struct {
	owner Owner
	mean  sizes.Amounts
	pass  Pass
}

func newWorkloads(n int) []workload {
	r := rand.New(rand.NewPCG(1, 0))
	all := make([]workload, n)
	for w := range all {
		name := fmt.Sprintf("checkout-%04d", w)
		all[w] = workload{owner: Owner{"shop", name, "u", "Deployment/web"}, mean: sizes.Amounts{50 + r.Int64N(4000), 50*mi + r.Int64N(8*gi)}}
		for _, cluster := range benchClusters {
			var seen []pod
			for i := range benchEach {
				seen = append(seen, pod{name: fmt.Sprintf("%s-7d9c5b%04x-x%d%03d", name, w, i, r.IntN(1000))})
			}
			all[w].pass = all[w].pass.saw(cluster, seen...)
		}
	}
	return all
}

func load(tb testing.TB, s *Store, all []workload) {
	tb.Helper()
	for w := range all {
		if _, err := s.Load(tb.Context(), all[w].owner, noon); err != nil {
			tb.Fatal(err)
		}
	}
}

// use has the containers use something: by day twice what they use at night.
func (w *workload) use(r *rand.Rand, at time.Time) {
	w.pass.At = at
	for _, u := range w.pass.Uses {
		for i := range u.Pods {
			load := (0.5 + r.Float64()) * (1 + float64(at.Hour()/12))
			u.Pods[i].Measured = at
			u.Pods[i].Containers[0].MilliCPU = int64(load * float64(w.mean[sizes.CPU]))
			u.Pods[i].Containers[0].Memory = int64(load * float64(w.mean[sizes.Memory]))
		}
	}
}

// live loads the histories, and feeds so many days, with a sample an hour.
func live(tb testing.TB, s *Store, all []workload, days int) (r *rand.Rand, now time.Time) {
	tb.Helper()
	load(tb, s, all)
	r = rand.New(rand.NewPCG(2, 0))
	for now = noon; now.Before(noon.Add(time.Duration(days) * 24 * time.Hour)); now = now.Add(time.Hour) {
		for w := range all {
			all[w].use(r, now)
			if _, err := s.Feed(all[w].owner, all[w].pass); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return r, now
}

// What a minute costs: a sample of each of 10,000 containers, and the advice of the fleet and of its five clusters.
func BenchmarkPass(b *testing.B) {
	s := New(newHub(b), time.Minute)
	all := newWorkloads(benchWorkloads)
	r, now := live(b, s, all, 8)
	wanted := []Wanted{{Container: "app", Options: options()}}
	b.ReportAllocs()
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		now = now.Add(time.Minute)
		for w := range all {
			all[w].use(r, now)
		}
		b.StartTimer()
		used -= cpu(b)
		for w := range all {
			if _, err := s.Feed(all[w].owner, all[w].pass); err != nil {
				b.Fatal(err)
			}
			if _, err := s.Advise(all[w].owner, wanted); err != nil {
				b.Fatal(err)
			}
		}
		used += cpu(b)
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpu is what the process has used of it.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// What a period costs, without what the hub does: 5,000 containers in their clusters, as they are saved.
func BenchmarkCheckpoints(b *testing.B) {
	s := New(newHub(b), time.Minute)
	all := newWorkloads(benchWorkloads)
	_, now := live(b, s, all, 8)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range s.all() {
			if _, err := split(m.checkpoints(now), partBytes); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A container takes at most 600 bytes all in: its Pod's name, its part in what is known of its workload, and the store's own.
func TestHeapOfContainers(t *testing.T) {
	workloads := benchWorkloads
	if testing.Short() {
		workloads /= 10
	}
	s := New(newHub(t), time.Minute)
	all := newWorkloads(workloads)
	before := heaptest.InUse() // what is seen is the caller's
	live(t, s, all, 30)
	each := float64(heaptest.InUse()-before) / float64(workloads*len(benchClusters)*benchEach)
	runtime.KeepAlive(all)
	runtime.KeepAlive(s)
	t.Logf("%.0f bytes for each of %d containers", each, workloads*len(benchClusters)*benchEach)
	if each > 600 {
		t.Errorf("%.0f bytes for each container, want at most 600", each)
	}
}
