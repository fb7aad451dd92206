// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
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
		b.WriteString("  BY USE is what the container's use calls for, and TARGET what bounds make of it. A Pod is changed only if it " +
			"requests\n" +
			"  less than the lower, or more than the upper, of the last two.\n")
	}
	for _, c := range o.Status.Conditions {
		if c.Status != "True" && c.Message != "" {
			fmt.Fprintf(b, "  %s is %s, %s: %s\n", told(c.Type), c.Status, told(c.Reason), told(c.Message))
		}
	}
	if o.Spec.Goals != nil {
		fmt.Fprintf(b, "  why %d replicas: kubectl fleetscale explain fhpa/NAME -n %s, with the FederatedHPA that it owns\n",
			o.Status.DesiredReplicas, o.Namespace)
	}
	return b.String()
}

func rows(w io.Writer, c *v1alpha1.ContainerRecommendation) {
	for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		of := func(s v1alpha1.Size) string { return amount(s, resource) }
		_, _ = fmt.Fprintf(w, "    %s\t%s\t%s\t%s\t%s\t%s and %s\n", c.ContainerName, resource, of(c.UncappedTarget), caps(c, resource),
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
