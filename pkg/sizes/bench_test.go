// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
)

// The fleet of the benchmarks: 1,000 workloads, each of ten containers in five clusters.
const (
	benchWorkloads = 1000
	benchClusters  = 5
	benchEach      = 2
)

// fleet is what is remembered of the workloads.
type fleet struct {
	uses      [][benchClusters]Use
	instances [][benchClusters][benchEach]Instance
	mean      []Amounts
}

func newFleet(workloads int) *fleet {
	f := &fleet{
		uses:      make([][benchClusters]Use, workloads),
		instances: make([][benchClusters][benchEach]Instance, workloads),
		mean:      make([]Amounts, workloads),
	}
	r := rand.New(rand.NewPCG(1, 0))
	for w := range f.mean {
		f.mean[w] = Amounts{50 + r.Int64N(4000), 50*mi + r.Int64N(8*gi)}
	}
	return f
}

// feed adds one sample of each container: by day they use twice what they use at night.
func (f *fleet) feed(r *rand.Rand, at time.Time) {
	for w := range f.uses {
		for c := range benchClusters {
			for i := range benchEach {
				load := (0.5 + r.Float64()) * (1 + float64(at.Hour()/12))
				f.instances[w][c][i].Add(&f.uses[w][c], sample(int64(load*float64(f.mean[w][CPU])), int64(load*float64(f.mean[w][Memory])), at))
			}
		}
	}
}

// live feeds so many days, with a sample an hour.
func (f *fleet) live(days int) (r *rand.Rand, now time.Time) {
	r = rand.New(rand.NewPCG(2, 0))
	for now = noon; now.Before(noon.Add(time.Duration(days) * 24 * time.Hour)); now = now.Add(time.Hour) {
		f.feed(r, now)
	}
	return r, now
}

// advise returns the advice for all workloads, of each cluster and of the fleet.
func (f *fleet) advise() (sum Amounts) {
	var parts [benchClusters]Part
	for w := range f.uses {
		for c := range parts {
			parts[c] = Part{Cluster: clusterNames[c], Use: &f.uses[w][c]}
		}
		all := AdviseFleet(parts[:], options(), noAdvice())
		for _, part := range parts {
			sum[CPU] += AdviseCluster(part, options(), all, noAdvice()).Target[CPU]
		}
		sum[CPU] += all.Target[CPU]
	}
	return sum
}

var clusterNames = [benchClusters]string{"east", "north", "south", "up", "west"}

// What a minute costs: a sample of each of 10,000 containers, and the advice of the fleet and of its five clusters.
func BenchmarkPass(b *testing.B) {
	f := newFleet(benchWorkloads)
	r, now := f.live(8)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Minute)
		f.feed(r, now)
		f.advise()
	}
}

// A container takes at most 600 bytes, with its part in what is remembered of its workload in each cluster.
func TestHeapOfContainers(t *testing.T) {
	workloads := benchWorkloads
	if testing.Short() {
		workloads /= 10
	}
	before := heaptest.InUse()
	f := newFleet(workloads)
	f.live(30)
	each := float64(heaptest.InUse()-before) / float64(workloads*benchClusters*benchEach)
	runtime.KeepAlive(f)
	t.Logf("%.0f bytes for each of %d containers", each, workloads*benchClusters*benchEach)
	if each > 600 {
		t.Errorf("%.0f bytes for each container, want at most 600", each)
	}
}

func ExampleUse_Advise() {
	var u Use
	var i Instance
	for minute := range 24 * 60 {
		at := noon.Add(time.Duration(minute) * time.Minute)
		i.Add(&u, Sample{Amounts: Amounts{CPU: 480, Memory: 900 << 20}, At: at, Measured: at})
	}
	a := u.Advise(Options{Percentile: [2]int{90, 90}, Margin: 15, PodMinimum: Amounts{25, 250 << 20}, Containers: 1})
	fmt.Printf("%dm of CPU, %d MiB of memory\n", a.Target[CPU], a.Target[Memory]>>20)
	// Output: 587m of CPU, 1051 MiB of memory
}
