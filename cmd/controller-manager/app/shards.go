// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/fence"
	"github.com/fleetscale/fleetscale/pkg/hub/shardlease"
)

// candidate is this replica among those that may lead, and that may have shards.
type candidate struct {
	id    string
	hub   kubernetes.Interface
	lease *resourcelock.LeaseLock
	own   *shardlease.Lock
}

// newCandidate returns nil where nobody is elected. The leader's Lease is the library's in name and content.
func newCandidate(config *rest.Config, o *Options) (*candidate, error) {
	if !o.Leader.Elect || o.Observing.Observe { // which takes writes, and any number may observe
		return nil, nil
	}
	id, err := shardlease.Identity(o.Leader.Shards)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.UserAgent += "/leader-election"                      // as the library has it
	config.Timeout = max(time.Second, o.Leader.RenewDeadline/2) // so that one request that hangs does not lose a Lease
	hub, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to take Leases: %w", err)
	}
	c := &candidate{id: id, hub: hub, lease: &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: o.Leader.Namespace, Name: lease}, Client: hub.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: id},
	}}
	var leader resourcelock.Interface = c.lease
	if !o.Leader.divides() {
		leader = shardlease.Alone(leader, hub.CoordinationV1().Leases(o.Leader.Namespace))
	}
	c.own = shardlease.NewLock(leader, o.Leader.RenewDeadline)
	return c, nil
}

// stands has a manager have its leader elected; nil: nobody is.
func (c *candidate) stands(ctx context.Context, options *ctrl.Options) {
	if c == nil {
		return
	}
	options.LeaderElection, options.LeaderElectionID, options.LeaderElectionResourceLockInterface = true, lease, c.own
	options.LeaderElectionReleaseOnCancel = true // nothing is done after Start returns
	// Whoever has lost the Lease writes nothing. Work on shards has fences of its own.
	options.BaseContext = func() context.Context { return fence.With(context.WithoutCancel(ctx), c.own.Fence) }
}

// tells has Events tell who leads, as the library does, which knows no newer recorder.
func (c *candidate) tells(by interface {
	GetEventRecorderFor(name string) record.EventRecorder
}) {
	if c != nil {
		c.lease.LockConfig.EventRecorder = by.GetEventRecorderFor(c.id)
	}
}

// recordedAt has, of the Lease of a replica, where it serves its record of decisions.
const recordedAt = "fleetscale.io/record-address"

// addShards has the replica hold shards, and tells where the other replicas serve their records; nil: the leader has all objects.
func addShards(manager ctrl.Manager, c *candidate, told *sharding.Metrics, o *Options) (*sharding.Shards, func() []string, error) {
	if !o.Leader.divides() || c == nil {
		return nil, nil, nil
	}
	shards := sharding.New(sharding.Options{
		Shards: o.Leader.Shards, Hub: manager.GetClient(), Live: manager.GetAPIReader(), Timeout: o.Hub.Timeout, Metrics: told,
	})
	elector, err := shardlease.New(shardlease.Options{
		Leases: c.hub.CoordinationV1(), Namespace: o.Leader.Namespace, Name: leaseName, Domain: leaseDomain, Leader: lease,
		ID: c.id, Shards: o.Leader.Shards,
		LeaseDuration: o.Leader.LeaseDuration, RenewDeadline: o.Leader.RenewDeadline, RetryPeriod: o.Leader.RetryPeriod,
		Work: shards, Annotations: map[string]string{recordedAt: o.Records.address()},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("preparing to hold shards: %w", err)
	}
	return shards, func() []string { return elector.Others(recordedAt) }, manager.Add(everywhere(elector.Run))
}

// fenced has clients of the configuration write nothing of what was lost with a Lease.
func fenced(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return fence.Transport(next) })
}
