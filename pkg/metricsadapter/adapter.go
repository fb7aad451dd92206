// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/usage"
)

// Usage answers for the fleet.
type Usage interface {
	Pods(context.Context, usage.Question) fleet.Answer[usage.Selection]
	Nodes(context.Context, usage.Question) fleet.Answer[usage.Selection]
}

// Options of an Adapter.
type Options struct {
	Usage Usage
	// Clusters are the names of the registered members, in any order, and which
	// of them is the hub itself; empty when it is none of them.
	Clusters func() (names []string, hub string)
	// LocalUsers get the hub's own pods and nodes only, if the hub is a member:
	// controllers that decide for workloads of the hub alone.
	LocalUsers []string
	// MaxAnswerBytes bounds what answers take in memory while they are written.
	MaxAnswerBytes int64
}

// Adapter serves metrics.k8s.io.
type Adapter struct {
	usage      Usage
	clusters   func() (names []string, hub string)
	localUsers sets.Set[string]
	budget     *budget
	freshness  metrics.FreshnessObserver
}

// New returns an adapter.
func New(o Options) *Adapter {
	return &Adapter{
		usage:      o.Usage,
		clusters:   o.Clusters,
		localUsers: sets.New(o.LocalUsers...),
		budget:     newBudget(o.MaxAnswerBytes),
		freshness:  metrics.NewFreshnessObserver(groupName),
	}
}
