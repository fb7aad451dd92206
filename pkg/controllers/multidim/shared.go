// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// share reads whether the cluster runs the workload by whose template Pods are sized. That on the hub counts for all. One that was read
// in a cluster does not by itself: by what that says of labels and sizes, Pods of other workloads would be changed elsewhere.
func (c *cluster) share(ctx context.Context, in *situation, known map[string]bool) {
	from := in.template.from
	if c.shares = from == "" || from == c.name || known[c.name]; c.shares || c.Silence() != nil {
		return
	}
	found, err := c.Get(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
	if err != nil {
		if _, absent := fleet.Classify(err); !absent && !meta.IsNoMatchError(err) {
			c.unshared = fmt.Sprintf("its workload cannot be read: %v", err)
		}
		return
	}
	its, err := parse(found, func() (string, error) { return c.selector(ctx, in) })
	switch {
	case err != nil:
		c.unshared = fmt.Sprintf("its workload cannot be read: %v", err)
	case !its.alike(in.template):
		c.unshared = fmt.Sprintf("its workload has other labels, containers or requests than that in cluster %s, by which sizes are made: make "+
			"them alike, or put the workload on the hub", from)
	default:
		c.shares = true
	}
}

// alike reports whether both make Pods that are known and sized in the same way.
func (t *template) alike(other *template) bool {
	its, others := t.shape(), other.shape()
	return t.selector.String() == other.selector.String() && equality.Semantic.DeepEqual(t.matchLabels(), other.matchLabels()) &&
		equality.Semantic.DeepEqual(its.Running(), others.Running())
}
