// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/memberapi"
)

// newMembers serves what is known of the members, with what the controller-manager has published of them.
func newMembers(registry *member.Registry, store *usage.Store, published *memberview.Seen) *memberapi.Store {
	members := memberapi.New(memberapi.Options{Fleet: func() []memberapi.Known {
		pods := store.MeasuredPods()
		all := registry.All()
		known := make([]memberapi.Known, 0, len(all))
		for _, m := range all {
			known = append(known, knownOf(m, pods[m.Name()], published))
		}
		return known
	}})
	registry.OnChange(members.Changed)
	return members
}

func knownOf(m *member.Member, pods int, published *memberview.Seen) memberapi.Known {
	k := memberapi.Known{
		Name: m.Name(), Labels: m.Labels(), Source: m.Source(), State: m.State(), Standing: m.Standing(), IsHub: m.IsHub(),
		Traits: m.Traits(), MeasuredPods: pods,
	}
	if offset, known := m.ClockOffset(); known {
		k.ClockOffset = &offset
	}
	if v, stale, known := published.Of(m.Name(), time.Now()); known {
		k.Manager, k.ManagerStale = &v, stale
	}
	return k
}
