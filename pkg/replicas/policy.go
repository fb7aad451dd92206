// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// rate is the limit of a spec with behavior: its policies, and the bound in the direction of the change. Replicas that
// stay are not limited.
func (v *view) rate(s State, replicas int32) (limit, Rate) {
	current, rate := v.Scale.Replicas, Rate{}
	switch {
	case replicas > current:
		rate = v.fastestRise(s)
		highest := atMax(v.Spec.MaxReplicas)
		if fastest := max(current, rate.Limit); highest.replicas > fastest {
			highest = rising(fastest)
		}
		if replicas > highest.replicas {
			return highest, rate
		}
	case replicas < current:
		rate = v.fastestFall(s)
		lowest := atMin(v.minReplicas())
		if fastest := min(current, rate.Limit); lowest.replicas < fastest {
			lowest = falling(fastest)
		}
		if replicas < lowest.replicas {
			return lowest, rate
		}
	}
	return unlimited(replicas), rate
}

// fastestRise returns what the policies let replicas rise to. Rounding up lets a small percentage of few replicas get
// anywhere.
func (v *view) fastestRise(s State) Rate {
	return v.fastest(v.Spec.Behavior.ScaleUp, s, +1, func(start int64, p autoscalingv2.HPAScalingPolicy) int32 {
		if p.Type == autoscalingv2.PercentScalingPolicy {
			return ceil32(float64(start) * (1 + float64(p.Value)/100))
		}
		return within32(start + int64(p.Value))
	})
}

// fastestFall returns what the policies let replicas fall to.
func (v *view) fastestFall(s State) Rate {
	return v.fastest(v.Spec.Behavior.ScaleDown, s, -1, func(start int64, p autoscalingv2.HPAScalingPolicy) int32 {
		if p.Type == autoscalingv2.PercentScalingPolicy {
			return trunc32(float64(start) * (1 - float64(p.Value)/100))
		}
		return within32(start - int64(p.Value))
	})
}

// fastest is the policies' limit in a direction (+1 or -1): of the one that changes most, or least if so selected.
func (v *view) fastest(rules *autoscalingv2.HPAScalingRules, s State, direction int64,
	allows func(start int64, p autoscalingv2.HPAScalingPolicy) int32) Rate {
	if rules == nil || selected(rules) == autoscalingv2.DisabledPolicySelect {
		return Rate{Limit: v.Scale.Replicas, Disabled: true}
	}
	highest := (selected(rules) == autoscalingv2.MinChangePolicySelect) == (direction < 0)
	rate := Rate{Limit: math.MaxInt32}
	if highest {
		rate.Limit = math.MinInt32
	}
	for _, p := range rules.Policies {
		start := v.startOf(s, p.PeriodSeconds)
		if allowed := allows(start, p); (allowed > rate.Limit) == highest {
			rate.Limit, rate.Policy, rate.Start = allowed, p, start
		}
	}
	return rate
}

func selected(rules *autoscalingv2.HPAScalingRules) autoscalingv2.ScalingPolicySelect {
	if rules.SelectPolicy == nil {
		return autoscalingv2.MaxChangePolicySelect
	}
	return *rules.SelectPolicy
}

// startOf returns how many replicas there were when the period began, as far as we changed them.
func (v *view) startOf(s State, periodSeconds int32) int64 {
	begin := v.Now.Add(-time.Duration(periodSeconds) * time.Second)
	return int64(v.Scale.Replicas) - since(s.ScaleUps, begin) + since(s.ScaleDowns, begin)
}

func since(changes []Change, begin time.Time) int64 {
	replicas := int64(0)
	for _, c := range changes {
		if c.At.After(begin) {
			replicas += int64(c.Replicas)
		}
	}
	return replicas
}

// longest is the longest period of the policies.
func longest(rules *autoscalingv2.HPAScalingRules) time.Duration {
	seconds := int32(0)
	if rules != nil {
		for _, p := range rules.Policies {
			seconds = max(seconds, p.PeriodSeconds)
		}
	}
	return time.Duration(seconds) * time.Second
}
