// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
)

// splitText is how bounds would be split, beside how they are.
func (c *comparison) splitText(f *v1alpha1.FederatedHPA, now time.Time) string {
	b := &strings.Builder{}
	p, n := c.Present.Split, c.Changed.Split
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d..%d by %s, and then %d..%d by %s, by what was known %s\n",
		f.Namespace, f.Name, p.Min, p.Max, p.Policy, n.Min, n.Max, n.Policy, ago(c.Present.Time.Time, now))
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    CLUSTER\tRUNS\tNOW\tTHEN\t")
	moved := false
	for i := range n.Clusters {
		then := &n.Clusters[i]
		at := slices.IndexFunc(p.Clusters, func(c v1alpha1.ClusterSplit) bool { return c.Name == then.Name })
		if at < 0 {
			continue
		}
		note := ""
		if before := &p.Clusters[at]; bounds(before) != bounds(then) {
			note, moved = "changes", true
		}
		_, _ = fmt.Fprintf(t, "    %s\t%d\t%s\t%s\t%s\n", told(then.Name), then.Runs, bounds(&p.Clusters[at]), bounds(then), note)
	}
	_ = t.Flush()
	if !moved {
		b.WriteString("  no cluster would get other bounds\n")
	}
	for _, caveat := range c.Caveats {
		b.WriteString("  " + caveat + "\n")
	}
	b.WriteString("  An edit of the spec has the bounds split again. What runs within them is for the clusters' own autoscalers to say.\n")
	b.WriteString("then:\n" + explanation.Text(c.Changed))
	return b.String()
}

// bounds are such as 1..7; of a cluster without an autoscaler none.
func bounds(c *v1alpha1.ClusterSplit) string {
	if c.Max == 0 {
		return "none"
	}
	return fmt.Sprintf("%d..%d", c.Min, c.Max)
}
