// SPDX-License-Identifier: Apache-2.0

package replicas

// limit is how many replicas there may be, and what keeps them from being more or fewer.
type limit struct {
	replicas        int32
	reason, message string
}

func unlimited(replicas int32) limit {
	return limit{replicas, ReasonDesiredWithinRange, "the desired count is within the acceptable range"}
}

func atMin(replicas int32) limit {
	return limit{replicas, ReasonTooFewReplicas, "the desired replica count is less than the minimum replica count"}
}

func atMax(replicas int32) limit {
	return limit{replicas, ReasonTooManyReplicas, "the desired replica count is more than the maximum replica count"}
}

func rising(replicas int32) limit {
	return limit{replicas, ReasonScaleUpLimit, "the desired replica count is increasing faster than the maximum scale rate"}
}

func falling(replicas int32) limit {
	return limit{replicas, ReasonScaleDownLimit, "the desired replica count is decreasing faster than the maximum scale rate"}
}

// What replicas may rise to at once, without behavior: twice what they are, and always to four.
const (
	riseFactor  = 2.0
	riseAtLeast = 4.0
)

// fastestWithout is what replicas may rise to at once, without behavior.
func (v *view) fastestWithout() int32 {
	return trunc32(max(riseFactor*float64(v.Scale.Replicas), riseAtLeast))
}

// bound is the limit of a spec without behavior.
func (v *view) bound(replicas int32) limit {
	highest := atMax(v.Spec.MaxReplicas)
	if fastest := v.fastestWithout(); highest.replicas > fastest {
		highest = rising(fastest)
	}
	switch lowest := atMin(v.minReplicas()); {
	case replicas < lowest.replicas:
		return lowest
	case replicas > highest.replicas:
		return highest
	}
	return unlimited(replicas)
}
