// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/compact/heaptest"
	"github.com/fleetscale/fleetscale/pkg/controllers/multidim"
)

var firstSeed = flag.Uint64("seed", 0, "by what chance falls; 0: 1 in the short form, one that never was in the long one")

// plan is how long it takes, and what happens.
type plan struct {
	objects        int
	long           time.Duration
	kills, freezes int
	rates          multidim.Rates
}

var (
	// The rates of the short form are those that the controller-manager has by default. By these a thousand objects would not come to
	// rest in hours.
	short = plan{40, 3 * time.Hour, 4, 4, multidim.Rates{Resizes: 120, Evictions: 10}}
	long  = plan{1000, 8 * time.Hour, 16, 12, multidim.Rates{Resizes: 480, Evictions: 40}}
)

// calm is the time in the end in which nothing happens.
const calm = time.Hour

func TestSoak(t *testing.T) {
	klog.SetLogger(logr.Discard())
	p, seed := long, uint64(time.Now().UnixNano())
	if testing.Short() {
		p, seed = short, 1
	}
	if *firstSeed != 0 {
		seed = *firstSeed
	}
	t.Logf("-seed %d", seed)
	synctest.Test(t, func(t *testing.T) { soak(t, p, seed) })
}

func soak(t *testing.T, p plan, seed uint64) {
	w := newWorld(p, seed)
	w.lead(t)
	var early int64
	for since := time.Duration(0); since < p.long; since = time.Since(w.began) {
		w.second(t)
		time.Sleep(time.Second)
		if since.Round(time.Second) == p.long/4 {
			early = heaptest.InUse()
		}
	}
	late := heaptest.InUse()
	w.end(t)

	moves := w.done()
	t.Logf("%d objects for %v: %d evictions and %d resizes; %d leaders killed, %d times a member frozen, %d containers killed", p.objects,
		p.long, w.evictions(), moves-w.evictions(), w.killed, w.frozen, w.ooms())
	t.Logf("evictions of one replica: %v", w.byPlace())
	t.Logf("heap, of the world too: %d MiB after a quarter of the time, %d MiB in the end", early>>20, late>>20)
	w.judgeGrowth()
	for property, all := range w.faults {
		for _, fault := range all {
			t.Errorf("%s: %s", property, fault)
		}
	}
	// A workload whose recommendation has just changed is under way.
	if wrong, all := w.unrested(time.Now()); len(wrong) > max(all/200, 8) || all < p.objects {
		t.Errorf("%d of %d Pods are not as recommended, such as %v", len(wrong), all, wrong[:min(len(wrong), mostTold)])
	}
	const spare = 16 << 20
	if late > early*5/4+spare {
		t.Errorf("the heap grows from %d to %d bytes", early, late)
	}
	if w.evictions() < p.objects || w.killed != p.kills || w.frozen < p.freezes/2 || w.ooms() < p.objects/20 {
		t.Error("too little happened")
	}
}

// byPlace is how many replicas were evicted how often.
func (w *world) byPlace() string {
	counts := map[int]int{}
	for _, c := range w.clusters {
		for _, places := range c.runs {
			for _, p := range places {
				counts[p.evicted]++
			}
		}
	}
	return fmt.Sprint(counts)
}
