// SPDX-License-Identifier: Apache-2.0

package admission

// The names of the rules that refuse. They are labels of metrics, and stay.
const (
	// Kubernetes' own, as of 1.37.
	ruleMinReplicas         = "MinReplicas"
	ruleMaxReplicas         = "MaxReplicas"
	ruleMaxBelowMin         = "MaxBelowMin"
	ruleReferenceKind       = "ReferenceKind"
	ruleReferenceName       = "ReferenceName"
	ruleReferenceAPIVersion = "ReferenceAPIVersion"
	ruleZeroNeedsMetric     = "ZeroNeedsMetric"
	ruleMetricType          = "MetricType"
	ruleMetricSource        = "MetricSource"
	ruleMetricName          = "MetricName"
	ruleTargetType          = "TargetType"
	ruleTargetPositive      = "TargetPositive"
	ruleTargetMissing       = "TargetMissing"
	ruleTargetBoth          = "TargetBoth"   // Kubernetes lets an Object metric have both
	ruleResourceName        = "ResourceName" // Kubernetes lets it be any but the empty one
	ruleContainer           = "Container"
	ruleStabilizationWindow = "StabilizationWindow"
	ruleSelectPolicy        = "SelectPolicy"
	rulePolicies            = "Policies"
	rulePolicyType          = "PolicyType"
	rulePolicyValue         = "PolicyValue"
	rulePolicyPeriod        = "PolicyPeriod"
	ruleTolerance           = "Tolerance"

	// What Kubernetes lets through, and what fails later.
	ruleTargetAutoscaler = "TargetAutoscaler"
	ruleTargetScalable   = "TargetScalable"
	ruleTargetFits       = "TargetFits"
	ruleMetricSelector   = "MetricSelector"
	ruleMetricRepeated   = "MetricRepeated"
	ruleReservedKey      = "ReservedKey"
	ruleSize             = "Size"

	// The fleet.
	ruleMode              = "Mode"
	ruleDelay             = "Delay"
	ruleEnum              = "Enum"
	ruleNativeNeedsMetric = "NativeNeedsMetric"
	ruleRebalance         = "Rebalance"
	rulePreferenceTarget  = "PreferenceTarget"
	ruleWeight            = "Weight"
	ruleThreshold         = "Threshold"
	ruleThresholdOrder    = "ThresholdOrder"
	ruleThresholdSum      = "ThresholdSum"
	ruleClusterName       = "ClusterName"
	ruleClusterSelector   = "ClusterSelector"
	ruleClusterField      = "ClusterField"
	ruleToleration        = "Toleration"
	ruleTargetTaken       = "TargetTaken"
	ruleNamespace         = "Namespace"

	// What a MultidimPodAutoscaler has beyond its FederatedHPA.
	ruleGoals             = "Goals"
	ruleGoalsNeedBounds   = "GoalsNeedBounds"
	ruleLiveRequest       = "LiveRequest"
	ruleMaxAllowed        = "MaxAllowed"
	ruleGoalHidden        = "GoalHidden"
	ruleChildName         = "ChildName"
	ruleControlled        = "Controlled"
	ruleContainerRepeated = "ContainerRepeated"
	ruleAllowed           = "Allowed"
	ruleAllowedOrder      = "AllowedOrder"
	rulePercentile        = "Percentile"
	ruleMargin            = "Margin"
	ruleRecommender       = "Recommender"
	ruleUpdateBudget      = "UpdateBudget"
	ruleActAfter          = "ActAfter"

	// Rules of a CronFederatedHPA.
	ruleCronTarget    = "CronTarget"
	ruleCronRules     = "CronRules"
	ruleRuleName      = "RuleName"
	ruleRuleRepeated  = "RuleRepeated"
	ruleSchedule      = "Schedule"
	ruleTimeZone      = "TimeZone"
	ruleMaxDelay      = "MaxDelay"
	ruleCronMissing   = "CronMissing"
	ruleCronForbidden = "CronForbidden"
	ruleCronReplicas  = "CronReplicas"
	ruleCronOrder     = "CronOrder"
	ruleCronZero      = "CronZero"
	ruleHistoryLimit  = "HistoryLimit"
)

// Rules are the names of all rules that refuse, in no order that means
// something. A fault bears one of them in its Origin.
func Rules() []string {
	return []string{
		ruleMinReplicas, ruleMaxReplicas, ruleMaxBelowMin, ruleReferenceKind, ruleReferenceName, ruleReferenceAPIVersion,
		ruleZeroNeedsMetric, ruleMetricType, ruleMetricSource, ruleMetricName, ruleTargetType, ruleTargetPositive,
		ruleTargetMissing, ruleTargetBoth, ruleResourceName, ruleContainer, ruleStabilizationWindow, ruleSelectPolicy,
		rulePolicies, rulePolicyType, rulePolicyValue, rulePolicyPeriod, ruleTolerance,
		ruleTargetAutoscaler, ruleTargetScalable, ruleTargetFits, ruleMetricSelector, ruleMetricRepeated, ruleReservedKey, ruleSize,
		ruleMode, ruleDelay, ruleEnum, ruleNativeNeedsMetric, ruleRebalance, rulePreferenceTarget, ruleWeight, ruleThreshold,
		ruleThresholdOrder, ruleThresholdSum, ruleClusterName, ruleClusterSelector, ruleClusterField, ruleToleration, ruleTargetTaken,
		ruleNamespace,
		ruleGoals, ruleGoalsNeedBounds, ruleLiveRequest, ruleMaxAllowed, ruleGoalHidden, ruleChildName, ruleControlled,
		ruleContainerRepeated, ruleAllowed, ruleAllowedOrder, rulePercentile, ruleMargin, ruleRecommender, ruleUpdateBudget, ruleActAfter,
		ruleCronTarget, ruleCronRules, ruleRuleName, ruleRuleRepeated, ruleSchedule, ruleTimeZone, ruleMaxDelay,
		ruleCronMissing, ruleCronForbidden, ruleCronReplicas, ruleCronOrder, ruleCronZero, ruleHistoryLimit,
	}
}
