// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// As the library releases: it reads the Lease, and then writes that nobody holds it.
func TestOnlyWhatIsOwnIsReleased(t *testing.T) {
	for holder, want := range map[string]error{"me": nil, "other": errTaken, "": errTaken} {
		t.Run("held by "+holder, func(t *testing.T) {
			hub := fake.NewClientset(&coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shard"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
			})
			lease := NewLock(&resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "shard"}, Client: hub.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
			}, time.Second)
			if _, _, err := lease.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := lease.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, want) {
				t.Errorf("releasing it: %v, want %v", err, want)
			}
			after, _, err := lease.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want != nil && after.HolderIdentity != holder {
				t.Errorf("it is held by %q, want %q", after.HolderIdentity, holder)
			}
		})
	}
}

// A Lease that takes long to be renewed is so from when that was sent; and one that was not renewed in time is lost, though nobody has
// taken it: others may have seen it expire.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &replica{hub: &hub{}}
		lock := NewLock(&resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Name: "shard"}, Client: r, LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		}, renewDeadline)
		me := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
		check := func(when string, want error) {
			t.Helper()
			if err := lock.Fence(); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", when, err, want)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		check("it was not taken", nil)
		must(lock.Create(t.Context(), me))
		time.Sleep(8 * time.Second)
		r.slow.Store(int64(4 * time.Second))
		must(lock.Update(t.Context(), me))
		check("it was renewed", nil)
		time.Sleep(6*time.Second - time.Nanosecond)
		check("it was renewed almost as long ago", nil)
		time.Sleep(time.Nanosecond)
		check("it was renewed as long ago", errLost)
		if err := lock.Update(t.Context(), me); !errors.Is(err, errLost) {
			t.Errorf("renewing what is lost: %v, want %v", err, errLost)
		}
		if _, _, err := lock.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		must(lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}))
		check("it was released", errLost)
	})
}

// Who sees that another has the Lease, as after somebody has deleted it, writes nothing, however short ago it was renewed.
func TestFenceOfWhatAnotherHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all hub
		lockOf := func(who string) *Lock {
			return NewLock(&resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Name: "shard"}, Client: &replica{hub: &all}, LockConfig: resourcelock.ResourceLockConfig{Identity: who},
			}, renewDeadline)
		}
		first, next := lockOf("first"), lockOf("next")
		if err := first.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "first"}); err != nil {
			t.Fatal(err)
		}
		clear(all.leases)
		if err := next.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "next"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			of   *Lock
			want error
		}{{first, errLost}, {next, nil}, {lockOf("third"), nil}} {
			if _, _, err := c.of.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.of.Fence(); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.of.Identity(), err, c.want)
			}
		}
	})
}
