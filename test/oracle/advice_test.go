// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/logic"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// TestAdvice compares our advice with the library's for the same samples, of which many are of equal weight: there
// a percentile is reached exactly, and the comparison in it is seen.
func TestAdvice(t *testing.T) {
	enough, seed := 1_000_000, rand.Uint64N(1<<32)
	if testing.Short() {
		enough, seed = 100_000, 1
	}
	var all tally
	first := seed
	for ; all.advices < enough && all.differences < 20; seed++ {
		w := newWorld(seed)
		for n := 1 + w.IntN(60); n > 0; n-- {
			w.live(t)
			if w.IntN(5) == 0 || n == 1 {
				w.compare(t, seed)
			}
		}
		all.add(w.seen)
	}
	t.Logf("worlds %d to %d: %d samples, %d repeats, %d OOMs, %d restarts; %d advices compared, %d differences",
		first, seed-1, all.samples, all.repeats, all.ooms, all.restarts, all.advices, all.differences)
	if all.repeats == 0 || all.ooms == 0 || all.restarts == 0 {
		t.Error("something was not tried")
	}
}

func (c *tally) add(o tally) {
	c.samples, c.repeats, c.ooms = c.samples+o.samples, c.repeats+o.repeats, c.ooms+o.ooms
	c.restarts, c.advices, c.differences = c.restarts+o.restarts, c.advices+o.advices, c.differences+o.differences
}

// options are those of the advice, in both languages.
func (w *world) options() (ours sizes.Options, theirs logic.RecommendationConfig) {
	ours = sizes.Options{Percentile: [2]int{90, 90}, Margin: 15, PodMinimum: sizes.Amounts{25, 250 << 20}, Containers: len(w.names)}
	if w.IntN(2) == 0 {
		ours.Percentile = [2]int{50 + w.IntN(50), 50 + w.IntN(50)}
		ours.Margin = w.IntN(101)
		ours.PodMinimum = sizes.Amounts{[]int64{0, 1, 10, 100, 1000}[w.IntN(5)], w.Int64N(2000) << 20}
	}
	part := func(percentile int) float64 { return float64(percentile) / 100 }
	return ours, logic.RecommendationConfig{
		SafetyMarginFraction:       float64(ours.Margin) / 100,
		PodMinCPUMillicores:        float64(ours.PodMinimum[sizes.CPU]),
		PodMinMemoryMb:             float64(ours.PodMinimum[sizes.Memory] >> 20),
		TargetCPUPercentile:        part(ours.Percentile[sizes.CPU]),
		LowerBoundCPUPercentile:    0.5,
		UpperBoundCPUPercentile:    max(0.95, part(ours.Percentile[sizes.CPU])),
		ConfidenceIntervalCPU:      24 * time.Hour,
		TargetMemoryPercentile:     part(ours.Percentile[sizes.Memory]),
		LowerBoundMemoryPercentile: 0.5,
		UpperBoundMemoryPercentile: max(0.95, part(ours.Percentile[sizes.Memory])),
		ConfidenceIntervalMemory:   24 * time.Hour,
	}
}

// compare compares the advice of each cluster, and that of the fleet.
func (w *world) compare(t *testing.T, seed uint64) {
	o, config := w.options()
	recommender := logic.CreatePodResourceRecommender(config)
	clusters := len(w.names[0])
	for cluster := range clusters + 1 { // the last is the fleet
		states := model.ContainerNameToAggregateStateMap{}
		for n, parts := range w.names {
			if cluster == clusters {
				states[name(n)] = merged(parts)
			} else {
				states[name(n)] = copied(parts[cluster])
			}
		}
		theirs := recommender.GetRecommendedPodResources(states)
		for n, parts := range w.names {
			if states[name(n)].TotalSamplesCount == 0 {
				continue // neither we nor VPA, which asks for that elsewhere, advise without samples
			}
			w.seen.advices++
			var got sizes.Advice
			if cluster == clusters {
				got = sizes.AdviseFleet(ours(parts), o, sizes.Advice{})
			} else {
				got = parts[cluster].ours.Advise(o)
			}
			if want := adviceOf(theirs[name(n)]); got != want {
				w.seen.differences++
				t.Errorf("world %d at %s, cluster %d of %d, container %d: they differ: want %v, got %v", seed, w.now, cluster, clusters, n, want, got)
			}
		}
	}
}

func name(container int) string { return fmt.Sprint("c", container) }

func ours(parts []*part) []sizes.Part {
	all := make([]sizes.Part, len(parts))
	for n, p := range parts {
		all[n] = sizes.Part{Cluster: name(n), Use: p.ours}
	}
	return all
}

// merged is what the library makes of the clusters' histograms. It works on copies, since it changes what it merges.
func merged(parts []*part) *model.AggregateContainerState {
	all := model.NewAggregateContainerState()
	for _, p := range parts {
		all.MergeContainerState(copied(p))
	}
	return all
}

func copied(p *part) *model.AggregateContainerState {
	c := model.NewAggregateContainerState()
	c.MergeContainerState(p.theirs)
	return c
}

func adviceOf(r logic.RecommendedContainerResources) sizes.Advice {
	of := func(m model.Resources) sizes.Amounts {
		return sizes.Amounts{int64(m[model.ResourceCPU]), int64(m[model.ResourceMemory])}
	}
	return sizes.Advice{Target: of(r.Target), Lower: of(r.LowerBound), Upper: of(r.UpperBound)}
}
