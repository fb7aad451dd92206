// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"errors"
	"testing"
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
