// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Ten replicas, which the load would have be 80, or 4.
func TestPolicies(t *testing.T) {
	policy := func(kind autoscalingv2.HPAScalingPolicyType, value int32) autoscalingv2.HPAScalingPolicy {
		return autoscalingv2.HPAScalingPolicy{Type: kind, Value: value, PeriodSeconds: 15}
	}
	pods, percent := policy(autoscalingv2.PodsScalingPolicy, 3), policy(autoscalingv2.PercentScalingPolicy, 18)
	none := autoscalingv2.ScalingPolicySelect("")
	asked := func(load int64, selects autoscalingv2.ScalingPolicySelect, policies ...autoscalingv2.HPAScalingPolicy) Question {
		q := ask(10, cluster("east", 10)).use("east", load)
		rules := &autoscalingv2.HPAScalingRules{Policies: policies}
		if selects != none {
			rules.SelectPolicy = &selects
		}
		q.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules, ScaleDown: rules}
		return q
	}
	bounded := func(q Question, least, most int32) Question {
		q.Spec.MinReplicas, q.Spec.MaxReplicas = &least, most
		return q
	}
	const up, down = 400, 20
	tests := map[string]struct {
		question Question
		want     string
	}{
		"up, by Pods":                          {asked(up, none, pods), "13 ScaleUpLimit"},
		"up, by percent, rounded up":           {asked(up, none, percent), "12 ScaleUpLimit"},
		"up, by the policy that allows most":   {asked(up, none, percent, pods), "13 ScaleUpLimit"},
		"up, by that which allows least":       {asked(up, autoscalingv2.MinChangePolicySelect, pods, percent), "12 ScaleUpLimit"},
		"up, not at all":                       {asked(up, autoscalingv2.DisabledPolicySelect, pods), "10 ScaleUpLimit"},
		"up, to the maximum, which is as much": {bounded(asked(up, none, pods), 1, 13), "13 TooManyReplicas"},
		"up, as far as one likes":              {asked(up, none, policy(autoscalingv2.PodsScalingPolicy, 70)), "80"},
		"down, by Pods":                        {asked(down, none, pods), "7 ScaleDownLimit"},
		"down, by percent, rounded down":       {asked(down, none, percent), "8 ScaleDownLimit"},
		"down, by the policy that allows most": {asked(down, none, percent, pods), "7 ScaleDownLimit"},
		"down, by that which allows least":     {asked(down, autoscalingv2.MinChangePolicySelect, pods, percent), "8 ScaleDownLimit"},
		"down, not at all":                     {asked(down, autoscalingv2.DisabledPolicySelect, pods), "10 ScaleDownLimit"},
		"down, to the minimum, which is as little": {
			bounded(asked(down, none, pods), 7, 100), "7 TooFewReplicas"},
		"down, as far as one likes": {asked(down, none, policy(autoscalingv2.PodsScalingPolicy, 6)), "4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { check(t, Decide(tc.question), tc.want) })
	}
}

func TestTheMetricThatAsksForMostDecides(t *testing.T) {
	asked := func(first, second int64) Question {
		q := ask(10, cluster("east", 10))
		q.Spec.MinReplicas = new(int32)
		orders, mails := externalOf(value("100")), externalOf(value("100"))
		orders.External.Metric.Name, mails.External.Metric.Name = "orders", "mails"
		q.Spec.Metrics, q.Metrics = []autoscalingv2.MetricSpec{orders, mails}, []Metric{{Values: []int64{first}}, {Values: []int64{second}}}
		return q
	}
	tests := map[string]struct {
		question Question
		want     string
		metric   string
	}{
		"the first":                           {asked(180_000, 150_000), "18", "orders"},
		"the second":                          {asked(150_000, 180_000), "18", "mails"},
		"of equals the first":                 {asked(150_000, 150_000), "15", "orders"},
		"of those that ask for none the last": {asked(0, 0), "0", "mails"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.question)
			if check(t, d, tc.want); d.Explanation.Metric != "external metric "+tc.metric+"(nil)" {
				t.Errorf("decided by %s", d.Explanation.Metric)
			}
		})
	}
}
