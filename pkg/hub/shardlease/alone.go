// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Alone has a leader without shards begin only once no shard is held, by a list of the namespace's Leases that began after it
// had taken its own. Those who hold shards give up all when they see such a leader; who takes one later sees it before work begins.
func Alone(leader resourcelock.Interface, leases coordinationv1client.LeaseInterface) resourcelock.Interface {
	return &alone{Interface: leader, leases: leases}
}

// alone is used by one election, which does one thing at a time. It takes a write that has taken or renewed the Lease for failed as long
// as shards are held, so that the election continues to renew it, and does not begin.
type alone struct {
	resourcelock.Interface
	leases coordinationv1client.LeaseInterface
	seen   sightings
	is     bool
}

func (a *alone) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := a.Interface.Create(ctx, record); err != nil {
		return err
	}
	return a.look(ctx)
}

func (a *alone) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := a.Interface.Update(ctx, record); err != nil || a.is || record.HolderIdentity == "" {
		return err
	}
	return a.look(ctx)
}

func (a *alone) look(ctx context.Context) error {
	found, err := a.leases.List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) { // nor may others of this account list them, as they would have to for shards
		a.is = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing the Leases of shards: %w", err)
	}
	now := time.Now()
	a.seen.saw(found.Items, now)
	for name := range a.seen {
		if a.seen.works(name, now) != 0 {
			return fmt.Errorf("the Lease is held, but nothing is done before %s is no longer held", name)
		}
	}
	a.is = true
	return nil
}
