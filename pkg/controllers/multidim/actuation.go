// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// outcome is what came of a move.
type outcome struct {
	sizes.Move
	err error
}

// clusterMemory is what is remembered of a cluster, to give Pods their sizes.
type clusterMemory struct {
	pods      podMemories
	past      sizes.Past
	born      []sizes.NewContainer // what new Pods are, or would be, created with
	version   string               // of what stands there for new Pods
	written   time.Time            // when that was first seen
	failure   failure
	evictions []time.Time // of the last hour
	replicas  int         // before the last eviction
}

// failure is the last thing that did not work. What was refused is not retried at once, so it is told for a while.
type failure struct {
	reason, message string
	at              time.Time
}

// toldFor is how long a failure is told: until it is retried, and one reconcile more.
const toldFor = 7 * time.Minute

// missing is for how long a Pod may be missing after an eviction before the workload is thought to have fewer.
const missing = 2 * time.Minute

// wanted is how many Pods the workload should have there.
func (m *clusterMemory) wanted(running, assigned int, now time.Time) int {
	if n := len(m.evictions); n > 0 && now.Sub(m.evictions[n-1]) < missing {
		return max(running, assigned, m.replicas)
	}
	m.replicas = running
	return max(running, assigned)
}

// mostEvictions are so many that are remembered.
const mostEvictions = 10_000

// lately forgets what was evicted more than an hour ago.
func (m *clusterMemory) lately(now time.Time) int32 {
	m.evictions = slices.DeleteFunc(m.evictions, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	m.evictions = m.evictions[max(0, len(m.evictions)-mostEvictions):]
	return int32(len(m.evictions))
}

// mayGive reports whether new Pods may be given sizes: something is recommended, and nobody else has the workload. What is only
// observed is decided alike.
func (p *plan) mayGive() bool {
	return p.decides() && p.unlearned == nil && len(p.advice) > 0 && len(p.claims) == 0 && len(p.sizers) == 0 && !p.stranger()
}

// mayMove reports whether running Pods may be changed: what they use is known, too.
func (p *plan) mayMove() bool { return p.mayGive() && p.unmeasured == nil }

// acts reports whether it is decided how Pods come to their sizes.
func (p *plan) acts() bool { return p.Object.Spec.Policy.Acts() && p.template != nil }

// actuate decides that, and remembers what has become of them.
func (p *plan) actuate() {
	if !p.acts() {
		return
	}
	policy := p.policy()
	var clusters []sizes.ClusterPods
	for i := range p.clusters {
		c := &p.clusters[i]
		if seen := p.observe(c, &p.said.Clusters[i], policy); seen.Silent || len(c.others) == 0 && c.shares && can(c.mode, seen.Means) {
			clusters = append(clusters, seen)
		}
	}
	if !p.mayMove() {
		return
	}
	for _, move := range sizes.PlanMoves(clusters, policy, p.Now) {
		at, _ := slices.BinarySearchFunc(p.clusters, move.Cluster, func(c cluster, name string) int { return cmp.Compare(c.name, name) })
		p.clusters[at].moves = append(p.clusters[at].moves, move)
	}
}

// can reports whether a cluster is able to change Pods so.
func can(mode sizes.Mode, means sizes.Means) bool { return means.InPlace || mode == sizes.ModeRecreate }

// observe is what a plan has to know of a cluster. What new Pods are to be created with there is decided on the way.
func (p *plan) observe(c *cluster, said *recommendation.ClusterSizes, policy sizes.Policy) sizes.ClusterPods {
	means := sizes.Means{Admits: c.can.Admits, InPlace: c.can.Resizes}
	c.mode = policy.Mode.In(means)
	c.memory.pods = c.memory.pods.see(c, said.Sizes, p.Now)
	born := p.enter(c, said)
	running := c.running()
	seen := sizes.ClusterPods{
		Cluster: c.name, Means: means, Silent: c.silent() != nil || c.unclaimed != nil || !c.can.Known, History: p.history(c.name),
		Replicas: c.memory.wanted(len(running), p.assigned(c.name), p.Now), Budget: p.budget(c, len(running)),
	}
	newest := newestOf(running)
	for i := range running {
		pod := p.runningOf(c, &running[i], said.Sizes, born, c.memory.pods[running[i].UID])
		pod.Outdated = running[i].Revision != newest
		c.count(pod.Resize)
		if pod.UID != "" {
			seen.Pods = append(seen.Pods, pod)
		}
	}
	c.memory.past.Observe(&seen, p.standing(c, born, newest), policy, p.Now)
	if !p.active() {
		seen.Admits = means.Admits && len(born) > 0 // as if what is only reported stood there, and had effect
	}
	c.admission = c.admits()
	return seen
}

// policy is what the object allows to be done to Pods.
func (p *plan) policy() sizes.Policy {
	is := &p.Object.Spec.Policy
	return sizes.Policy{
		Mode: modes[is.UpdateMode], EvictOn: evictOn[is.EvictOn], OneByOne: is.Rollout != v1alpha1.RolloutAllClusters,
		ActAfter: time.Duration(*is.ActAfterSeconds) * time.Second, Deferred: p.ResizeDeferred, InProgress: p.ResizeTimeout,
	}
}

var (
	modes = map[v1alpha1.UpdateMode]sizes.Mode{
		v1alpha1.UpdateModeOff: sizes.ModeOff, v1alpha1.UpdateModeInitial: sizes.ModeInitial, v1alpha1.UpdateModeInPlace: sizes.ModeInPlace,
		v1alpha1.UpdateModeInPlaceOrRecreate: sizes.ModeInPlaceOrRecreate, v1alpha1.UpdateModeRecreate: sizes.ModeRecreate,
		v1alpha1.UpdateModeAuto: sizes.ModeAuto,
	}
	evictOn = map[v1alpha1.EvictOn]sizes.EvictOn{
		v1alpha1.EvictOnAny: sizes.EvictOnAny, v1alpha1.EvictOnOOM: sizes.EvictOnOOM, v1alpha1.EvictOnNever: sizes.EvictOnNever,
	}
)

// budget is what may be done to the Pods of a cluster now.
func (p *plan) budget(c *cluster, running int) sizes.Budget {
	is := &p.Object.Spec.Policy
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(is.MaxUnavailable, running, false)
	if err != nil {
		unavailable = 1 // which no schema lets pass
	}
	return sizes.Budget{
		MinReplicas: int(*is.MinReplicas), MaxUnavailable: max(1, unavailable), Resizes: c.rates.Resizes, Evictions: c.rates.Evictions,
	}
}

// history is for how long there have been samples of all containers: in the cluster, or where one size is for all, in the fleet.
// Whoever else recommends knows how long to wait.
func (p *plan) history(cluster string) time.Duration {
	if recommender(p.Object) != "" {
		return math.MaxInt64
	}
	least := time.Duration(math.MaxInt64)
	for i := range p.advice {
		advice := &p.advice[i]
		first, samples := advice.First, advice.Samples
		if p.Object.Spec.Scope == v1alpha1.ScopePerCluster {
			first, samples = p.Now, 0
			for _, own := range advice.Clusters {
				if own.Cluster == cluster {
					first, samples = own.First, own.Samples
				}
			}
		}
		if samples == 0 {
			return 0
		}
		least = min(least, p.Now.Sub(first))
	}
	return least
}

// newestOf is the revision of the Pod that was created last: while there are others, a new template is rolled out. If there are
// revisions at all, a Pod without any is somebody else's with the same labels, such as a Job's.
func newestOf(running []pods.SizedPod) string {
	if revised := slices.DeleteFunc(slices.Clone(running), func(p pods.SizedPod) bool { return p.Revision == "" }); len(revised) > 0 {
		running = revised
	}
	if len(running) == 0 {
		return ""
	}
	return slices.MaxFunc(running, func(a, b pods.SizedPod) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	}).Revision
}

func (c *cluster) count(state sizes.ResizeState) {
	switch state {
	case sizes.ResizeInProgress, sizes.ResizeError:
		c.resizing++
	case sizes.ResizeDeferred:
		c.deferred++
	case sizes.ResizeInfeasible:
		c.infeasible++
	}
}

func (c *cluster) admits() v1alpha1.SizeAdmission {
	switch {
	case !c.can.Known:
		return v1alpha1.AdmissionUnknown
	case !c.can.Admits:
		return v1alpha1.AdmissionMissing
	case c.memory.past.Ineffective():
		return v1alpha1.AdmissionIneffective
	}
	return v1alpha1.AdmissionInstalled
}
