// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/multidim"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/selection"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	members "github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// world is all that there is. Its lock is held while anything in it is read or written.
type world struct {
	mu sync.Mutex
	stored

	faults         faults
	chance         dice
	began, calm    time.Time
	rates          multidim.Rates
	clusters       []*cluster
	workloads      []*workload
	byName         map[string]*workload
	kills, freezes []time.Time
	killed, frozen int
	*leader                  // nil between two
	next           time.Time // when there is one again
}

// newWorld has three clusters with two to five Pods of each workload, which have run for a day.
func newWorld(p plan, seed uint64) *world {
	w := &world{faults: faults{}, chance: dice{rand.New(rand.NewPCG(seed, 0))}, began: time.Now(), byName: map[string]*workload{},
		stored: stored{histories: map[types.UID][]*v1alpha1.MultidimPodAutoscalerHistory{}}}
	w.calm, w.rates = w.began.Add(p.long-calm), p.rates
	for n := range p.objects {
		of := workloadOf(n, w.began, w.calm, w.chance)
		w.workloads, w.byName[of.name] = append(w.workloads, of), of
	}
	for i, name := range []string{"east", "north", "west"} {
		c := &cluster{dice: dice{rand.New(rand.NewPCG(seed, uint64(1+i)))}, name: name, bare: i == 1, sizes: make([]given, p.objects),
			entries: make([][]fleetscalev1alpha1.SizedWorkload, p.objects/each+1),
			account: account{evicted: map[int]map[*leader]int{}, left: map[*leader]*allowance{}}}
		for _, of := range w.workloads {
			var places []*place
			for range 2 + of.n%4 {
				places = append(places, &place{pod: c.bear(of, w.began.Add(-24*time.Hour))})
			}
			c.runs = append(c.runs, places)
		}
		w.clusters = append(w.clusters, c)
	}
	for range p.kills {
		w.kills = append(w.kills, w.began.Add(10*time.Minute+w.chance.span(p.long-calm-20*time.Minute)))
	}
	for range p.freezes {
		w.freezes = append(w.freezes, w.began.Add(10*time.Minute+w.chance.span(p.long-calm-40*time.Minute)))
	}
	slices.SortFunc(w.kills, time.Time.Compare)
	slices.SortFunc(w.freezes, time.Time.Compare)
	return w
}

// second is one, in which a sixtieth of all objects are reconciled.
func (w *world) second(t *testing.T) {
	now := time.Now()
	w.disturb(now)
	if w.leader == nil && !now.Before(w.next) {
		w.lead(t)
	}
	phase := int(now.Sub(w.began)/time.Second) % 60
	for n := phase; n < len(w.workloads) && w.leader != nil; n += 60 {
		w.reconcile(t, w.workloads[n])
		if w.isDead() {
			w.end(t)
			w.leader, w.next = nil, now.Add(15*time.Second+w.chance.span(45*time.Second))
		}
	}
}

// disturb kills and freezes what is due. A leader is killed in the middle of what it does.
func (w *world) disturb(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kills) > 0 && !now.Before(w.kills[0]) && w.leader != nil {
		w.kills, w.calls, w.killed = w.kills[1:], 1+w.chance.IntN(40), w.killed+1
	}
	if len(w.freezes) > 0 && !now.Before(w.freezes[0]) {
		w.freezes = w.freezes[1:]
		if c := w.clusters[w.chance.IntN(len(w.clusters))]; c.froze.IsZero() {
			c.froze, c.seenFrozen, c.thaws = now, now.Add(10*time.Second), now.Add(30*time.Second+w.chance.span(20*time.Minute))
			w.frozen++
		}
	}
	for _, c := range w.clusters {
		if !c.froze.IsZero() && !now.Before(c.thaws) {
			c.froze, c.thawed = time.Time{}, now
		}
	}
}

func (w *world) namespaceOf(name string) int {
	n, _ := strconv.Atoi(name[len("team-"):])
	return n
}

// at is a time as it is told.
func (w *world) at(now time.Time) string { return now.Sub(w.began).Round(time.Second).String() }

func (w *world) evictions() (n int) {
	for _, c := range w.clusters {
		n += c.evictions
	}
	return n
}

// done is how many Pods were evicted or resized so far.
func (w *world) done() (n int) {
	for _, c := range w.clusters {
		n += c.evictions + c.resizes
	}
	return n
}

func (w *world) ooms() (n int) {
	for _, c := range w.clusters {
		n += c.ooms
	}
	return n
}

// leader is one process.
type leader struct {
	*world

	reconciler *multidim.Reconciler
	ctx        context.Context
	stop       context.CancelFunc
	saved      chan error // as its store ends
	calls      int        // until it is dead; 0: it is not to be killed
	dead       bool
}

// lead has a new process be the leader.
func (w *world) lead(t *testing.T) {
	l := &leader{world: w, saved: make(chan error, 1)}
	l.ctx, l.stop = context.WithCancel(t.Context())
	hub := hub{leader: l}
	store := history.New(hub, 10*time.Minute)
	l.reconciler = multidim.New(multidim.Options{
		Hub: hub, Live: hub, Fleet: &selection.Reader{Fleet: l, Timeout: 5 * time.Second}, VPAs: l, Uses: l, History: store,
		Hold: func() error { return nil }, Period: time.Minute, Rates: w.rates, Clock: clock.RealClock{}, Events: &events.FakeRecorder{},
		Sizing: multidim.Sizing{PodMinimum: sizes.Amounts{25, 250 << 20}, Headroom: 10, ResizeDeferred: 5 * time.Minute,
			ResizeTimeout: time.Hour},
		Metrics: multidim.NewMetrics(prometheus.NewRegistry()),
	})
	go func() { l.saved <- store.Run(l.ctx) }()
	w.leader = l
}

// end waits for what it has begun.
func (l *leader) end(t *testing.T) {
	l.stop()
	if err := <-l.saved; err != nil {
		t.Error(err)
	}
	l.reconciler = nil // others still tell by the leader who did what
	for _, c := range l.clusters {
		delete(c.left, l)
	}
}

// call does what the leader asks for, unless it was killed.
func (l *leader) call(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls > 0 {
		l.calls--
		l.dead = l.calls == 0
	}
	if l.dead {
		return errKilled
	}
	return do()
}

// isDead reports whether it was killed, perhaps while it saved what it had learned.
func (l *leader) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func (l *leader) reconcile(t *testing.T, w *workload) {
	result, err := l.reconciler.Reconcile(l.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.object)})
	if err != nil && !l.isDead() {
		t.Errorf("%s: %v", w.name, err)
	}
	if err == nil && result.RequeueAfter != time.Minute {
		t.Errorf("%s: it is reconciled again after %v", w.name, result.RequeueAfter)
	}
}

// Settled implements [members.Fleet].
func (l *leader) Settled() error { return nil }

// Clusters implements [members.Fleet].
func (l *leader) Clusters() (all []members.Cluster) {
	for _, c := range l.clusters {
		all = append(all, view{leader: l, cluster: c})
	}
	return all
}

// VPAs implements [multidim.VPAs]: there are none.
func (l *leader) VPAs(context.Context, string) sizing.VPAs { return sizing.VPAs{Known: true} }

// Uses implements [multidim.Uses].
func (l *leader) Uses(_ context.Context, q hubmetrics.Question) (all []hubmetrics.ClusterUses, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	app, _ := q.Selector.RequiresExactMatch("app")
	for _, name := range q.Clusters {
		n := slices.IndexFunc(l.clusters, func(c *cluster) bool { return c.name == name })
		if n < 0 {
			return nil, fmt.Errorf("there is no cluster %s", name)
		}
		all = append(all, l.clusters[n].uses(l.byName[app], time.Now()))
	}
	return all, nil
}
