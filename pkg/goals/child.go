// SPDX-License-Identifier: Apache-2.0

package goals

import (
	"cmp"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Result is what goals come to.
type Result struct {
	// Spec is what the FederatedHPA is to be. It is nil without goals, and while a goal cannot be translated: then a FederatedHPA
	// that is there stays as it is.
	Spec *v1alpha1.FederatedHPASpec
	// Floors are the goals of the resources that are sized too, by resource and container.
	Floors []Floor
	// Faults are in the order of the goals.
	Faults []Fault
}

// Floor is how much of a resource a Pod may use until the fleet grows. Who may still be joined by others needs to request that
// much.
type Floor struct {
	Resource  corev1.ResourceName
	Container string // the goal's; empty: all of the Pod's together
	Use       int64  // thousandths of a core, or bytes; at least 1
}

// Fault is what is wrong with one goal in view of the template.
type Fault struct {
	Metric          int // its place among the goals
	Reason, Message string
}

// Reasons of faults. With all but HiddenByLimit a goal cannot be translated.
const (
	NoContainer   = "NoContainer"
	NoRequest     = "NoRequest"
	NoMaxAllowed  = "NoMaxAllowed"
	LiveRequest   = "LiveRequest"
	HiddenByLimit = v1alpha1.MultidimGoalHiddenByLimit
)

// Child is the FederatedHPA of a MultidimPodAutoscaler whose workload has this template. Whether Pods are sized makes no
// difference to it.
func Child(spec *v1alpha1.MultidimPodAutoscalerSpec, template []Container) Result {
	var r Result
	if spec.Goals == nil {
		return r
	}
	child := AsWritten(spec)
	for i := range child.Metrics {
		r.translate(spec, template, i, &child.Metrics[i])
	}
	slices.SortFunc(r.Floors, func(a, b Floor) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Container, b.Container), cmp.Compare(a.Use, b.Use))
	})
	r.Floors = slices.CompactFunc(r.Floors, func(a, b Floor) bool { return a.Resource == b.Resource && a.Container == b.Container })
	if !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Reason != HiddenByLimit }) {
		r.Spec = &child
	}
	return r
}

// AsWritten is the FederatedHPA before any goal is translated.
func AsWritten(spec *v1alpha1.MultidimPodAutoscalerSpec) v1alpha1.FederatedHPASpec {
	spec = spec.DeepCopy()
	child := v1alpha1.FederatedHPASpec{
		ClusterAffinity: spec.ClusterAffinity, ClusterTolerations: spec.ClusterTolerations,
		AutoscaleMultiClusterDelay: spec.AutoscaleMultiClusterDelay,
		ScalingToZero:              spec.ScalingToZero, ScalingToZeroMode: spec.ScalingToZeroMode,
		FederatedHPAAssignment: spec.FederatedHPAAssignment, ReplicaDistribution: spec.ReplicaDistribution,
		DeletionPolicy: spec.DeletionPolicy, Mode: spec.Mode,
	}
	child.ScaleTargetRef = spec.ScaleTargetRef
	if spec.Goals != nil {
		child.Metrics = spec.Goals.Metrics
	}
	if global := spec.Constraints.Global; global != nil {
		child.MinReplicas, child.MaxReplicas, child.Behavior = global.MinReplicas, global.MaxReplicas, global.Behavior
	}
	return child
}

// translate puts the amount in the place of a utilization. Goals that are no resource's, and amounts, stay as they are.
func (r *Result) translate(spec *v1alpha1.MultidimPodAutoscalerSpec, template []Container, i int, metric *autoscalingv2.MetricSpec) {
	name, container, target := v1alpha1.ResourceOf(metric)
	if target == nil {
		return
	}
	g := goal{spec: spec, resource: name, container: container}
	fault := func(reason, message string) {
		r.Faults = append(r.Faults, Fault{i, reason, fmt.Sprintf("spec.goals.metrics[%d]: %s", i, message)})
	}
	g.concerned = concerned(template, g.container)
	var use int64
	switch {
	case target.AverageValue != nil:
		use = max(1, amount(g.resource, target.AverageValue))
	case target.AverageUtilization == nil || spec.Goals.UtilizationBase == v1alpha1.BaseLiveRequest && !g.shared():
		return
	default:
		base, reason, message := g.base()
		if reason != "" {
			fault(reason, message)
			return
		}
		use = max(1, percent(*target.AverageUtilization, base))
		*target = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: quantity(g.resource, use)}
	}
	if !g.shared() {
		return
	}
	r.Floors = append(r.Floors, Floor{g.resource, g.container, use})
	if limit, all := g.limit(); all && limit-use < (use+4)/5 {
		fault(HiddenByLimit, fmt.Sprintf("with a limit of %s for %s a Pod can hardly use more than the goal, %s, so more load would not show: "+
			"raise the limit to 1.2 times that, or lower the goal", quantity(g.resource, limit), g.resource, quantity(g.resource, use)))
	}
}

func quantity(name corev1.ResourceName, value int64) *resource.Quantity {
	if name == corev1.ResourceCPU {
		return resource.NewMilliQuantity(value, resource.DecimalSI)
	}
	return resource.NewQuantity(value, resource.BinarySI)
}
