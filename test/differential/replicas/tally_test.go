// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"slices"
	"strings"
)

// tally counts what was reached.
type tally map[string]int

// note counts each condition with its reason, each event, each metric by its type and target, and each kind of message.
func (t tally) note(w *world, o outcome) {
	t["reconciles"]++
	for _, c := range o.Status.Conditions {
		t["condition "+string(c.Type)+" "+c.Reason]++
	}
	for _, e := range o.Events {
		t["event "+e.Reason]++
		for _, words := range phrases {
			if strings.Contains(e.Message, words) {
				t["said "+words]++
			}
		}
	}
	for _, m := range o.Status.CurrentMetrics {
		t["metric "+string(m.Type)]++
	}
	if o.Status.CurrentReplicas == 0 && len(o.Writes) > 0 {
		t["from zero"]++
		if strings.Contains(o.Events[len(o.Events)-1].Message, "below Spec.MinReplicas") {
			t["from zero to the minimum"]++
		}
	}
	if len(o.Writes) > 1 {
		t["a write that was retried"]++
	}
	if w.clusters > 1 {
		t["several clusters"]++
	}
	if w.drained >= 0 {
		t["a cluster that is drained"]++
	}
	if len(w.uncreated) > 0 {
		t["Pods that are not created yet"]++
	}
}

var phrases = []string{
	"above target",
	"All metrics below target",
	"Current number of replicas above Spec.MaxReplicas",
	"Current number of replicas below Spec.MinReplicas",
	"did not receive metrics for targeted pods",
	"no pods returned by selector while calculating replica count",
	"no metrics returned matched known pods",
	"missing request for",
	"missing pod-level request for",
	"not found in Pod",
	"unable to calculate ready pods",
	"neither an average utilization target",
	"neither a value target nor an average value target was set",
	"is not a valid label selector operator",
	"unable to get metrics for resource",
	"unable to get metric m",
	"unable to get external metric",
	"invalid metrics (1 invalid out of 2)",
}

// required is what must have been reached often.
var required = slices.Concat([]string{
	"condition AbleToScale FailedGetScale", "condition AbleToScale SucceededGetScale", "condition AbleToScale ReadyForNewScale",
	"condition AbleToScale ScaleDownStabilized",
	"condition AbleToScale ScaleUpStabilized", "condition AbleToScale SucceededRescale", "condition AbleToScale FailedUpdateScale",
	"condition ScalingActive ValidMetricFound", "condition ScalingActive InvalidSelector", "condition ScalingActive AmbiguousSelector",
	"condition ScalingActive ScalingDisabled", "condition ScalingActive FailedGetResourceMetric",
	"condition ScalingActive FailedGetContainerResourceMetric", "condition ScalingActive FailedGetPodsMetric",
	"condition ScalingActive FailedGetObjectMetric", "condition ScalingActive FailedGetExternalMetric",
	"condition ScalingActive InvalidMetricSourceType", "condition ScalingLimited TooFewReplicas",
	"condition ScalingLimited TooManyReplicas", "condition ScalingLimited ScaleUpLimit", "condition ScalingLimited ScaleDownLimit",
	"condition ScalingLimited DesiredWithinRange", "condition ScaledToZero ScaledToZero", "condition ScaledToZero NotScaledToZero",
	"event SuccessfulRescale", "event FailedGetScale", "event SelectorRequired", "event InvalidSelector", "event AmbiguousSelector",
	"event FailedComputeMetricsReplicas", "event FailedRescale", "event FailedUpdateStatus",
	"event FailedGetResourceMetric", "event FailedGetContainerResourceMetric", "event FailedGetPodsMetric", "event FailedGetObjectMetric",
	"event FailedGetExternalMetric", "event InvalidMetricSourceType",
	"metric ", "metric Resource", "metric ContainerResource", "metric Pods", "metric Object", "metric External",
	"from zero", "from zero to the minimum", "a write that was retried", "several clusters", "a cluster that is drained",
	"Pods that are not created yet",
}, said())

func said() []string {
	var all []string
	for _, words := range phrases {
		all = append(all, "said "+words)
	}
	return all
}

// lacking returns what was reached fewer times than that, with how often it was.
func (t tally) lacking(times int) map[string]int {
	lacking := map[string]int{}
	for _, what := range required {
		if t[what] < times {
			lacking[what] = t[what]
		}
	}
	return lacking
}
