// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/historyapi"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/memberapi"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Usage answers for the fleet.
type Usage interface {
	Pods(context.Context, usage.Question) fleet.Answer[usage.Selection]
	Nodes(context.Context, usage.Question) fleet.Answer[usage.Selection]
}

// Options of an Adapter.
type Options struct {
	// APIs are the groups of metrics to serve.
	APIs []string
	// Usage answers for metrics.k8s.io; unused where that is not served.
	Usage Usage
	// Relay answers for custom.metrics.k8s.io and external.metrics.k8s.io;
	// unused where neither is served.
	Relay Relay
	// Members are served as members.fleetscale.io; nil: these are not served.
	Members *memberapi.Store
	// History is served as history.fleetscale.io; nil: it is not.
	History *historyapi.History
	// MemberGrace is for how long a silent member keeps an answer back that
	// would be wrong without it.
	MemberGrace time.Duration
	// Clusters are the names of the registered members, in any order, and which
	// of them is the hub itself; empty when it is none of them.
	Clusters func() (names []string, hub string)
	// Drained is true for members that are drained: nobody waits for them while they are silent.
	Drained func(name string) bool
	// Scope is the namespaces that are answered for. Others are refused, and an answer for all is one for these.
	Scope tenancy.Scope
	// LocalUsers get the hub's own pods and nodes only, if the hub is a member:
	// controllers that decide for workloads of the hub alone.
	LocalUsers []string
	// MaxAnswerBytes bounds what answers take in memory while they are written.
	MaxAnswerBytes int64
}

// Adapter serves metrics.k8s.io, custom.metrics.k8s.io, external.metrics.k8s.io, members.fleetscale.io and history.fleetscale.io.
type Adapter struct {
	apis        sets.Set[string]
	usage       Usage
	relay       Relay
	members     *memberapi.Store
	history     *historyapi.History
	memberGrace time.Duration
	clusters    func() (names []string, hub string)
	drained     func(name string) bool
	scope       tenancy.Scope
	localUsers  sets.Set[string]
	budget      *budget
	freshness   metrics.FreshnessObserver
}

// New returns an adapter.
func New(o Options) *Adapter {
	return &Adapter{
		apis:        sets.New(o.APIs...),
		usage:       o.Usage,
		relay:       o.Relay,
		members:     o.Members,
		history:     o.History,
		memberGrace: o.MemberGrace,
		clusters:    o.Clusters,
		drained:     o.Drained,
		scope:       o.Scope,
		localUsers:  sets.New(o.LocalUsers...),
		budget:      newBudget(o.MaxAnswerBytes),
		freshness:   metrics.NewFreshnessObserver(groupName),
	}
}
