// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fence"
)

const leader = "controller-manager.fleetscale.io"

// handOver is what it takes at most until all shards are worked on again, and evenly, where nobody is slow: a Lease lasts 15 s; then
// comes a step, a try of the library's, and another step.
const handOver = 25 * time.Second

// address is what replicas tell of themselves.
const address = "fleetscale.io/address"

// fleet are the replicas of a test, and what each works on.
type fleet struct {
	t        *testing.T
	hub      *hub
	replicas []*worker
}

// worker is a replica, and the work that it is told to do.
type worker struct {
	replica
	name    string
	shards  int
	elector *Elector
	stop    func()
	done    chan struct{}

	mu     sync.Mutex
	dead   bool
	lasts  time.Duration // what is in progress when work on a shard ends
	leases map[int]context.Context
	begun  int
	// stubborn work in progress does not end with its context.
	stubborn bool
}

// takes has what is in progress last so long when work on a shard ends.
func (w *worker) takes(lasts time.Duration, stubborn bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lasts, w.stubborn = lasts, stubborn
}

func (w *worker) Begin(ctx context.Context, shard int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases[shard] = ctx
	w.begun++
}

func (w *worker) End(shard int) {
	w.mu.Lock()
	lease, lasts := w.leases[shard], w.lasts
	var ended <-chan struct{}
	if lease != nil && !w.stubborn {
		ended = lease.Done()
	}
	w.mu.Unlock()
	if lease == nil {
		return
	}
	select {
	case <-ended:
	case <-time.After(lasts):
	}
	w.proceeds()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.leases, shard)
}

// writes are the shards whose objects the replica could write now: it may be late to see that a context has ended.
func (w *worker) writes() (shards []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for shard, ctx := range w.leases {
		if !w.dead && w.still.Load() == nil && fence.Of(ctx)() == nil {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	return shards
}

func (f *fleet) worker(shards int) *worker {
	w := &worker{
		name: fmt.Sprintf("r%d", len(f.replicas)), shards: shards, lasts: time.Second,
		leases: map[int]context.Context{}, done: make(chan struct{}),
	}
	w.hub = f.hub
	f.replicas = append(f.replicas, w)
	return w
}

// begin has a replica begin.
func (f *fleet) begin(shards int) *worker {
	w := f.worker(shards)
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	w.elector = f.elector(w)
	go func() {
		defer close(w.done)
		_ = w.elector.Run(ctx)
	}()
	return w
}

func (f *fleet) elector(w *worker) *Elector {
	e, err := New(Options{
		Leases: w, Namespace: "fleetscale-system", Name: "controller-manager", Domain: "fleetscale.io", Leader: leader,
		ID: w.identity(), Shards: w.shards,
		LeaseDuration: 15 * time.Second, RenewDeadline: renewDeadline, RetryPeriod: 2 * time.Second, Work: w,
		Annotations: map[string]string{address: w.name},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

const renewDeadline = 10 * time.Second

func (w *worker) identity() string {
	if w.shards == 1 {
		return "host_" + w.name
	}
	return fmt.Sprintf("host_%s-of-%d", w.name, w.shards)
}

// kill has a replica do nothing any more, without a word to anybody.
func (w *worker) kill() {
	w.cut.Store(true)
	w.mu.Lock()
	w.dead = true
	w.mu.Unlock()
	w.stop()
}

// pass lets time pass, and looks ten times a second who could write.
func (f *fleet) pass(d time.Duration) {
	f.t.Helper()
	for range d / (100 * time.Millisecond) {
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		by, division := map[int]string{}, 0
		for _, w := range f.replicas {
			for _, shard := range w.writes() {
				if other := by[shard]; other != "" {
					f.t.Fatalf("%s and %s can both write shard %d", other, w.name, shard)
				}
				if division != 0 && division != w.shards {
					f.t.Fatalf("there are two divisions at once, of %d and of %d", division, w.shards)
				}
				by[shard], division = w.name, w.shards
			}
		}
	}
}

// divided checks that these replicas work on all shards, evenly, and nobody else on any.
func (f *fleet) divided(when string, among ...*worker) {
	f.t.Helper()
	all, got := 0, map[string]int{}
	for _, w := range f.replicas {
		n := len(w.writes())
		got[w.name] = n
		all += n
		if slices.Contains(among, w) {
			if least := w.shards / len(among); n < least || n > least+1 {
				f.t.Errorf("%s: %s works on %d of %d shards, among %d", when, w.name, n, w.shards, len(among))
			}
		} else if n > 0 {
			f.t.Errorf("%s: %s works on %d shards", when, w.name, n)
		}
	}
	if len(among) > 0 && all != among[0].shards {
		f.t.Errorf("%s: %d of %d shards are worked on: %v", when, all, among[0].shards, got)
	}
}

func (f *fleet) begun() (n int) {
	for _, w := range f.replicas {
		w.mu.Lock()
		n += w.begun
		w.mu.Unlock()
	}
	return n
}

func inFleet(t *testing.T, test func(f *fleet)) {
	t.Helper()
	// On one thread: where timers of a bubble fire on two at once, Go 1.26's race detector mixes up their stacks, and crashes.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{t: t, hub: &hub{}}
		f.hub.lead("host_r0-of-8")
		defer func() {
			for _, w := range f.replicas {
				w.thaw()
				w.stop()
				<-w.done
			}
		}()
		test(f)
	})
}

const eight = 8

func TestReplicasComeAndGo(t *testing.T) {
	inFleet(t, func(f *fleet) {
		a := f.begin(eight)
		f.pass(6 * time.Second)
		f.divided("one", a)
		b := f.begin(eight)
		f.pass(12 * time.Second)
		f.divided("two", a, b)
		c := f.begin(eight)
		f.pass(12 * time.Second)
		f.divided("three", a, b, c)
		if n := f.begun(); n > eight+4+3 {
			t.Errorf("work began %d times, more than moves were needed", n)
		}
		before := f.begun()
		f.pass(time.Minute)
		if n := f.begun(); n != before {
			t.Errorf("in a minute in which nobody came or went, %d shards were moved", n-before)
		}
		b.stop()
		f.pass(8 * time.Second)
		f.divided("one has ended", a, c)
		<-b.done
		b.hub.mu.Lock()
		left := b.hub.leases["controller-manager-replica-r1-of-8.fleetscale.io"]
		b.hub.mu.Unlock()
		if left != nil {
			t.Error("the Lease of a replica that has ended is still there")
		}
	})
}

// Each knows what the others tell of themselves, as long as they are alive.
func TestWhatOthersTell(t *testing.T) {
	inFleet(t, func(f *fleet) {
		knows := func(when string, w *worker, want ...string) {
			t.Helper()
			if got := w.elector.Others(address); !slices.Equal(got, want) {
				t.Errorf("%s, %s knows of %q, want %q", when, w.name, got, want)
			}
		}
		a, b, c := f.begin(eight), f.begin(eight), f.begin(eight)
		f.pass(6 * time.Second)
		knows("three", a, "r1", "r2")
		knows("three", c, "r0", "r1")
		b.stop()
		<-b.done
		f.pass(3 * time.Second)
		knows("one has ended", a, "r2")
		c.kill()
		f.pass(handOver)
		knows("one was killed", a)
	})
}

// A killed replica's shards go to the others as soon as their Leases have expired, as with one leader, and its own Lease goes too.
func TestKill(t *testing.T) {
	inFleet(t, func(f *fleet) {
		a, b, c := f.begin(eight), f.begin(eight), f.begin(eight)
		f.pass(20 * time.Second)
		f.divided("three", a, b, c)
		b.kill()
		f.pass(14 * time.Second)
		f.pass(handOver - 14*time.Second)
		f.divided("one was killed", a, c)
		f.pass(21 * 15 * time.Second)
		f.hub.mu.Lock()
		defer f.hub.mu.Unlock()
		if slices.Contains(slices.Collect(maps.Keys(f.hub.leases)), "controller-manager-replica-r1-of-8.fleetscale.io") {
			t.Error("the Lease of a replica that was killed is still there")
		}
	})
}

func TestPartition(t *testing.T) {
	for name, cut := range map[string]func(*worker, bool){
		"nothing arrives":   func(w *worker, is bool) { w.cut.Store(is) },
		"no answer arrives": func(w *worker, is bool) { w.deaf.Store(is) },
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(f *fleet) {
				a, b, c := f.begin(eight), f.begin(eight), f.begin(eight)
				b.takes(time.Hour, false) // what is in progress does not end by itself
				f.pass(20 * time.Second)
				f.divided("three", a, b, c)
				cut(b, true)
				f.pass(10*time.Second + 100*time.Millisecond)
				if n := len(b.writes()); n > 0 {
					t.Errorf("a replica that has not renewed its Leases for 10 s can still write %d shards", n)
				}
				f.pass(50 * time.Second)
				cut(b, false)
				f.pass(handOver)
				b.takes(0, false)
				f.divided("it is back", a, b, c)
			})
		})
	}
}

// Work that takes long ends before its Lease is released; until then the Lease is renewed.
func TestWorkEndsFirst(t *testing.T) {
	inFleet(t, func(f *fleet) {
		a := f.begin(eight)
		a.takes(40*time.Second, false)
		f.pass(6 * time.Second)
		b := f.begin(eight)
		f.pass(30 * time.Second)
		if n := len(b.writes()); n > 0 {
			t.Errorf("%d shards are worked on while another's work on them has not ended", n)
		}
		f.pass(20 * time.Second)
		f.divided("it has ended", a, b)
	})
}

// Another number of shards comes into force only once nobody works by the former one, and by the leader's word.
func TestAnotherDivision(t *testing.T) {
	inFleet(t, func(f *fleet) {
		a, b := f.begin(eight), f.begin(eight)
		f.pass(20 * time.Second)
		c, d := f.begin(5), f.begin(5)
		f.pass(20 * time.Second)
		f.divided("the leader is of the former", a, b)
		f.hub.lead("")
		f.pass(5 * time.Second)
		f.divided("nobody leads", a, b)
		f.hub.lead("host_r2-of-5")
		f.pass(20 * time.Second)
		f.divided("the leader is of the new", c, d)
		f.hub.lead("host_3dc4b8d0") // a release without shards
		f.pass(5 * time.Second)
		f.divided("the leader does not divide")
	})
}

// Leaders that change their mind, slow hubs, and cuts at any time: at no time can two replicas write one shard, nor by two divisions. Once
// it is over, all shards are worked on.
func TestChaos(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inFleet(t, func(f *fleet) {
				random := rand.New(rand.NewPCG(seed, 4))
				for i := range 6 {
					f.begin(eight - 3*(i%2))
				}
				leads := []string{"", "host_r0-of-8", "host_r1-of-5", "host_r0-of-8", "host_r1-of-5", "host_old"}
				for range 30 {
					w := f.replicas[random.IntN(len(f.replicas))]
					switch random.IntN(5) {
					case 0:
						f.hub.lead(leads[random.IntN(len(leads))])
					case 1:
						w.slow.Store(random.Int64N(int64(6 * time.Second)))
					case 2:
						w.cut.Store(!w.cut.Load())
					case 3:
						w.deaf.Store(!w.deaf.Load())
					default:
						w.takes(time.Duration(random.Int64N(int64(20*time.Second))), false)
					}
					f.pass(time.Duration(random.Int64N(int64(20 * time.Second))))
				}
				var ours []*worker
				for _, w := range f.replicas {
					w.slow.Store(0)
					w.cut.Store(false)
					w.deaf.Store(false)
					if w.shards == eight {
						ours = append(ours, w)
					}
				}
				f.hub.lead("host_r0-of-8")
				f.pass(2*time.Minute + handOver)
				f.divided("it is over", ours...)
			})
		})
	}
}
