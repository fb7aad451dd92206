// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/fence"
	"github.com/fleetscale/fleetscale/pkg/hub/shardlease"
)

// candidate is this replica where the objects are divided: among those that may lead, and that may have shards.
type candidate struct {
	id    string
	hub   kubernetes.Interface
	lease resourcelock.Interface
}

// newCandidate returns nil where one leader reconciles all, or the program only observes.
func newCandidate(config *rest.Config, o *Options) (*candidate, error) {
	if !o.Leader.divides() || o.Observing.Observe {
		return nil, nil
	}
	id, err := shardlease.Identity(o.Leader.Shards)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Timeout = o.Leader.RenewDeadline / 2 // so that one request that hangs does not lose a Lease
	hub, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to take Leases: %w", err)
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, o.Leader.Namespace, lease, hub.CoreV1(), hub.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: id})
	if err != nil {
		return nil, fmt.Errorf("preparing to lead: %w", err)
	}
	return &candidate{id, hub, shardlease.Own(lock)}, nil
}

// lock is the leader's Lease; nil: as the library makes it.
func (c *candidate) lock() resourcelock.Interface {
	if c == nil {
		return nil
	}
	return c.lease
}

// recordedAt has, of the Lease of a replica, where it serves its record of decisions.
const recordedAt = "fleetscale.io/record-address"

// addShards has the replica hold shards, and tells where the other replicas serve their records; nil: the leader has all objects.
func addShards(manager ctrl.Manager, c *candidate, told *sharding.Metrics, o *Options) (*sharding.Shards, func() []string, error) {
	if c == nil {
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

// fenced has clients of the configuration write nothing of shards that were lost.
func fenced(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return fence.Transport(next) })
}
