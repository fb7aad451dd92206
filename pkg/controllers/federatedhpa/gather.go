// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
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
	in := situation{object: object, now: r.Clock.Now(), options: r.Decision, grace: r.PropagationGrace}
	if in.parts, in.scale.Err = r.selected(ctx, object); in.scale.Err != nil {
		return in
	}
	r.memories.remind(object, in.parts)
	if target.read(ctx, &in); in.scale.Err != nil {
		return in
	}
	in.parsed, _ = labels.Parse(in.scale.Selector)
	in.state = r.memories.of(object, in.scale.Replicas, in.now)
	r.lookAtMembers(ctx, &in)
	r.follow(ctx, &in)
	if q := in.question(); q.NeedsMetrics() {
		in.template = r.templateOf(ctx, &in, target)
		in.metrics, in.took = r.ask(ctx, &in)
	}
	return in
}

// lookAtMembers asks what members know of the workload, side by side; most of it is known without asking.
func (r *Reconciler) lookAtMembers(ctx context.Context, in *situation) {
	ctx, cancel := context.WithTimeout(ctx, r.MemberTimeout)
	defer cancel()
	others := r.others(ctx, in)
	together(in.parts, func(p *part) {
		if p.takesPart() {
			p.lookAtPods(ctx, in)
			p.findOthers(ctx, in, others)
		}
	})
	r.lookAtCapacity(ctx, in)
}

func (p *part) lookAtPods(ctx context.Context, in *situation) {
	selector, _ := in.selectorOf(p.selector(in.scale.Selector))
	if selector == nil || selector.Empty() {
		return // said by the decision
	}
	p.listing = p.cluster.Pods(ctx, in.object.Namespace, selector)
	if p.state == v1alpha1.ClusterActive && p.listing.Silent != nil {
		p.silent(p.listing.Silent)
	}
}

// selector is that of the workload there.
func (p *part) selector(whole string) string {
	if p.scale != nil && p.scale.Status.Selector != "" {
		return p.scale.Status.Selector
	}
	return whole
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

// together calls f for all at once, and waits for them.
func together[T any](list []T, f func(*T)) {
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { f(&list[i]) })
	}
	all.Wait()
}
