// SPDX-License-Identifier: Apache-2.0

// Package shardlease has replicas of a program hold shards of its objects, each by a Lease of the hub. A Lease is taken, renewed and
// released by client-go's leader election; which to try for and which to give up is said by [shards.Decide], of what one list of the
// Leases shows once in a retry period. A replica has a Lease of its own, too, only to be counted.
//
// Work on a shard begins once its Lease is held and a list that began after that shows no replica with another division at work. It ends
// before the Lease is released. If the Lease could not be renewed for the renew deadline, nothing is written any more ([fence]), some
// seconds before anybody else may take it; so it is with the Lease of a leader ([Lock]), who without shards begins once nobody holds any
// ([Alone]). As in all leader elections nothing keeps a write that was sent by then from arriving later.
package shardlease

import (
	"context"
	"time"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Options configure an [Elector].
type Options struct {
	Leases    coordinationv1client.LeasesGetter
	Namespace string
	// Name and Domain begin and end the names of all Leases of the program; Leader is that of its leader, which this package only reads.
	Name, Domain, Leader string
	// ID is the [Identity] of this replica; the leader among replicas with as many shards has one such, too.
	ID     string
	Shards int
	// Annotations are of the replica's own Lease: what others may know of it.
	Annotations map[string]string
	// LeaseDuration, RenewDeadline and RetryPeriod are those of the library's elections.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	Work                                      Work
}

// Work is done on the shards that are held.
type Work interface {
	// Begin is told that work on a shard may begin. It ends with ctx, and what it writes passes the fence of ctx.
	Begin(ctx context.Context, shard int)
	// End returns once nothing is in progress in a shard any more, nor remembered of it. Where ctx has not ended there is time to
	// complete what is in progress.
	End(shard int)
}
