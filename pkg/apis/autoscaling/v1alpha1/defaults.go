// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Values that a person need not write.
const (
	// DefaultMultiClusterDelaySeconds is how long Pods must be unschedulable before other clusters get their share.
	DefaultMultiClusterDelaySeconds int32 = 60
	// DefaultRebalanceIntervalSeconds is the least time between two moves of bounds.
	DefaultRebalanceIntervalSeconds int32 = 300
	// DefaultMinUtilizationPercent is the part of its target below which a cluster gives some of its minimum away.
	DefaultMinUtilizationPercent int32 = 50
	// DefaultHistoryLimit is the number of runs of a rule that the status keeps, successful and failed apart.
	DefaultHistoryLimit int32 = 3
)

// DefaultFederatedHPA fills in what the spec leaves out: what Kubernetes fills in for a HorizontalPodAutoscaler, and
// for our own fields the defaults that their comments state. A default that depends on a field that may change later is
// not written, so that it can follow: see [FederatedHPAAssignment.RebalanceOrDefault]. Once more changes nothing.
func DefaultFederatedHPA(f *FederatedHPA) {
	defaultHPA(&f.Spec.HorizontalPodAutoscalerSpec)
	if f.Distributed() {
		fill(&f.Spec.AutoscaleMultiClusterDelay, DefaultMultiClusterDelaySeconds)
		orElse(&f.Spec.DeletionPolicy, DeletionPolicyDelete)
		f.Spec.FederatedHPAAssignment.setDefaults()
	}
	if f.Spec.ScalingToZero != nil && *f.Spec.ScalingToZero {
		orElse(&f.Spec.ScalingToZeroMode, ScalingToZeroController)
	}
	if d := f.Spec.ReplicaDistribution; d != nil {
		fill(&f.Spec.AutoscaleMultiClusterDelay, DefaultMultiClusterDelaySeconds)
		orElse(&d.Type, DistributionStaticWeighted)
	}
}

func (a *FederatedHPAAssignment) setDefaults() {
	orElse(&a.FederatedHPAAssignmentType, AssignmentDuplicated)
	orElse(&a.DistributionOrder, DistributionMaxFirst)
	if a.FederatedHPAAssignmentType == AssignmentPrioritized {
		orElse(&a.ScaleDownOrder, ScaleDownStrict)
	}
	if a.Rebalance != nil {
		fill(&a.Rebalance.IntervalSeconds, DefaultRebalanceIntervalSeconds)
		fill(&a.Rebalance.MinUtilizationPercent, DefaultMinUtilizationPercent)
	}
}

// RebalanceOrDefault returns what holds for the assignment: its rebalance, completed by the defaults for its type.
func (a *FederatedHPAAssignment) RebalanceOrDefault() Rebalance {
	r := Rebalance{}
	if a.Rebalance != nil {
		r = *a.Rebalance
	}
	fill(&r.IntervalSeconds, DefaultRebalanceIntervalSeconds)
	fill(&r.MinUtilizationPercent, DefaultMinUtilizationPercent)
	orElse(&r.Strategy, a.FederatedHPAAssignmentType.rebalance())
	return r
}

// rebalance is the strategy that goes with the type, if none is given.
func (t FederatedHPAAssignmentType) rebalance() RebalanceStrategy {
	switch t {
	case AssignmentDynamicWeighted, AssignmentAggregated, AssignmentPrioritized:
		return RebalanceCapacity
	default:
		return RebalanceNone
	}
}

// DefaultCronFederatedHPA fills in what the spec leaves out, and copies ruleName, an older word, to name. Once more
// changes nothing.
func DefaultCronFederatedHPA(c *CronFederatedHPA) {
	if d := c.Spec.ReplicaDistribution; d != nil {
		orElse(&d.Type, DistributionStaticWeighted)
	}
	for i := range c.Spec.Rules {
		rule := &c.Spec.Rules[i]
		orElse(&rule.Name, rule.RuleName)
		fill(&rule.Suspend, false)
		fill(&rule.SuccessfulHistoryLimit, DefaultHistoryLimit)
		fill(&rule.FailedHistoryLimit, DefaultHistoryLimit)
	}
}

// fill sets a field that is absent.
func fill[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// orElse sets a field that is zero.
func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
