// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/fleetscale/fleetscale/pkg/fence"
)

// process begins a replica as the program is: it may come to lead, and once it leads no more, it ends without a word to anybody. With one
// shard it works only as leader.
func (f *fleet) process(shards int) *worker {
	w := f.worker(shards)
	told, stop := context.WithCancel(context.Background())
	w.stop = stop
	own, library := f.candidate(w)
	standing, withdraw := context.WithCancel(context.Background())
	elected := make(chan struct{})
	library.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(ctx context.Context) {
			if shards == 1 {
				w.Begin(fence.With(ctx, own.Fence), 0)
			}
		},
		OnStoppedLeading: func() {
			if standing.Err() == nil {
				w.proceeds()
				w.kill()
			}
		},
	}
	election, err := leaderelection.NewLeaderElector(library)
	if err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(elected)
		election.Run(standing)
	}()
	if shards > 1 {
		w.elector = f.elector(w)
	}
	go func() {
		defer close(w.done)
		if shards > 1 {
			_ = w.elector.Run(told)
		}
		<-told.Done()
		w.End(0)
		withdraw()
		<-elected
	}()
	return w
}

// candidate is how a process takes the leader's Lease.
func (f *fleet) candidate(w *worker) (*Lock, leaderelection.LeaderElectionConfig) {
	var lease resourcelock.Interface = &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "fleetscale-system", Name: leader}, Client: w,
		LockConfig: resourcelock.ResourceLockConfig{Identity: w.identity()},
	}
	if w.shards == 1 {
		lease = Alone(lease, w)
	}
	own := NewLock(lease, renewDeadline)
	return own, leaderelection.LeaderElectionConfig{
		Lock: own, Name: leader, LeaseDuration: 15 * time.Second, RenewDeadline: renewDeadline, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
	}
}

// inProcesses is [inFleet], where replicas come to lead by an election.
func inProcesses(t *testing.T, test func(f *fleet)) {
	t.Helper()
	inFleet(t, func(f *fleet) {
		f.hub = &hub{}
		test(f)
	})
}

// Releases before this one take the leader's Lease by the library's own lock. Each hands over to the other.
func TestLeaderOfAFormerRelease(t *testing.T) {
	inProcesses(t, func(f *fleet) {
		former := f.worker(1)
		former.stop = func() { close(former.done) }
		_, library := f.candidate(former)
		library.Lock = library.Lock.(*Lock).Interface.(*alone).Interface
		begins, ended := make(chan struct{}), make(chan struct{})
		library.Callbacks = leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(begins) }, OnStoppedLeading: func() { close(ended) },
		}
		election, err := leaderelection.NewLeaderElector(library)
		if err != nil {
			f.t.Fatal(err)
		}
		ctx, stop := context.WithCancel(f.t.Context())
		defer stop()
		next := f.process(1)
		f.pass(5 * time.Second)
		f.divided("the new one leads", next)
		go election.Run(ctx)
		f.pass(5 * time.Second)
		next.stop()
		f.pass(5 * time.Second)
		f.divided("the new one has ended")
		<-begins
		next = f.process(1)
		f.pass(30 * time.Second)
		f.divided("the former one leads")
		stop()
		<-ended
		f.pass(5 * time.Second)
		f.divided("the former one has ended", next)
	})
}

// standsStill has a replica stand still for that long.
func (f *fleet) standsStill(w *worker, d time.Duration) {
	f.t.Helper()
	w.freeze()
	f.pass(d)
	w.thaw()
}

// A leader that stood still for longer than its Lease no longer works once the next one does, nor does it release the Lease of that
// one as it ends, so that a third would work beside it.
func TestLeaderThatStoodStill(t *testing.T) {
	inProcesses(t, func(f *fleet) {
		a := f.process(1)
		f.pass(5 * time.Second)
		b, c := f.process(1), f.process(1)
		f.pass(5 * time.Second)
		f.divided("it leads", a)
		f.standsStill(a, 30*time.Second)
		next := f.leader(b, c)
		f.pass(20 * time.Second)
		if !a.dead {
			t.Error("the former leader has not ended")
		}
		f.divided("the former leader has ended", next)
	})
}

// leader is the one that works.
func (f *fleet) leader(among ...*worker) (leads *worker) {
	f.t.Helper()
	for _, w := range among {
		if len(w.writes()) > 0 {
			leads = w
		}
	}
	if leads == nil {
		f.t.Fatal("nobody works")
	}
	return leads
}

// A leader that is cut off from the hub writes nothing once it has not renewed its Lease for the renew deadline, whatever the library
// still tries.
func TestLeaderThatIsCutOff(t *testing.T) {
	inProcesses(t, func(f *fleet) {
		a := f.process(1)
		f.pass(5 * time.Second)
		f.process(1)
		f.pass(5 * time.Second)
		a.cut.Store(true)
		f.pass(renewDeadline)
		f.divided("it could not renew its Lease")
		f.pass(20 * time.Second)
		if !a.dead {
			t.Error("it has not ended")
		}
	})
}

// Replicas with shards give way to a leader without, which begins once they have; and take over as soon as it has ended.
func TestToOneLeaderAndBack(t *testing.T) {
	inProcesses(t, func(f *fleet) {
		a, b := f.process(eight), f.begin(eight) // which does not stand as leader
		b.takes(12*time.Second, false)
		f.pass(20 * time.Second)
		f.divided("shards", a, b)
		alone := f.process(1)
		f.pass(20 * time.Second)
		f.divided("the leader has shards", a, b)
		a.stop()
		f.pass(10 * time.Second)
		if n := len(alone.writes()); n > 0 {
			t.Error("the leader has none, and works while another's work on shards has not ended")
		}
		f.pass(handOver - 10*time.Second)
		f.divided("it has ended", alone)
		c := f.process(eight)
		f.pass(10 * time.Second)
		f.divided("the leader has none", alone)
		alone.stop()
		f.pass(handOver)
		f.divided("who has shards leads", b, c)
	})
}

// Shards of those who were killed are waited for until they have expired.
func TestOneLeaderAfterAKill(t *testing.T) {
	inProcesses(t, func(f *fleet) {
		a := f.process(eight)
		f.pass(10 * time.Second)
		f.divided("shards", a)
		a.kill()
		alone := f.process(1)
		f.pass(14 * time.Second)
		f.divided("it was killed")
		f.pass(handOver)
		f.divided("its shards have expired", alone)
	})
}

// Processes with shards, with others and with none stand still at any time, for longer than their Leases or not, are cut off, and come and
// go: at no time can two write one object, even if what is in progress does not see that its context has ended. Once that is over, those
// that are left divide all shards.
func TestStandingStill(t *testing.T) {
	seeds := uint64(16)
	if testing.Short() {
		seeds = 4
	}
	stood := 0 // for longer than its Lease, with work
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inProcesses(t, func(f *fleet) {
				random := rand.New(rand.NewPCG(seed, 5))
				upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
				live := map[*worker]time.Time{} // since when it stands still; zero: it does not
				divisions := []int{eight, 1, eight, 5, 1}
				for _, shards := range divisions {
					live[f.process(shards)] = time.Time{}
				}
				for range 40 {
					for _, w := range f.replicas {
						since, lives := live[w]
						switch {
						case !lives:
							continue
						case w.isDead():
							delete(live, w)
							live[f.process(divisions[random.IntN(len(divisions))])] = time.Time{}
							continue
						case random.IntN(4) > 0:
							continue
						}
						switch random.IntN(6) {
						case 0:
							w.cut.Store(!w.cut.Load())
						case 1:
							w.takes(upTo(20*time.Second), true)
						case 2:
							w.thaw()
							w.stop()
							delete(live, w)
							live[f.process(divisions[random.IntN(len(divisions))])] = time.Time{}
						default:
							if since.IsZero() {
								live[w] = time.Now()
								w.freeze()
								break
							}
							if time.Since(since) > 15*time.Second && w.works() {
								stood++
							}
							live[w] = time.Time{}
							w.thaw()
						}
					}
					f.pass(upTo(12 * time.Second))
				}
				var ours []*worker
				for range 2 {
					ours = append(ours, f.process(eight))
				}
				for _, w := range f.replicas {
					w.thaw()
					w.cut.Store(w.isDead())
					if w != ours[0] && w != ours[1] {
						w.stop()
					}
				}
				f.pass(2*time.Minute + handOver)
				f.divided("it is over", ours...)
			})
		})
	}
	if stood < int(seeds) {
		t.Errorf("only %d times a replica with work stood still for longer than its Lease", stood)
	}
}

// works reports whether anything is in progress, or may be.
func (w *worker) works() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.leases) > 0
}

func (w *worker) isDead() bool {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}
