// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"

	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/sizing"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// move resizes and evicts Pods, in all clusters at once, as far as the rates and the time allow it. What is left comes again.
func (r *Reconciler) move(ctx context.Context, p *plan) {
	workload.Each(ctx, r.Fleet.Timeout, p.clusters, func(ctx context.Context, c *cluster) {
		limiter := r.limiters.of(c.name, p.Now)
		for _, move := range c.moves {
			if ctx.Err() != nil || !limiter.take(move.Way, p.Now) {
				return
			}
			err := c.do(ctx, p.Object.Namespace, move)
			c.note(move, err, p)
			klog.FromContext(ctx).V(2).Info("Changed a Pod", "cluster", c.name, "pod", move.Pod.Name, "way", move.Way, "err", err)
			if refused := refusedBy(err); err != nil && refused == nil || refused != nil && refused.Why == sizing.RefusedRight {
				return // which will happen to all others, too
			}
		}
	})
}

func refusedBy(err error) *sizing.Refused {
	var refused *sizing.Refused
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}

func (c *cluster) do(ctx context.Context, namespace string, move sizes.Move) error {
	var ref sizing.PodRef
	for i := range c.pods.Pods {
		if p := &c.pods.Pods[i]; string(p.UID) == move.Pod.UID {
			ref = sizing.PodRef{Name: p.Name, UID: p.UID}
		}
	}
	if move.Way == sizes.WayEvict {
		return c.Evict(ctx, namespace, ref)
	}
	return c.Resize(ctx, namespace, ref, changesOf(move))
}

// changesOf is what a resize changes.
func changesOf(move sizes.Move) (all []sizing.ContainerResources) {
	for i, to := range move.Resize.Containers {
		is := &move.Pod.Containers[i]
		c := sizing.ContainerResources{Name: is.Name, Requests: changed(is.Requests, to.Requests), Limits: changed(is.Limits, to.Limits)}
		if nothing := (pods.Resources{MilliCPU: pods.None, Memory: pods.None}); c.Requests != nothing || c.Limits != nothing {
			all = append(all, c)
		}
	}
	return all
}

// changed has None for what stays.
func changed(is, to sizes.Amounts) pods.Resources {
	for r := range recommendation.ResourceNames {
		if to[r] == is[r] {
			to[r] = pods.None
		}
	}
	return pods.Resources{MilliCPU: to[sizes.CPU], Memory: to[sizes.Memory]}
}

// note remembers what came of a move.
func (c *cluster) note(move sizes.Move, err error, p *plan) {
	c.sent = append(c.sent, outcome{move, err})
	switch refused := refusedBy(err); {
	case err == nil, refused == nil && move.Way == sizes.WayEvict: // whose answer was lost
		c.memory.past.Sent(move)
		if move.Way == sizes.WayEvict {
			c.memory.evictions = append(c.memory.evictions, p.Now)
		}
	case refused == nil, refused.Why == sizing.RefusedGone, refused.Why == sizing.RefusedRight && move.Way != sizes.WayEvict:
	case refused.Why == sizing.RefusedNode && move.Way != sizes.WayEvict:
		c.memory.past.TooLarge(move)
	default:
		c.memory.past.Refused(move, p.Now)
	}
}
