// SPDX-License-Identifier: Apache-2.0

package shardlease

import (
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/fleetscale/fleetscale/pkg/shards"
)

// sighting is since when a Lease was seen as it is, by our own clock: those of others may be wrong.
type sighting struct {
	spec        coordinationv1.LeaseSpec
	annotations map[string]string
	since       time.Time
}

// sightings are of all Leases of the program, by name.
type sightings map[string]sighting

// saw replaces what was seen before.
func (s *sightings) saw(leases []coordinationv1.Lease, now time.Time) {
	seen := make(sightings, len(leases))
	for i := range leases {
		name, spec, annotations := leases[i].Name, leases[i].Spec, leases[i].Annotations
		if before, known := (*s)[name]; known && equality.Semantic.DeepEqual(before.spec, spec) {
			seen[name] = before
			continue
		}
		seen[name] = sighting{spec, annotations, now}
	}
	*s = seen
}

// holder is who holds the Lease; "" is nobody, also if who did has not renewed it for as long as the Lease lasts.
func (s sightings) holder(name string, now time.Time) string {
	if seen := s[name]; !seen.expired(now) {
		return *seen.spec.HolderIdentity
	}
	return ""
}

func (s sighting) expired(now time.Time) bool {
	held, lasts := s.spec.HolderIdentity, s.spec.LeaseDurationSeconds
	return held == nil || *held == "" || lasts == nil || now.Sub(s.since) >= time.Duration(*lasts)*time.Second
}

// shows reports whether the Lease has been seen with that record until it expired.
func (s sightings) shows(name string, record *resourcelock.LeaderElectionRecord, now time.Time) bool {
	seen, known := s[name]
	is := resourcelock.LeaseSpecToLeaderElectionRecord(&seen.spec)
	return known && seen.expired(now) && is.HolderIdentity == record.HolderIdentity && is.RenewTime.Equal(&record.RenewTime) &&
		is.LeaderTransitions == record.LeaderTransitions
}

// abandoned are the Leases of replicas that were not renewed for many times as long as they last: nobody deletes that of a killed one.
func (s sightings) abandoned(o *Options, now time.Time) (leases []string) {
	const many = 20
	for name, seen := range s {
		if strings.HasPrefix(name, o.Name+"-replica-") && now.Sub(seen.since) >= many*o.LeaseDuration {
			leases = append(leases, name)
		}
	}
	return leases
}

// view is what the Leases say to this replica.
func (s sightings) view(o *Options, now time.Time) shards.View {
	v := shards.View{Me: o.ID, Alive: []string{o.ID}, Holders: make([]string, o.Shards), Others: s.others(o, now)}
	for name := range s {
		holder := s.holder(name, now)
		shard, of := shardOf(name)
		switch {
		case of == o.Shards && shard >= 0 && shard < o.Shards && name == o.shardLease(shard):
			v.Holders[shard] = holder
		case of == 0 && name != o.Leader && divides(holder) == o.Shards:
			v.Alive = append(v.Alive, holder)
		}
	}
	return v
}

// annotated are the values of an annotation of the replicas that are alive with our division, but for this one.
func (s sightings) annotated(o *Options, annotation string, now time.Time) (values []string) {
	for name, seen := range s {
		holder := s.holder(name, now)
		if _, of := shardOf(name); of != 0 || name == o.Leader || holder == o.ID || divides(holder) != o.Shards {
			continue
		}
		if value := seen.annotations[annotation]; value != "" {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return values
}

// others is what replicas with another division do. Nobody leads, or one who is no longer seen to: any may be next.
func (s sightings) others(o *Options, now time.Time) shards.Others {
	leader := s.holder(o.Leader, now)
	switch {
	case leader == "":
		return shards.OthersWork
	case divides(leader) != o.Shards:
		return shards.OthersLead
	}
	for name := range s {
		if of := s.works(name, now); of != 0 && of != o.Shards {
			return shards.OthersWork
		}
	}
	return shards.OthersRest
}

// works returns in how many shards the holder of a shard's Lease divides the objects; 0: nobody holds it, or it is no such Lease.
func (s sightings) works(name string, now time.Time) int {
	if _, of := shardOf(name); of != 0 && divides(s.holder(name, now)) == of {
		return of
	}
	return 0
}
