// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// What the hub writes to members. All of this is called with the world locked.

// writes is called before each write that is done.
func (j *judge) writes(m *member, kind schema.GroupResource) {
	j.hubWrites++
	v := j.of(m)
	v.tries, v.refusedSince = !v.refusedSince.IsZero(), time.Time{}
	if kind == autoscalers { // one that takes replicas may still refuse bounds
		v.refusals.first, v.refusals.last = time.Time{}, time.Time{}
	}
	if !j.reconciling {
		j.fail("%s is written to while the hub does not reconcile", m.name)
	}
}

// accepts: the cluster was asked whether it would take what it refused.
func (j *judge) accepts(m *member) {
	v := j.of(m)
	v.refusals.first, v.refusals.last = time.Time{}, time.Time{}
	if v.refusedSince, v.tries = (time.Time{}), true; v.gone {
		v.gone, j.sinceChange = !m.inSight(), 0
	}
}

func (j *judge) refused(m *member) {
	j.troubled()
	v, now := j.of(m), time.Now()
	if v.refusals.last = now; v.refusals.first.IsZero() {
		v.refusals.first = now
	}
	if v.refusedSince.IsZero() {
		v.refusedSince = now
	}
}

// applied judges an autoscaler that is written; stored is what it was, nil if there was none.
func (j *judge) applied(m *member, stored, after *autoscalingv2.HorizontalPodAutoscaler, changes bool) {
	if j.f.hub.object.DeletionTimestamp != nil {
		j.released(m, stored, after)
		return
	}
	if j.f.isCentral() {
		j.fail("the autoscaler of %s is written, and the mode is central", m.name)
		return
	}
	lower, upper := int32(0), int32(0)
	if stored != nil {
		lower, upper = *stored.Spec.MinReplicas, stored.Spec.MaxReplicas
	}
	least, most := *after.Spec.MinReplicas, after.Spec.MaxReplicas
	j.did("apply %s %d-%d to %d-%d, held %t", m.name, lower, upper, least, most, holds(after))
	if !changes && (m.old == nil || j.sinceRestart > 1) && !j.of(m).tries { // whether it still refuses may be tried
		j.fail("the autoscaler of %s is written as it is", m.name)
	}
	j.checkShape(m, stored, after)
	if stored != nil && !isOurs(stored) { // it is adopted: its bounds were not ours
		lower, upper = 0, 0
	}
	sum := j.sum() - int64(j.part(m)) + int64(most)
	if j.duplicated() {
		sum = int64(most)
	}
	if most > upper && sum > int64(j.spec().MaxReplicas)+j.untold() {
		j.fail("P1: %s gets %d instead of %d, which makes the maxima %d of %d", m.name, most, upper, sum, j.spec().MaxReplicas)
	}
	j.checkShare(m, upper, most)
	j.checkGrowth(m, lower, upper, least, most)
	if lower != least || upper != most {
		j.checkSilence(m)
	}
	if j.joining && stored == nil {
		j.of(m).bounded = true
		j.checkJoin(m, most)
	}
	if upper == 0 { // what ran there is seen from now on
		j.constantSince = time.Now()
	}
	if stored != nil && most < int32(m.hosted()) && most < upper {
		j.checkEviction(m, most)
	}
}

// untold are the maxima of clusters that could not be told of a new spec. As long as it is not split among all, the fleet may
// exceed its maximum by as much, and says so.
func (j *judge) untold() (sum int64) {
	if seen := j.f.hub.object.Status.ObservedGeneration; seen != nil && *seen == j.f.hub.object.Generation {
		return 0
	}
	for _, m := range j.f.members {
		if _, upper := m.bounds(); j.counts(m) && !m.inSight() {
			sum += int64(upper)
		}
	}
	return sum
}

// checkShare: while a cluster is out of sight, no other gets less than what it runs of its share by weight.
func (j *judge) checkShare(m *member, upper, most int32) {
	spec := j.spec()
	if j.policy() != v1alpha1.AssignmentStaticWeighted || most >= upper || !m.inSight() || !j.takesPart(m) || !j.blind() ||
		spec.FederatedHPAAssignment.DistributionOrder == v1alpha1.DistributionMinFirst || spec.FederatedHPAAssignment.Rebalance != nil ||
		j.f.hub.object.Status.Assignment.KeepsRunning {
		return
	}
	own, all := int64(0), int64(0)
	for _, other := range j.f.members {
		p, _ := j.preference(other)
		if p.AutoscalingMinThreshold != nil || p.AutoscalingMaxThreshold != nil {
			return
		}
		if !j.takesPart(other) {
			continue
		}
		weight := int64(1)
		if p.StaticWeight != nil {
			weight = int64(*p.StaticWeight)
		}
		if all += weight; other == m {
			own = weight
		}
	}
	if all == 0 {
		return
	}
	share := int64(spec.MaxReplicas) * own / all
	if least := min(share, max(1, int64(m.hosted()))); int64(most) < least {
		j.fail("P9: %s gets %d, runs %d, and its share is %d, while another cluster is out of sight", m.name, most, m.hosted(), share)
	}
}

// released judges how an autoscaler is given up that stays.
func (j *judge) released(m *member, stored, after *autoscalingv2.HorizontalPodAutoscaler) {
	j.did("release %s", m.name)
	switch {
	case stored == nil || !isOurs(stored) || isOurs(after):
		j.fail("an autoscaler of %s is written, and the object is being deleted", m.name)
	case j.spec().DeletionPolicy != v1alpha1.DeletionPolicyOrphan || holds(after):
		j.fail("the autoscaler of %s stays, held %t", m.name, holds(after))
	case *stored.Spec.MinReplicas != *after.Spec.MinReplicas || stored.Spec.MaxReplicas != after.Spec.MaxReplicas:
		j.fail("the autoscaler of %s is released with other bounds", m.name)
	}
}

// part returns what the maximum of a cluster counts now.
func (j *judge) part(m *member) int32 {
	if _, upper := m.bounds(); j.counts(m) {
		return upper
	}
	return 0
}

// hosted are the Pods that a node has taken.
func (m *member) hosted() int { return m.boundPods() }

// checkShape: the autoscaler is one of ours, of this spec, that an API server takes, and that the status announced.
func (j *judge) checkShape(m *member, stored, after *autoscalingv2.HorizontalPodAutoscaler) {
	s := after.Spec
	switch {
	case s.MaxReplicas < 1 || *s.MinReplicas > s.MaxReplicas || *s.MinReplicas < j.floor():
		j.fail("P2: %s gets %d to %d", m.name, *s.MinReplicas, s.MaxReplicas)
	case !isOurs(after):
		j.fail("the autoscaler of %s does not say whose it is", m.name)
	case stored != nil && !isOurs(stored) && stored.Annotations[v1alpha1.AdoptByAnnotation] != name:
		j.fail("the autoscaler %s of %s is somebody else's", stored.Name, m.name)
	case m.rival() != nil && m.rival().Annotations[v1alpha1.AdoptByAnnotation] != name && m.old == nil:
		j.fail("%s has an autoscaler of its own", m.name)
	case s.ScaleTargetRef != target || !equality.Semantic.DeepEqual(s.Metrics, j.spec().Metrics):
		j.fail("the autoscaler of %s scales %v by %v", m.name, s.ScaleTargetRef, s.Metrics)
	case holds(after) && !j.strict():
		j.fail("%s is held, and no order is asked for", m.name)
	}
	announced := stored != nil && isOurs(stored) && *stored.Spec.MinReplicas == *s.MinReplicas && stored.Spec.MaxReplicas == s.MaxReplicas
	for _, c := range j.f.hub.object.Status.Clusters {
		announced = announced || c.Name == m.name && c.AssignedMax != nil && *c.AssignedMax == s.MaxReplicas && c.AssignedMin != nil &&
			*c.AssignedMin == max(1, *s.MinReplicas)
	}
	if !announced {
		j.fail("%s gets %d to %d, which the status did not say before", m.name, *s.MinReplicas, s.MaxReplicas)
	}
}

// floor is the least minimum that an autoscaler of ours may have.
func (j *judge) floor() int32 {
	if s := j.spec(); j.toZero() && s.ScalingToZeroMode == v1alpha1.ScalingToZeroNative && j.f.external && !j.duplicated() {
		return 0
	}
	return 1
}

func holds(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	b := hpa.Spec.Behavior
	return b != nil && b.ScaleDown != nil && b.ScaleDown.SelectPolicy != nil && *b.ScaleDown.SelectPolicy == autoscalingv2.DisabledPolicySelect
}

// checkSilence: while a cluster is out of sight, the others keep their bounds until it counts no more, but for those of one that is
// drained, which nothing holds up.
func (j *judge) checkSilence(m *member) {
	if slices.ContainsFunc(j.f.members, func(m *member) bool { return j.drained(m) && j.of(m).had }) {
		return
	}
	if seen := j.f.hub.object.Status.ObservedGeneration; seen == nil || *seen != j.f.hub.object.Generation {
		return // the split for this spec is not complete
	}
	if !j.settled(3) || !j.duplicated() && j.sum() < int64(j.spec().MaxReplicas) { // what nobody had may be given out
		return
	}
	for _, other := range j.f.members {
		if v := j.of(other); other != m && j.takesPart(other) && j.counts(other) && !other.inSight() && !v.gone {
			j.fail("P9: the bounds of %s change while %s has been out of sight for %v only", m.name, other.name, time.Since(v.unseenSince))
		}
	}
}

// checkEviction: a maximum below what runs takes Pods away that nodes have taken.
func (j *judge) checkEviction(m *member, most int32) {
	if j.sinceChange < 3 || j.mayDrain(m) || j.runsTooMany() {
		return
	}
	j.fail("P5: %s gets a maximum of %d, and runs %d", m.name, most, m.hosted())
}

// runsTooMany: more has found a node than the fleet may run, as one was out of sight when others took its part over.
func (j *judge) runsTooMany() bool {
	sum := 0
	for _, m := range j.f.members {
		if j.takesPart(m) {
			sum += m.hosted()
		}
	}
	return sum > int(j.spec().MaxReplicas) && !j.duplicated()
}

// mayDrain: in order of priority it is the cluster's turn to shrink, and the load is low.
func (j *judge) mayDrain(m *member) bool {
	if !j.strict() || j.load() >= 1-j.tolerance()/2 {
		return false
	}
	for _, other := range j.f.members {
		if j.priority(other) < j.priority(m) && j.canShrink(other) {
			return false
		}
	}
	return true
}

// tolerance is by what part of its target the load may be below it.
func (j *judge) tolerance() float64 {
	if b := j.spec().Behavior; b != nil && b.ScaleDown.Tolerance != nil {
		return b.ScaleDown.Tolerance.AsApproximateFloat64()
	}
	return tolerance
}

// canShrink: the cluster takes part, and runs more than its minimum. Nobody waits for the last one, which an autoscaler may take to zero
// if there is nothing to do.
func (j *judge) canShrink(m *member) bool {
	lower, _ := m.bounds()
	return j.takesPart(m) && m.inSight() && m.ours() != nil && m.replicas() > max(1, lower)
}

// load of the fleet over its target.
func (j *judge) load() float64 {
	sum, n := 0.0, 0.0
	for _, m := range j.f.members {
		if j.takesPart(m) && m.ours() != nil {
			sum += m.ratio() * float64(m.replicas())
			n += float64(m.replicas())
		}
	}
	return sum / max(1, n)
}

func (j *judge) deleted(m *member, hpa *autoscalingv2.HorizontalPodAutoscaler) {
	j.did("delete the autoscaler of %s", m.name)
	j.constantSince = time.Now()
	if !isOurs(hpa) {
		j.fail("the autoscaler %s of %s is deleted, and was not ours", hpa.Name, m.name)
	}
	if j.f.hub.object.DeletionTimestamp != nil {
		if j.spec().DeletionPolicy == v1alpha1.DeletionPolicyOrphan {
			j.fail("the autoscaler of %s is deleted, and was to stay", m.name)
		}
		return
	}
	if j.f.isCentral() {
		return
	}
	j.checkSilence(m)
	j.checkShare(m, hpa.Spec.MaxReplicas, 0)
}

func (j *judge) deletedNothing(m *member) {
	if m.old == nil || j.sinceRestart > 1 {
		j.fail("an autoscaler of %s is deleted that is not there", m.name)
	}
}

// scaled judges replicas that the hub writes.
func (j *judge) scaled(m *member, from, to int32) {
	j.did("scale %s %d to %d", m.name, from, to)
	v := j.of(m)
	switch {
	case j.f.isCentral():
		j.fail("%s is scaled, and distributed mode is to end", m.name)
	case from > 0 && to > 0 || from == to:
		j.fail("%s is told to run %d, and was to run %d", m.name, to, from)
	case j.f.hub.object.DeletionTimestamp != nil:
		j.fail("%s is scaled, and the object is being deleted", m.name)
	case to > 0 && j.restricted(m):
		j.fail("%s has the taint %q, and begins with %d", m.name, m.taint, to)
	case to == 0 && j.drained(m):
		j.constantSince = time.Now() // the load is the same, and there is one less to carry it
		j.checkEmptied(m, from)
	case to == 0:
		v.sleptAt = time.Now()
		j.checkSleep(m, from)
	default:
		v.paused = false
		if _, upper := m.bounds(); to > upper {
			j.fail("%s begins with %d, and may run %d", m.name, to, upper)
		}
		j.checkWake(m)
		if others := func(other *member) bool { return other != m && other.replicas() > 0 }; from == 0 && *j.spec().MinReplicas == 0 &&
			v.had && !slices.ContainsFunc(j.f.members, others) {
			j.happened("woken by the hub")
		}
	}
}

// checkSleep: the clusters that go on running are enough.
func (j *judge) checkSleep(m *member, from int32) {
	left, carry := int32(0), int32(0)
	for _, other := range j.f.members {
		if other != m && j.takesPart(other) {
			left += other.replicas()
		}
		if other != m { // the load goes to all, whoever governs them
			carry += other.replicas()
		}
	}
	if !j.toZero() || j.duplicated() || left < *j.spec().MinReplicas || left < 1 {
		j.fail("P6: %s goes from %d to zero, and %d are left", m.name, from, left)
	}
	if load := float64(j.f.load) / float64(j.f.goal()); j.settled(1) && j.f.shared && load > 1.01*float64(carry) {
		j.fail("P8: %s goes to zero, and the others would carry %.2f of their target", m.name, load/float64(carry))
	}
}

// checkWake: nobody was put to sleep under the same load.
func (j *judge) checkWake(m *member) {
	for _, other := range j.f.members {
		if slept := j.of(other).sleptAt; slept.After(j.constantSince) && j.settled(1) {
			j.fail("P8: %s is woken, and %s was put to sleep %v ago under the same load", m.name, other.name, time.Since(slept))
		}
	}
}

// made judges a workload that the hub makes.
func (j *judge) made(m *member, o *unstructured.Unstructured) {
	j.did("make the workload of %s with %d", m.name, m.replicas())
	if !j.f.hub.template || o.GetLabels()[v1alpha1.ManagedByLabel] != string(fleetUID) || !m.selected || m.replicas() > 0 && j.restricted(m) {
		j.fail("%s gets a workload: %v", m.name, o.Object)
	}
	j.sinceChange = 0
}

// removed judges a workload that the hub deletes.
func (j *judge) removed(m *member) {
	j.did("delete the workload of %s", m.name)
	if j.f.isCentral() {
		j.fail("the workload of %s is deleted, and distributed mode is to end", m.name)
	}
	if m.workload.labels[v1alpha1.ManagedByLabel] != string(fleetUID) {
		j.fail("the workload of %s is deleted, and we did not make it", m.name)
	}
	if m.ours() != nil {
		j.fail("the workload of %s is deleted, and has an autoscaler of ours", m.name)
	}
	for _, other := range j.f.members {
		if other != m && j.takesPart(other) && other.inSight() && other.readyPods()+int(other.pending()) < int(other.replicas()) {
			j.fail("the workload of %s is deleted, and %s is not Ready: %d of %d", m.name, other.name, other.readyPods(), other.replicas())
		}
	}
}
