// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// maxAge is how long what was last seen of a member counts: its own scheduler continues without us.
const maxAge = 3 * time.Minute

// members reads what members have and run.
type members struct {
	pods   *pods.Store
	nodes  *mirror.Mirror[*corev1.Node, *nodeRecord]
	quotas *mirror.Mirror[*corev1.ResourceQuota, *quotaRecord]
	limits *mirror.Mirror[*corev1.LimitRange, *limitRecord] // estimates do without
}

var _ source = (*members)(nil)

func newMembers(o Options) *members {
	return &members{
		pods:   o.Pods,
		nodes:  newMirror(o, "nodes", func(n *corev1.Node) *nodeRecord { return &nodeRecord{fit.NodeOf(n)} }),
		quotas: newMirror(o, "resourcequotas", newQuotaRecord),
		limits: newMirror(o, "limitranges", newLimitRecord),
	}
}

func newMirror[O runtime.Object, T mirror.Object](o Options, resource string, keep func(O) T) *mirror.Mirror[O, T] {
	return mirror.New(mirror.Options[O, T]{
		Resource: corev1.SchemeGroupVersion.WithResource(resource),
		Keep:     keep, KeepFor: o.KeepFor, MaxAge: maxAge, Scope: o.Scope,
	})
}

func (s *members) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.nodes.Run(ctx) })
	group.Go(func() error { return s.quotas.Run(ctx) })
	group.Go(func() error { return s.limits.Run(ctx) })
	return group.Wait()
}

func (s *members) estimate(ctx context.Context, m mirror.Member, w fit.Workload) Estimate {
	if outside := s.nodes.Outside(""); outside != nil { // the rest says nothing without them
		return unknown(because("nodes", outside))
	}
	var nodes mirror.Answer[*nodeRecord]
	var running mirror.Answer[*pods.Record]
	var quotas mirror.Answer[*quotaRecord]
	var asked sync.WaitGroup
	asked.Go(func() { nodes = s.nodes.Ask(ctx, m, "") })
	asked.Go(func() { running = s.pods.AskAll(ctx, m) })
	asked.Go(func() { quotas = s.quotas.Ask(ctx, m, w.Namespace) })
	asked.Wait()
	switch {
	case !nodes.Known:
		return unknown(because("nodes", nodes.Silence))
	case !running.Known, running.Silence != nil && time.Since(running.AsOf) > maxAge:
		return unknown(because("pods", running.Silence))
	case !quotas.Known:
		return unknown(because("resourcequotas", quotas.Silence))
	}
	c := fit.Inventory{Nodes: nodesOf(nodes), Pods: pods.Rooms(running.Objects), Quotas: quotasOf(quotas)}
	return Estimate{Additional: fit.Estimate(c, w), Known: true, AsOf: earliest(nodes.AsOf, running.AsOf, quotas.AsOf)}
}

// because returns which of the things that an estimate needs is missing.
func because(resource string, why *fleet.Silence) *fleet.Silence {
	return &fleet.Silence{Reason: why.Reason, Detail: fmt.Sprintf("%s cannot be read: %s", resource, why.Detail)}
}

func earliest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.Before(first) {
			first = t
		}
	}
	return first
}

func nodesOf(a mirror.Answer[*nodeRecord]) iter.Seq[*fit.Node] {
	return func(yield func(*fit.Node) bool) {
		for _, r := range a.Objects {
			if !yield(&r.node) {
				return
			}
		}
	}
}

func quotasOf(a mirror.Answer[*quotaRecord]) []corev1.ResourceQuota {
	var all []corev1.ResourceQuota
	for _, r := range a.Objects {
		all = append(all, r.quota)
	}
	return all
}
