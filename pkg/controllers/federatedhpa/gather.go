// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// read returns the object with its defaults; those of admission may be missing.
func (r *Reconciler) read(ctx context.Context, key client.ObjectKey) (*v1alpha1.FederatedHPA, error) {
	object := &v1alpha1.FederatedHPA{}
	if err := r.Hub.Get(ctx, key, object); err != nil {
		return nil, err
	}
	v1alpha1.DefaultFederatedHPA(object)
	return object, nil
}

// gather collects what a decision rests on. What can not be had is noted as such: there is always a decision.
func (r *Reconciler) gather(ctx context.Context, object *v1alpha1.FederatedHPA, target target) situation {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	in := situation{object: object, now: r.Clock.Now(), options: r.Decision}
	var err error
	if in.parts, err = r.selected(ctx, object); err != nil {
		in.scale.Err = err
		return in
	}
	moved := r.memories.movedTo(object)
	for i := range in.parts {
		in.parts[i].moved = moved[in.parts[i].facts.Name]
	}
	target.read(ctx, &in)
	in.state = r.memories.of(object, in.scale.Replicas, in.now)
	if in.scale.Err != nil {
		return in
	}
	r.lookAtPods(ctx, &in)
	r.findRivals(ctx, &in)
	if q := in.question(); q.NeedsMetrics() {
		in.template = r.templateOf(ctx, &in, target)
		in.metrics, in.took = r.ask(ctx, &in)
	}
	return in
}

// lookAtPods asks all clusters side by side; most know without asking.
func (r *Reconciler) lookAtPods(ctx context.Context, in *situation) {
	together(in.parts, func(p *part) {
		selector, err := labels.Parse(p.selector(in.scale.Selector))
		if !p.takesPart() || err != nil || selector.Empty() {
			return // said by the decision
		}
		p.listing = p.cluster.Pods(ctx, in.object.Namespace, selector)
		if p.state == v1alpha1.ClusterActive && p.listing.Silent != nil {
			p.silent(p.listing.Silent)
		}
	})
}

// selector is that of the workload there.
func (p *part) selector(whole string) string {
	if p.scale != nil && p.scale.Status.Selector != "" {
		return p.scale.Status.Selector
	}
	return whole
}

// ask asks for all metrics side by side, and says how long each took.
func (r *Reconciler) ask(ctx context.Context, in *situation) ([]replicas.Metric, []time.Duration) {
	answers, took := make([]replicas.Metric, len(in.object.Spec.Metrics)), make([]time.Duration, len(in.object.Spec.Metrics))
	selector, err := labels.Parse(in.anySelector())
	if err != nil {
		return answers, took // said by the decision
	}
	clustersOf := in.clustersOf()
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			asked := r.Clock.Now()
			answers[i] = r.Ask.Ask(ctx, hubmetrics.Question{
				Namespace:  in.object.Namespace,
				Metric:     in.object.Spec.Metrics[i],
				Selector:   selector,
				Clusters:   in.names(),
				ClustersOf: clustersOf,
			})
			took[i] = r.Clock.Since(asked)
		})
	}
	all.Wait()
	return answers, took
}

// anySelector is that of the workload, or of the first cluster that has one.
func (in *situation) anySelector() string {
	if in.scale.Selector != "" {
		return in.scale.Selector
	}
	for i := range in.parts {
		if s := in.parts[i].selector(""); s != "" {
			return s
		}
	}
	return ""
}

// names are the clusters that take part.
func (in *situation) names() []string {
	var names []string
	for i := range in.parts {
		if in.parts[i].takesPart() {
			names = append(names, in.parts[i].facts.Name)
		}
	}
	return names
}

// clustersOf returns a function that tells the clusters which have a Pod of a name. It is made when it is first used: our
// own metrics adapter says of each Pod where it is.
func (in *situation) clustersOf() func(pod string) []string {
	index := sync.OnceValue(func() map[string][]string {
		clusters := map[string][]string{}
		for i := range in.parts {
			p := &in.parts[i]
			for j := range p.listing.Pods {
				name := p.listing.Pods[j].Name
				clusters[name] = append(clusters[name], p.facts.Name)
			}
		}
		return clusters
	})
	return func(pod string) []string { return index()[pod] }
}

// together calls f for all at once, and waits for them.
func together[T any](list []T, f func(*T)) {
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { f(&list[i]) })
	}
	all.Wait()
}
