// SPDX-License-Identifier: Apache-2.0

package replicas

import "github.com/fleetscale/fleetscale/pkg/fleet"

// Reasons of conditions and events. Those that Kubernetes has too mean the same here.
const (
	ReasonFailedGetScale               = "FailedGetScale"               // the workload's scale cannot be read
	ReasonSucceededGetScale            = "SucceededGetScale"            // it can
	ReasonReadyForNewScale             = "ReadyForNewScale"             // no recommendation of the window restrains
	ReasonScaleUpStabilized            = "ScaleUpStabilized"            // a lower recommendation of the window holds
	ReasonScaleDownStabilized          = "ScaleDownStabilized"          // a higher recommendation of the window holds
	ReasonSucceededRescale             = "SucceededRescale"             // replicas were written
	ReasonSuccessfulRescale            = "SuccessfulRescale"            // the event of that
	ReasonFailedUpdateScale            = "FailedUpdateScale"            // replicas could not be written
	ReasonFailedRescale                = "FailedRescale"                // the event of that
	ReasonScalingDisabled              = "ScalingDisabled"              // somebody else scaled to zero
	ReasonSelectorRequired             = "SelectorRequired"             // the event of a missing selector
	ReasonInvalidSelector              = "InvalidSelector"              // the workload's selector is missing or cannot be read
	ReasonAmbiguousSelector            = "AmbiguousSelector"            // another autoscaler governs the same Pods
	ReasonFailedGetResourceMetric      = "FailedGetResourceMetric"      // a Resource metric cannot be used
	ReasonFailedGetPodsMetric          = "FailedGetPodsMetric"          // a Pods metric cannot be used
	ReasonFailedGetObjectMetric        = "FailedGetObjectMetric"        // an Object metric cannot be used
	ReasonFailedGetExternalMetric      = "FailedGetExternalMetric"      // an External metric cannot be used
	ReasonInvalidMetricSourceType      = "InvalidMetricSourceType"      // a metric of the spec is of no known type
	ReasonFailedComputeMetricsReplicas = "FailedComputeMetricsReplicas" // the event of a decision that could not be made
	ReasonValidMetricFound             = "ValidMetricFound"             // at least one metric can be used
	ReasonScaleUpLimit                 = "ScaleUpLimit"                 // replicas rise as fast as they may
	ReasonScaleDownLimit               = "ScaleDownLimit"               // replicas fall as fast as they may
	ReasonTooManyReplicas              = "TooManyReplicas"              // more than maxReplicas were called for
	ReasonTooFewReplicas               = "TooFewReplicas"               // fewer than minReplicas were called for
	ReasonDesiredWithinRange           = "DesiredWithinRange"           // nothing limits
	ReasonScaledToZero                 = "ScaledToZero"                 // we scaled to zero, and so may scale up again
	ReasonNotScaledToZero              = "NotScaledToZero"              // we did not

	ReasonFailedGetContainerResourceMetric = "FailedGetContainerResourceMetric" // a ContainerResource metric cannot be used

	ReasonClusterUnreachable = "ClusterUnreachable" // Pods or metrics of a cluster cannot be seen: FleetVisible is False
	ReasonAllClustersVisible = "AllClustersVisible" // none is missing: FleetVisible is True
)

// ReasonNotAsked is the silence of a cluster whose Pods an answer should hold, and which it does not speak of.
const ReasonNotAsked fleet.Reason = "NotAsked"
