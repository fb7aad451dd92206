// SPDX-License-Identifier: Apache-2.0

package recommendation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// Asked is a container that is sized, and how advice is made for it.
type Asked struct {
	Container string
	sizes.Options
}

// Asked are the containers that the spec has sized, in the order of the template.
func (q *Question) Asked() []Asked {
	var all []Asked
	for i := range q.Template.Containers {
		name := q.Template.Containers[i].Name
		if !q.Spec.Sized(name, corev1.ResourceCPU) && !q.Spec.Sized(name, corev1.ResourceMemory) {
			continue
		}
		entry := q.Spec.Container(name)
		all = append(all, Asked{name, sizes.Options{
			Percentile: [2]int{int(*entry.TargetPercentile.CPU), int(*entry.TargetPercentile.Memory)},
			Margin:     int(*entry.MarginPercent), PodMinimum: q.PodMinimum,
		}})
	}
	for i := range all {
		all[i].Containers = len(all)
	}
	return all
}

// Advise makes advice of what is known. It is an error if the spec asks for what is not.
func (q *Question) Advise() ([]Advised, error) {
	asked := q.Asked()
	all := make([]Advised, len(asked))
	for i, a := range asked {
		n := slices.IndexFunc(q.Known, func(k Known) bool { return k.Container == a.Container })
		if n < 0 {
			return nil, fmt.Errorf("container %s was not sized: what it used is not known", a.Container)
		}
		for _, percentile := range a.Percentile {
			if percentile < sizes.LeastPercentile || percentile > sizes.MostPercentile {
				return nil, fmt.Errorf("container %s: the %dth percentile is not known", a.Container, percentile)
			}
		}
		known := &q.Known[n]
		all[i] = Advised{Container: a.Container, Fleet: known.Fleet.AdviseFleet(a.Options, known.Fleet.Silent, known.Fleet.Last)}
		if q.Spec.Scope != v1alpha1.ScopePerCluster {
			continue
		}
		if len(known.In) != len(q.Clusters) {
			return nil, fmt.Errorf("what container %s used in each cluster is not known", a.Container)
		}
		for k := range known.In {
			in := &known.In[k]
			all[i].In = append(all[i].In, in.AdviseCluster(a.Options, in.Silent, all[i].Fleet, in.Last))
		}
	}
	return all, nil
}
