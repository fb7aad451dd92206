// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"slices"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// recorded reports whether the decision is one that can be made again: sizes were decided on, of what was learned here.
func (p *plan) recorded() bool {
	return p.asked != nil && len(p.advice) > 0 && recommender(p.Object) == ""
}

// recordedSpec is the spec in records, of which there is one for each generation: it outlives the object.
type recordedSpec struct {
	generation int64
	spec       *v1alpha1.MultidimPodAutoscalerSpec
}

func (s *recordedSpec) of(object *v1alpha1.MultidimPodAutoscaler) *v1alpha1.MultidimPodAutoscalerSpec {
	if s.spec == nil || s.generation != object.Generation {
		s.spec, s.generation = object.Spec.DeepCopy(), object.Generation
	}
	return s.spec
}

// recordOf returns the record of the decision; spec is that of the object, and is shared by records.
func (p *plan) recordOf(spec *v1alpha1.MultidimPodAutoscalerSpec) *recording.Record {
	q := *p.asked
	q.Spec, q.Known = spec, p.known()
	s := &recording.Sizes{Question: q, Said: recording.SaidOf(&p.said), Used: make([][]recording.Used, len(p.clusters))}
	for i := range p.clusters {
		s.Used[i] = p.usedIn(&p.clusters[i])
	}
	o := p.Object
	r := recording.NewSizes(recording.Object{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}, o.Generation, p.Now, s)
	if spec.Mode == v1alpha1.ModeObserve {
		r.Outcome = recording.Observed
	}
	return r
}

// known is what the advice is made of, in each cluster only where each has its own.
func (in *situation) known() []recommendation.Known {
	all := make([]recommendation.Known, len(in.advice))
	for i := range in.advice {
		a := &in.advice[i]
		last := in.before[a.Container]
		k := recommendation.Known{Container: a.Container, Fleet: knownUse(a.Told, a.Silent, last.fleet)}
		if in.Object.Spec.Scope == v1alpha1.ScopePerCluster {
			own := make(map[string]*history.ClusterAdvice, len(a.Clusters))
			for n := range a.Clusters {
				own[a.Clusters[n].Cluster] = &a.Clusters[n]
			}
			for n := range in.clusters {
				var of recommendation.KnownUse // of which nothing is known, so it is the fleet's
				if c := own[in.clusters[n].name]; c != nil {
					of = knownUse(c.Told, c.Held, last.clusters[c.Cluster])
				}
				k.In = append(k.In, of)
			}
		}
		all[i] = k
	}
	return all
}

func knownUse(told sizes.Told, silent bool, last sizes.Advice) recommendation.KnownUse {
	k := recommendation.KnownUse{Told: told, Silent: silent}
	if silent {
		k.Last = last
	}
	return k
}

// usedIn is what the containers of the template request and use in a cluster.
func (in *situation) usedIn(c *cluster) []recording.Used {
	all := make([]recording.Used, len(in.template.Spec.Containers))
	places := make(map[string]*recording.Used, len(all))
	for i := range all {
		all[i].Peak = recommendation.NoAmounts()
		places[in.template.Spec.Containers[i].Name] = &all[i]
	}
	uses := make(map[string]*hubmetrics.PodUses, len(c.uses.Pods))
	for i := range c.uses.Pods {
		uses[c.uses.Pods[i].Name] = &c.uses.Pods[i]
	}
	running := c.running()
	for i := range running {
		p := &running[i]
		for k := range p.Containers {
			if of := places[p.Containers[k].Name]; of != nil {
				addUsed(of, &p.Containers[k], usedBy(uses[p.Name], p.Containers[k].Name))
			}
		}
	}
	for _, kill := range in.killsIn(c.name) {
		of := places[kill.Container]
		if of == nil {
			continue
		}
		of.Kills++
		if n := slices.IndexFunc(c.pods.Pods, func(p pods.SizedPod) bool { return p.Name == kill.Pod }); n >= 0 {
			of.Had = max(of.Had, requestOf(&c.pods.Pods[n], kill.Container))
		}
	}
	return all
}

func (in *situation) killsIn(cluster string) []history.Kill {
	for i := range in.fed {
		if in.fed[i].Cluster == cluster {
			return in.fed[i].Kills
		}
	}
	return nil
}

func requestOf(p *pods.SizedPod, container string) int64 {
	for i := range p.Containers {
		if p.Containers[i].Name == container {
			return max(0, p.Containers[i].Requests.Memory)
		}
	}
	return 0
}

// usedBy is None where it was not measured.
func usedBy(p *hubmetrics.PodUses, container string) sizes.Amounts {
	if p != nil {
		for i := range p.Containers {
			if c := &p.Containers[i]; c.Name == container {
				return sizes.Amounts{min(recommendation.Most, c.MilliCPU), min(recommendation.Most, c.Memory)}
			}
		}
	}
	return recommendation.NoAmounts()
}

// addUsed adds one container of a Pod.
func addUsed(of *recording.Used, c *pods.Container, used sizes.Amounts) {
	of.Pods++
	requested, limits := ofPods(c.Requests), ofPods(c.Limits)
	for r := range recommendation.ResourceNames {
		of.Requested[r] += max(0, requested[r])
		if of.Peak[r] = max(of.Peak[r], used[r]); used[r] > max(0, requested[r]) {
			of.Above[r]++
		}
	}
	if limit := limits[sizes.CPU]; limit > 0 && used[sizes.CPU] > 0 {
		of.OfLimit = max(of.OfLimit, int32(min(1000, 100*used[sizes.CPU]/limit)))
	}
}
