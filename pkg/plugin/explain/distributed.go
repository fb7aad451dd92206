// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// distributed is why the bounds are split as they are. What each cluster decides within its bounds is up to its own
// HorizontalPodAutoscaler, whose words are repeated.
func distributed(o *v1alpha1.FederatedHPA, now time.Time) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "FederatedHPA %s/%s: %d..%d replicas, split by %s%s\n", o.Namespace, o.Name, ptr.Deref(o.Spec.MinReplicas, 1),
		o.Spec.MaxReplicas, cmp.Or(o.Spec.FederatedHPAAssignment.FederatedHPAAssignmentType, "Duplicated"), state(o))
	clusterTable(b, o.Status.Clusters)
	e := o.Status.Explanation
	explained := e != nil && e.Split != nil
	if !explained {
		sums(b, o.Status.Clusters)
	}
	b.WriteString("  MIN and MAX are the bounds of each cluster's own HorizontalPodAutoscaler, which decides within them, and says WANTS.\n" +
		"  ROOM is how many replicas the cluster can host. The bounds are split by WEIGHT or PRIORITY, where the split goes by them.\n")
	if explained {
		b.WriteString("  why, " + ago(e.Time.Time, now) + ": " + settled(o, e, now) + "\n" + explanation.Text(e))
	}
	if memory := o.Status.Assignment; memory != nil && memory.UnreachableMax != nil {
		fmt.Fprintf(b, "  clusters that cannot be told keep their bounds: up to %d replicas beyond maxReplicas may run\n", *memory.UnreachableMax)
	}
	for _, c := range o.Status.Conditions {
		if c.Status == corev1.ConditionTrue && ofSplit(c.Type) {
			fmt.Fprintf(b, "  %s: %s\n", c.Type, told(c.Message))
		}
	}
	return b.String()
}

func clusterTable(b *strings.Builder, clusters []v1alpha1.ClusterStatus) {
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "    CLUSTER\tMIN\tMAX\tRUNS\tREADY\tWANTS\tROOM\tWEIGHT\tPRIORITY\tSTATE\tWHY")
	for i := range clusters {
		c := &clusters[i]
		wants, why := "-", strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		if c.HPA != nil {
			wants = number(summary.DesiredOf(c.HPA))
			if why == "" {
				why = limitOf(c)
			}
		}
		_, _ = fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", told(c.Name), number(c.AssignedMin), number(c.AssignedMax),
			number(c.CurrentReplicas), number(c.ReadyReplicas), wants, number(c.AvailableReplicas), number(c.Weight), number(c.Priority),
			c.State, fleet.PrintableLine(why, 200))
	}
	_ = t.Flush()
}

// mostAdded is up to how many clusters their bounds are added up in one line.
const mostAdded = 20

// sums add the bounds of clusters up.
func sums(b *strings.Builder, clusters []v1alpha1.ClusterStatus) {
	if len(clusters) == 0 || len(clusters) > mostAdded {
		return
	}
	var least, most []string
	minSum, maxSum := int64(0), int64(0)
	for i := range clusters {
		lower, upper := ptr.Deref(clusters[i].AssignedMin, 0), ptr.Deref(clusters[i].AssignedMax, 0)
		least, minSum = append(least, fmt.Sprint(lower)), minSum+int64(lower)
		most, maxSum = append(most, fmt.Sprint(upper)), maxSum+int64(upper)
	}
	fmt.Fprintf(b, "    min        %s = %d\n", strings.Join(least, " + "), minSum)
	fmt.Fprintf(b, "    max        %s = %d\n", strings.Join(most, " + "), maxSum)
}

// ofSplit: a condition of that type says why the bounds cannot be split as they should be.
func ofSplit(condition autoscalingv2.HorizontalPodAutoscalerConditionType) bool {
	switch condition {
	case v1alpha1.MaxNotAssignable, v1alpha1.MinThresholdNotMet, v1alpha1.AllClustersSaturated, v1alpha1.CapacityUnknown,
		v1alpha1.PreferenceUnmatched:
		return true
	default:
		return false
	}
}

// settled says what moved bounds last, and what keeps them from moving.
func settled(o *v1alpha1.FederatedHPA, e *v1alpha1.DecisionExplanation, now time.Time) string {
	text := because(e.LimitedBy)
	if e.Split.Action != "" && e.Split.Moved != nil {
		text = fmt.Sprintf("bounds moved last %s, by %s; %s", ago(e.Split.Moved.Time, now), told(e.Split.Action), text)
	}
	a := o.Spec.FederatedHPAAssignment
	r := a.RebalanceOrDefault()
	memory := o.Status.Assignment
	if r.Strategy == v1alpha1.RebalanceNone || memory == nil || memory.LastRebalanceTime == nil {
		return text
	}
	if next := memory.LastRebalanceTime.Add(time.Duration(*r.IntervalSeconds) * time.Second); next.After(now) {
		text += fmt.Sprintf("; they follow %s again %s", strings.ToLower(string(r.Strategy)), ago(next, now))
	}
	return text
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
