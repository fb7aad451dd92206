// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// multidim is why Pods are to have the sizes that are recommended. Why there are so many of them is explained of the FederatedHPA of
// the same name, where there are goals.
func multidim(o *v1alpha1.MultidimPodAutoscaler) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "MultidimPodAutoscaler %s/%s sizes %s %s\n", o.Namespace, o.Name, o.Spec.ScaleTargetRef.Kind, o.Spec.ScaleTargetRef.Name)
	recommended := o.Status.Recommendation
	if recommended == nil {
		b.WriteString("  nothing is recommended yet; the conditions of the object say why\n")
	} else {
		t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
		_, _ = fmt.Fprintln(t, "    CONTAINER\tRESOURCE\tBY USE\tCAPPED BY\tTARGET\tUNCHANGED BETWEEN")
		for i := range recommended.Containers {
			rows(t, &recommended.Containers[i])
		}
		_ = t.Flush()
		if o.Status.Explanation != nil {
			b.WriteString(explanation.SizesText(o.Status.Explanation))
		}
		b.WriteString("  BY USE is what the container's use calls for, and TARGET what bounds make of it. A Pod is changed only if it " +
			"requests\n" +
			"  less than the lower, or more than the upper, of the last two.\n")
	}
	for i := range o.Status.Clusters {
		if why := unsized(&o.Status.Clusters[i]); why != "" {
			fmt.Fprintf(b, "  cluster %s: %s\n", told(o.Status.Clusters[i].Name), why)
		}
	}
	if s := o.Status.Savings; s != nil {
		saved(b, s)
	}
	for _, c := range o.Status.Conditions {
		if c.Status != "True" && c.Message != "" {
			fmt.Fprintf(b, "  %s is %s, %s: %s\n", told(c.Type), c.Status, told(c.Reason), told(c.Message))
		}
	}
	if o.Spec.Goals != nil {
		desired := "so many"
		if n := summary.MultidimDesired(o); n != nil {
			desired = fmt.Sprint(*n)
		}
		fmt.Fprintf(b, "  why %s replicas: kubectl fleetscale explain fhpa/NAME -n %s, with the FederatedHPA that it owns\n",
			desired, o.Namespace)
	}
	return b.String()
}

// unsized is why Pods of a cluster do not have the size that is recommended; empty: they do, or nothing is in their way.
func unsized(c *v1alpha1.MultidimClusterStatus) string {
	var all []string
	say := func(n *int32, format string) {
		if ptr.Deref(n, 0) > 0 {
			all = append(all, fmt.Sprintf(format, *n))
		}
	}
	if c.Pods != nil && c.AsRecommended != nil && *c.AsRecommended < *c.Pods {
		all = append(all, fmt.Sprintf("%d of %d Pods have their size", *c.AsRecommended, *c.Pods))
	}
	say(c.Resizing, "%d are being resized")
	say(c.Deferred, "%d wait for room on their node")
	say(c.Infeasible, "%d have a node that can never give it")
	say(c.EvictedLastHour, "%d were evicted in the last hour")
	if c.Admission != "" && c.Admission != v1alpha1.AdmissionInstalled {
		all = append(all, "new Pods do not get it, as admission is "+string(c.Admission))
	}
	if c.Reason != "" {
		all = append(all, told(strings.TrimSuffix(fmt.Sprintf("%s, %s: %s", c.State, c.Reason, c.Message), ": ")))
	}
	for _, container := range containersOf(c.Recommendation) {
		for _, by := range container.CappedBy {
			all = append(all, fmt.Sprintf("its own size of %s is bounded by %s", told(container.ContainerName), told(by.Reason)))
		}
	}
	return strings.Join(all, "; ")
}

func containersOf(r *v1alpha1.SizeRecommendation) []v1alpha1.ContainerRecommendation {
	if r == nil {
		return nil
	}
	return r.Containers
}

// saved is what the recommendation is worth, in thousandths of a core and bytes.
func saved(b *strings.Builder, s *v1alpha1.Savings) {
	line := func(name string, has, wants *resource.Quantity, of func(*resource.Quantity) int64) {
		if has != nil && wants != nil {
			fmt.Fprintf(b, "    %-10s %d - %d = %d\n", name, of(has), of(wants), of(has)-of(wants))
		}
	}
	line("saved cpu", s.Requested.CPU, s.Recommended.CPU, (*resource.Quantity).MilliValue)
	line("saved mem", s.Requested.Memory, s.Recommended.Memory, (*resource.Quantity).Value)
	if s.CostPerHour != "" {
		fmt.Fprintf(b, "  what is saved costs %s an hour, at the prices of the clusters\n", told(s.CostPerHour))
	}
}

func rows(w io.Writer, c *v1alpha1.ContainerRecommendation) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		of := func(s v1alpha1.Size) string { return amount(s, name) }
		_, _ = fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%s\t%s and %s\n", c.ContainerName, name, of(c.UncappedTarget), caps(c, name),
			of(c.Target), of(c.LowerBound), of(c.UpperBound))
	}
}

func caps(c *v1alpha1.ContainerRecommendation, resource corev1.ResourceName) string {
	var all []string
	for _, by := range c.CappedBy {
		if by.Resource == resource {
			all = append(all, by.Reason)
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}

func amount(s v1alpha1.Size, resource corev1.ResourceName) string {
	q := s.CPU
	if resource == corev1.ResourceMemory {
		q = s.Memory
	}
	if q == nil {
		return "-"
	}
	return q.String()
}
