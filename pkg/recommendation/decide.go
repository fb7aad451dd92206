// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Decide makes a decision again, of what is known of the use.
func Decide(q *Question) (Decision, error) {
	advice, err := q.Advise()
	if err != nil {
		return Decision{}, err
	}
	return q.Sizes(advice), nil
}

// Goals is what the goals come to for the template, and what they have each of its containers be given at least for load.
func (q *Question) Goals() (goals.Result, []goals.Share) {
	spec, containers := q.Sizable(), q.Template.Running()
	result := goals.Child(spec, containers)
	return result, goals.Shares(spec, containers, result.Floors)
}

// Sizes returns what the containers should have. The goals have running Pods request at least some shares, and new ones, which are there
// for load, others.
func (q *Question) Sizes(advice []Advised) Decision {
	_, born := q.Goals()
	running := slices.Clone(born)
	if bounds := q.Spec.Constraints.Global; bounds == nil || !goals.Reserves(q.Replicas, *bounds.MinReplicas, goals.Pressure{}) {
		for i := range running {
			running[i].Request = goals.Amounts{}
		}
	}
	d := Decision{
		Template: q.admitted(NoDefaults(), running, advice, func(a *Advised) sizes.Advice { return a.Fleet }),
		Clusters: make([]ClusterSizes, len(q.Clusters)),
	}
	d.Fleet = sizes.CapAll(d.Template, sizes.Unlimited())
	for i := range q.Clusters {
		c := &q.Clusters[i]
		advised := func(a *Advised) sizes.Advice {
			if q.Spec.Scope == v1alpha1.ScopePerCluster && i < len(a.In) {
				return a.In[i]
			}
			return a.Fleet
		}
		d.Clusters[i] = ClusterSizes{
			Sizes:    sizes.CapAny(q.admitted(c.Defaults, running, advice, advised), c.Rooms),
			Template: q.admitted(c.Defaults, born, advice, advised), Rooms: c.Rooms,
		}
	}
	return d
}

// admitted is the template as a cluster admits it, and what is advised for it.
func (q *Question) admitted(defaults sizes.Resources, shares []goals.Share, advice []Advised,
	advised func(*Advised) sizes.Advice) sizes.Template {
	t := sizes.Template{Fixed: q.Template.Fixed(), Guaranteed: true}
	for i := range q.Template.Containers {
		c := &q.Template.Containers[i]
		entry := q.Spec.Container(c.Name)
		k := sizes.Container{
			Name: c.Name, Resources: admitted(c.Resources, defaults), Advice: Nothing(),
			MinAllowed: AmountsOf(entry.Requests.MinAllowed), MaxAllowed: AmountsOf(entry.Requests.MaxAllowed),
			GoalFloor: ofGoals(shares[i].Request), GoalLimit: ofGoals(shares[i].Limit),
		}
		for r, name := range ResourceNames {
			k.LimitsFollow[r] = q.Spec.SizesLimits(c.Name, name)
		}
		if n := slices.IndexFunc(advice, func(a Advised) bool { return a.Container == c.Name }); n >= 0 {
			k.Advice = q.controlled(c.Name, advised(&advice[n]))
		}
		t.Guaranteed = t.Guaranteed && guaranteed(k.Resources)
		t.Containers = append(t.Containers, k)
	}
	for i := range q.Template.Initial {
		t.Guaranteed = t.Guaranteed && guaranteed(admitted(q.Template.Initial[i].Resources, defaults))
	}
	return t
}

// controlled leaves of the advice what is sized.
func (q *Question) controlled(container string, a sizes.Advice) sizes.Advice {
	for r, name := range ResourceNames {
		if !q.Spec.Sized(container, name) {
			a.Target[r], a.Lower[r], a.Upper[r] = sizes.None, sizes.None, sizes.None
		}
	}
	return a
}
