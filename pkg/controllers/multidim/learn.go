// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"

	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// learn adds what was seen to the history, and has it advise.
func (r *Reconciler) learn(ctx context.Context, in *situation, memory *memory) {
	if in.template == nil {
		return
	}
	if recommender(in.Object) != "" {
		in.advice, in.unlearned = in.adopt()
		return
	}
	owner := history.Owner{Namespace: in.Object.Namespace, Name: in.Object.Name, UID: in.Object.UID, Workload: workloadOf(in.Object)}
	first := memory.last == nil
	loaded, err := r.History.Load(ctx, owner, in.Now)
	if err == nil && first && len(loaded.Faults) > 0 {
		klog.FromContext(ctx).Error(errors.Join(loaded.Faults...), "Could not read all of the history; what is readable is used")
	}
	if err == nil {
		r.takeOver(ctx, in, owner, memory)
		in.fed, err = r.History.Feed(owner, in.pass())
	}
	if err == nil {
		if first {
			memory.last = in.recorded()
		}
		in.before = memory.last
		in.advice, err = r.History.Advise(owner, in.wanted(memory.last))
	}
	if in.unlearned = err; err == nil {
		memory.last = lastOf(in.advice)
	}
}

// pass is what this reconcile saw of what is used.
func (in *situation) pass() history.Pass {
	p := history.Pass{At: in.Now, Pods: map[string]pods.SizedListing{}, Uses: make([]hubmetrics.ClusterUses, len(in.clusters))}
	for i := range in.clusters {
		c := &in.clusters[i]
		p.Uses[i], p.Pods[c.name] = c.uses, c.pods
		p.Uses[i].Cluster = c.name
	}
	for i := range in.template.Spec.Containers {
		p.Containers = append(p.Containers, in.template.Spec.Containers[i].Name)
	}
	return p
}

// wanted are the containers that are sized.
func (in *situation) wanted(last map[string]lastAdvice) []history.Wanted {
	q := recommendation.Question{Spec: &in.Object.Spec, PodMinimum: in.PodMinimum, Template: in.template.shape()}
	asked := q.Asked()
	all := make([]history.Wanted, len(asked))
	for i, a := range asked {
		all[i] = history.Wanted{Container: a.Container, Options: a.Options, Last: last[a.Container].fleet, LastOf: last[a.Container].clusters,
			Tell: in.tells}
	}
	return all
}

func lastOf(advice []history.Advice) map[string]lastAdvice {
	last := make(map[string]lastAdvice, len(advice))
	for _, a := range advice {
		l := lastAdvice{fleet: a.Fleet, clusters: make(map[string]sizes.Advice, len(a.Clusters))}
		for _, c := range a.Clusters {
			l.clusters[c.Cluster] = c.Advice
		}
		last[a.Container] = l
	}
	return last
}

// recorded is what was advised before this process began, by the status.
func (in *situation) recorded() map[string]lastAdvice {
	last := map[string]lastAdvice{}
	for _, c := range containersOf(in.Object.Status.Recommendation) {
		last[c.ContainerName] = lastAdvice{fleet: adviceOf(&c), clusters: map[string]sizes.Advice{}}
	}
	for _, cluster := range in.Object.Status.Clusters {
		for _, c := range containersOf(cluster.Recommendation) {
			if last[c.ContainerName].clusters != nil {
				last[c.ContainerName].clusters[cluster.Name] = adviceOf(&c)
			}
		}
	}
	return last
}

func containersOf(r *v1alpha1.SizeRecommendation) []v1alpha1.ContainerRecommendation {
	if r == nil {
		return nil
	}
	return r.Containers
}

// adviceOf is what was advised before anything bounded it, as far as that was recorded.
func adviceOf(c *v1alpha1.ContainerRecommendation) sizes.Advice {
	of := recommendation.AmountsOf
	return sizes.Advice{Target: of(c.UncappedTarget), Lower: of(c.LowerBound), Upper: of(c.UpperBound)}
}
