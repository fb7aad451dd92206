// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// distributed is why the bounds are split as they are. What each cluster decides within its bounds is up to its own
// HorizontalPodAutoscaler, whose words are repeated.
func distributed(o *v1alpha1.FederatedHPA) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d..%d replicas, split by %s%s\n", o.Namespace, o.Name, ptr.Deref(o.Spec.MinReplicas, 1),
		o.Spec.MaxReplicas, cmp.Or(o.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType, "Duplicated"), state(o))
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    CLUSTER\tMIN\tMAX\tRUNS\tREADY\tWANTS\tROOM\tWEIGHT\tPRIORITY\tSTATE\tWHY")
	var least, most []string
	minSum, maxSum := int64(0), int64(0)
	for i := range o.Status.Clusters {
		c := &o.Status.Clusters[i]
		wants, why := "-", strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		if c.HPA != nil {
			wants = fmt.Sprint(c.HPA.DesiredReplicas)
			if why == "" {
				why = limitOf(c)
			}
		}
		_, _ = fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", told(c.Name), number(c.AssignedMin), number(c.AssignedMax),
			number(c.CurrentReplicas), number(c.ReadyReplicas), wants, number(c.AvailableReplicas), number(c.Weight), number(c.Priority),
			c.State, fleet.PrintableLine(why, 200))
		least, minSum = append(least, fmt.Sprint(ptr.Deref(c.AssignedMin, 0))), minSum+int64(ptr.Deref(c.AssignedMin, 0))
		most, maxSum = append(most, fmt.Sprint(ptr.Deref(c.AssignedMax, 0))), maxSum+int64(ptr.Deref(c.AssignedMax, 0))
	}
	_ = t.Flush()
	if len(least) > 0 && len(least) <= 20 {
		fmt.Fprintf(b, "    min        %s = %d\n", strings.Join(least, " + "), minSum)
		fmt.Fprintf(b, "    max        %s = %d\n", strings.Join(most, " + "), maxSum)
	}
	b.WriteString("  MIN and MAX are the bounds of each cluster's own HorizontalPodAutoscaler, which decides within them, and says WANTS.\n" +
		"  ROOM is how many replicas the cluster can host. The bounds are split by WEIGHT or PRIORITY, where the split goes by them.\n")
	if memory := o.Status.Assignment; memory != nil && memory.UnreachableMax != nil {
		fmt.Fprintf(b, "  clusters that cannot be told keep their bounds: up to %d replicas beyond maxReplicas may run\n", *memory.UnreachableMax)
	}
	for _, c := range o.Status.Conditions {
		if c.Status == "True" && (c.Type == v1alpha1.MaxNotAssignable || c.Type == v1alpha1.MinThresholdNotMet ||
			c.Type == v1alpha1.AllClustersSaturated || c.Type == v1alpha1.CapacityUnknown || c.Type == v1alpha1.PreferenceUnmatched) {
			fmt.Fprintf(b, "  %s: %s\n", c.Type, told(c.Message))
		}
	}
	return b.String()
}

// limitOf is what the autoscaler of a cluster says of what limits it.
func limitOf(c *v1alpha1.ClusterStatus) string {
	for _, is := range c.HPA.Conditions {
		if is.Type == "ScalingLimited" && is.Status == "True" {
			return is.Reason
		}
	}
	return ""
}

func number[T int32 | int64](n *T) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
