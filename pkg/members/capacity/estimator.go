// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Options of an Estimator.
type Options struct {
	// Pods knows the members' Pods, those of all their namespaces too. The caller runs it.
	Pods *pods.Store
	// Scope is the namespaces that members are asked for. Nodes have none: if it is not all, the room for Pods is not known.
	Scope tenancy.Scope
	// Hub is where Karmada's Clusters may be. Nil: they are not asked for.
	Hub dynamic.Interface
	// Kinds knows which kinds the hub serves: one that is not Karmada's refuses to list Clusters who has no right to. Nil: it is asked.
	Kinds meta.RESTMapper
	// KeepFor is how long a member's nodes and quotas are read after they were last asked for. Zero: the mirrors' default.
	KeepFor time.Duration
	// Timeout bounds a request to the hub (5 s).
	Timeout time.Duration
}

// Estimator knows the room of those members that somebody asks for. All methods may be called from any goroutine.
type Estimator struct {
	members *members
	sources []source
}

// New returns an estimator that asks nobody until it runs.
func New(o Options) *Estimator {
	e := &Estimator{members: newMembers(o)}
	e.sources = append(e.sources, e.members)
	if o.Hub != nil {
		e.sources = append(e.sources, newSummaries(o))
	}
	return e
}

// Run keeps the estimator until ctx ends, and returns nil when everything it started has ended. It must be called once.
func (e *Estimator) Run(ctx context.Context) error { return e.members.run(ctx) }

// Estimate is the room of one member for one workload, by the first source that knows it; if none does, why the first
// does not. The first question for a member waits until its nodes and Pods are listed, at most until ctx ends.
func (e *Estimator) Estimate(ctx context.Context, m mirror.Member, w fit.Workload) Estimate {
	var first Estimate
	for i, s := range e.sources {
		got := s.estimate(ctx, m, w)
		if got.Known {
			return got
		}
		if i == 0 {
			first = got
		}
	}
	return first
}
