// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// predecessor is the VerticalPodAutoscalers of the workload in a cluster, and what they have learned.
type predecessor struct {
	*cluster
	names   []string
	learned []unstructured.Unstructured
	err     error
}

// takeOver begins the history of a cluster with what VerticalPodAutoscalers have learned of the workload there, be it that they
// act or not. Each cluster is asked once in a process, as it is first seen; where something is known of a container, that holds.
func (r *Reconciler) takeOver(ctx context.Context, in *situation, owner history.Owner, memory *memory) {
	if memory.seen == nil {
		memory.seen = map[string]bool{}
	}
	var all []predecessor
	for i := range in.clusters {
		c := &in.clusters[i]
		if c.silent() != nil || memory.seen[c.name] {
			continue
		}
		memory.seen[c.name] = true
		if names := c.sizedBefore(in); len(names) > 0 {
			all = append(all, predecessor{cluster: c, names: names})
		}
	}
	workload.Each(ctx, r.Fleet.Timeout, all, func(ctx context.Context, p *predecessor) {
		p.learned, p.err = p.VPACheckpoints(ctx, in.Object.Namespace)
	})
	for i := range all {
		p := &all[i]
		taken, err := r.importFrom(p, in, owner)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Could not take over all that VerticalPodAutoscalers have learned", "cluster", p.name)
		}
		if len(taken) > 0 {
			in.takenOver = append(in.takenOver, fmt.Sprintf("cluster %s: what VerticalPodAutoscaler %s has learned of container %s is used",
				p.name, strings.Join(p.names, ", "), strings.Join(taken, ", ")))
		}
	}
}

// sizedBefore are the VerticalPodAutoscalers of the workload.
func (c *cluster) sizedBefore(in *situation) (names []string) {
	for _, v := range c.vpas {
		if claims.Same(v.Spec.TargetRef, in.Object.Spec.ScaleTargetRef) {
			names = append(names, v.Name)
		}
	}
	return names
}

// importFrom takes over what can be read, and returns the containers.
func (r *Reconciler) importFrom(p *predecessor, in *situation, owner history.Owner) (taken []string, err error) {
	err = p.err
	for i := range p.learned {
		checkpoint, wrong := history.FromVPA(&p.learned[i], in.Now)
		if wrong != nil {
			err = wrong
			continue
		}
		if !slices.Contains(p.names, checkpoint.VPA) || !in.template.has(checkpoint.Container) {
			continue
		}
		switch took, wrong := r.History.Import(owner, p.name, checkpoint); {
		case wrong != nil:
			err = wrong
		case took:
			taken = append(taken, checkpoint.Container)
		}
	}
	return taken, err
}
