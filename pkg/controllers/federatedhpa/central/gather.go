// SPDX-License-Identifier: Apache-2.0

package central

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/record"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/sight"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// gather collects the input of a decision. What is not available is recorded as such: there is always a decision.
func (m *Mode) gather(ctx context.Context, object *v1alpha1.FederatedHPA, memory *Memory) situation {
	in := situation{options: m.Decision, grace: m.PropagationGrace, inMembers: object.Spec.ReplicaDistribution != nil}
	if !in.inMembers {
		in.hub, in.missing = m.readHub(ctx, object)
		in.inMembers = lacking(in.missing)
	}
	seen, err := m.Fleet.Select(ctx, object, in.inMembers)
	in.Sight = seen
	in.parts = in.partsOf(memory)
	if err == nil {
		in.undone, err = m.undone(ctx, &in)
	}
	if in.scale.Err = err; err != nil || in.undone.Reason != "" {
		return in
	}
	in.absences = memory.absences.of(object.Generation)
	if m.readScale(ctx, &in); in.scale.Err != nil {
		return in
	}
	if m.seeFights(ctx, &in, memory); in.undone.Reason != "" {
		return in
	}
	in.parsed = memory.parse(in.scale.Selector)
	in.state = memory.recall(object, in.scale.Replicas, in.Now)
	m.readMembers(ctx, &in)
	in.propagation = m.propagation(ctx, &in, memory)
	if q := in.terms(); q.NeedsMetrics() {
		in.template = in.templateOf()
		in.metrics, in.took = m.ask(ctx, &in)
	}
	return in
}

// readScale reads the workload's scale: that of the hub was read, or it is that of every cluster. One without the workload takes no
// part; one that cannot be asked runs what it was told last.
func (m *Mode) readScale(ctx context.Context, in *situation) {
	if !in.inMembers {
		if in.scale.Err = in.missing; in.scale.Err == nil {
			in.scale = replicas.Scale{Replicas: in.hub.Spec.Replicas, StatusReplicas: in.hub.Status.Replicas, Selector: in.hub.Status.Selector}
		}
		return
	}
	if _, in.scale.Err = groupKindOf(in.Object.Spec.ScaleTargetRef); in.scale.Err != nil {
		return
	}
	if in.proportional() {
		in.recallAbsences()
	}
	workload.Each(ctx, m.Fleet.Timeout, in.parts, func(ctx context.Context, p *part) {
		if p.state == v1alpha1.ClusterActive && p.Absent == nil {
			p.ReadScale(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
		}
		p.seeScale(in.Object)
	})
	if in.proportional() {
		in.noteAbsences()
	}
	in.addUp()
}

// seeScale: a cluster without the workload takes no part, nor does one without a preference, where that matters.
func (p *part) seeScale(object *v1alpha1.FederatedHPA) {
	switch {
	case !p.takesPart(): // as was known
	case p.Scale != nil:
		if p.assigned = &p.Scale.Spec.Replicas; p.takenOver {
			p.moved = p.Scale.Spec.Replicas // what it runs yet, or again, runs elsewhere
		}
	case p.Absent != nil:
		p.assigned = nil
		p.exclude(record.ReasonTargetNotFound, fmt.Sprintf("there is no %s that can be scaled: %v", workload.Describe(object.Spec.ScaleTargetRef),
			p.Absent))
	case p.Silence != nil:
		p.silent(p.Silence)
	}
	if !p.Preferred && p.takesPart() {
		p.exclude(record.ReasonNotPreferred, "no entry of clusterAutoscalingPreference selects the cluster")
	}
}

// addUp makes one scale of all parts.
func (in *situation) addUp() {
	told, reported, read := int64(0), int64(0), false
	for p := range sight.Pointers(in.parts) {
		if !p.takesPart() {
			continue
		}
		told += int64(p.told())
		if p.Scale == nil {
			reported += int64(p.told())
			continue
		}
		read = true
		reported += int64(p.reported())
		in.scale.Selector = cmp.Or(in.scale.Selector, p.Scale.Status.Selector)
	}
	in.scale.Replicas, in.scale.StatusReplicas = int32(min(told, math.MaxInt32)), int32(min(reported, math.MaxInt32))
	if !read {
		in.scale.Err = in.nowhere()
	}
}

// nowhere returns why no cluster's part could be read.
func (in *situation) nowhere() error {
	ref := workload.Describe(in.Object.Spec.ScaleTargetRef)
	if len(in.parts) == 0 && in.missing != nil {
		return in.missing
	}
	if len(in.parts) == 0 {
		return fmt.Errorf("no registered cluster is selected for %s: compare spec.clusterAffinity with the registrations", ref)
	}
	var each []string
	for p := range sight.Pointers(in.parts) {
		each = append(each, fmt.Sprintf("%s: %s", p.Facts.Name, p.reason))
	}
	if in.missing != nil {
		return fmt.Errorf("%w on the hub, and none of the %d selected clusters can scale it: %s", in.missing, len(each), strings.Join(each, "; "))
	}
	return fmt.Errorf("no cluster can scale %s: %s", ref, strings.Join(each, "; "))
}

// readMembers reads what members know of the workload, side by side; most of it is known without asking.
func (m *Mode) readMembers(ctx context.Context, in *situation) {
	others := m.others(ctx, in)
	workload.Each(ctx, m.Fleet.Timeout, in.parts, func(ctx context.Context, p *part) {
		if !p.takesPart() {
			return
		}
		p.readPods(ctx, in)
		p.Autoscalers = p.Member.Autoscalers(ctx, in.Object.Namespace)
		p.findOthers(ctx, in, others)
		if in.asksForRoom(p) {
			p.Additional, p.Promised = workload.Room(ctx, p.Member, in.Object.Namespace, in.Object.Spec.ScaleTargetRef, nil)
		}
	})
}

// asksForRoom: it matters how many replicas the cluster can host, for the division, or as a full cluster may have room again.
func (in *situation) asksForRoom(p *part) bool {
	d := in.Object.Spec.ReplicaDistribution
	return d != nil && p.writable() && (p.Before.State == v1alpha1.ClusterSaturated || assignment.Policy(d.Type).ByCapacity())
}

func (p *part) readPods(ctx context.Context, in *situation) {
	selector, _ := in.selectorOf(p.selector(in.scale.Selector))
	if selector == nil || selector.Empty() {
		return // reported by the decision
	}
	p.Pods = p.Member.Pods(ctx, in.Object.Namespace, selector)
	if p.state == v1alpha1.ClusterActive && p.Pods.Silent != nil {
		p.silent(p.Pods.Silent)
	}
	if in.Object.Spec.ReplicaDistribution != nil && p.writable() {
		p.ReadStuck(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
	}
}

// templateOf returns what a Pod of the workload requests, for Pods that count though they cannot be seen. Any Pod that can be
// seen tells it; where none can, no utilization is known.
func (in *situation) templateOf() *replicas.Requests {
	for i := range in.parts {
		if seen := in.parts[i].Pods.Pods; len(seen) > 0 {
			return seen[0].Requests
		}
	}
	return nil
}
