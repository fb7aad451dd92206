// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// foreignStaleAfter is how old what another recommender wrote may be.
const foreignStaleAfter = 5 * time.Minute

// recommender is who recommends instead of us, or "".
func recommender(object *v1alpha1.MultidimPodAutoscaler) string {
	if len(object.Spec.Recommenders) == 0 {
		return ""
	}
	return object.Spec.Recommenders[0].Name
}

// adopt takes what another recommender wrote for advice. It is refused whole if anything in it is wrong: who wrote it, or when, or
// what. Nothing written is no advice.
func (in *situation) adopt() ([]history.Advice, error) {
	r := in.Object.Status.Recommendation
	if r == nil || in.isOurs() {
		return []history.Advice{}, nil
	}
	if err := in.genuine(r); err != nil {
		return nil, err
	}
	advice := make([]history.Advice, 0, len(r.Containers))
	for i := range r.Containers {
		c := &r.Containers[i]
		if err := in.sensible(c); err != nil {
			return nil, fmt.Errorf("status.recommendation.containers[%d]: %w", i, err)
		}
		target, lower, upper := recommendation.AmountsOf(c.Target), recommendation.AmountsOf(c.LowerBound), recommendation.AmountsOf(c.UpperBound)
		for k := range recommendation.ResourceNames {
			recommendation.Fill(&lower[k], target[k])
			recommendation.Fill(&upper[k], target[k])
		}
		advice = append(advice, history.Advice{Container: c.ContainerName, Fleet: sizes.Advice{Target: target, Lower: lower, Upper: upper}})
	}
	return advice, nil
}

// isOurs reports whether a part of the recommendation is from before another was to recommend. As long as that is there, whoever
// writes the same values does not become their writer.
func (in *situation) isOurs() bool {
	return recommender(in.Object) != FieldManager && slices.Contains(writersOf(in.Object.ManagedFields), FieldManager)
}

// genuine is nil if the recommendation was written by the recommender of the spec, and not long ago.
func (in *situation) genuine(r *v1alpha1.SizeRecommendation) error {
	name, writers := recommender(in.Object), writersOf(in.Object.ManagedFields)
	for _, writer := range writers {
		if writer != name {
			return fmt.Errorf("status.recommendation was written by %q, and spec.recommenders names %q", writer, name)
		}
	}
	switch {
	case len(writers) == 0:
		return fmt.Errorf("metadata.managedFields does not say who wrote status.recommendation: %q has to write it once more", name)
	case r.At == nil:
		return fmt.Errorf("status.recommendation.at is missing: %q has to renew it with each recommendation", name)
	case in.Now.Sub(r.At.Time) > foreignStaleAfter:
		return fmt.Errorf("%w: %q wrote its last one at %s", errStale, name, r.At.UTC().Format(time.RFC3339))
	case r.At.After(in.Now.Add(foreignStaleAfter)):
		return fmt.Errorf("status.recommendation.at is in the future: correct the clock of %q", name)
	}
	return nil
}

// writersOf are the managers who wrote a part of status.recommendation.
func writersOf(fields []metav1.ManagedFieldsEntry) (all []string) {
	for _, entry := range fields {
		var owned struct {
			Status map[string]json.RawMessage `json:"f:status"`
		}
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		if _, wrote := owned.Status["f:recommendation"]; wrote {
			all = append(all, entry.Manager)
		}
	}
	return all
}

// sensible is nil if the recommendation for a container can be used.
func (in *situation) sensible(c *v1alpha1.ContainerRecommendation) error {
	if !in.template.has(c.ContainerName) {
		return fmt.Errorf("the workload has no container %q", c.ContainerName)
	}
	allowed := in.Object.Spec.Container(c.ContainerName).Requests
	for _, name := range recommendation.ResourceNames {
		target := c.Target.Of(name)
		if target == nil {
			continue
		}
		if target.Sign() <= 0 {
			return fmt.Errorf("target.%s is %v, which is not more than nothing", name, target)
		}
		for _, least := range []limit{{allowed.MinAllowed.Of(name), "minAllowed"}, {c.LowerBound.Of(name), "its lowerBound"}} {
			if least.of != nil && target.Cmp(*least.of) < 0 {
				return fmt.Errorf("target.%s is %v, which is less than %s, %v", name, target, least.what, least.of)
			}
		}
		for _, most := range []limit{{allowed.MaxAllowed.Of(name), "maxAllowed"}, {c.UpperBound.Of(name), "its upperBound"}} {
			if most.of != nil && target.Cmp(*most.of) > 0 {
				return fmt.Errorf("target.%s is %v, which is more than %s, %v", name, target, most.what, most.of)
			}
		}
	}
	return nil
}

// limit is a bound of a target; nil: there is none.
type limit struct {
	of   *resource.Quantity
	what string
}
