// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/history"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// sized is what the goals come to for the template, and what its containers should have.
func (in *situation) sized() (goals.Result, sized) {
	result, born := in.goalsOf()
	running := slices.Clone(born)
	bounds := in.Object.Spec.Constraints.Global
	if bounds == nil || !goals.Reserves(in.wantedReplicas(), *bounds.MinReplicas, goals.Pressure{}) {
		for i := range running {
			running[i].Request = goals.Amounts{}
		}
	}
	return result, in.sizes(running, born)
}

// goalsOf is what the goals come to for the template, and what they have each of its containers be given at least for load.
func (in *situation) goalsOf() (goals.Result, []goals.Share) {
	spec, containers := in.sizable(), in.template.containers()
	result := goals.Child(spec, containers)
	return result, goals.Shares(spec, containers, result.Floors)
}

// sizable is the spec with containers that are never sized taken out: those that initialize a Pod and run on.
func (in *situation) sizable() *v1alpha1.MultidimPodAutoscalerSpec {
	spec := &in.Object.Spec
	var off []v1alpha1.ContainerConstraint
	for _, c := range in.template.Spec.InitContainers {
		off = append(off, v1alpha1.ContainerConstraint{Name: c.Name, Mode: v1alpha1.ContainerOff})
	}
	if len(off) == 0 {
		return spec
	}
	copied := *spec
	copied.Constraints.Container = slices.Concat(slices.DeleteFunc(slices.Clone(spec.Constraints.Container),
		func(c v1alpha1.ContainerConstraint) bool {
			return slices.ContainsFunc(off, func(o v1alpha1.ContainerConstraint) bool { return o.Name == c.Name })
		}), off)
	return &copied
}

// wantedReplicas are those that the goals call for.
func (in *situation) wantedReplicas() int32 {
	if !in.owns() {
		return 0
	}
	return in.child.Status.DesiredReplicas
}

// containers are those that run as long as the Pod, the regular ones first.
func (t *template) containers() []goals.Container {
	var all []goals.Container
	for _, c := range slices.Concat(t.Spec.Containers, t.sidecars()) {
		all = append(all, goals.Container{
			Name: c.Name, Requests: toGoals(amountsIn(c.Resources.Requests)), Limits: toGoals(amountsIn(c.Resources.Limits)),
		})
	}
	return all
}

// has reports whether a container of that name runs as long as the Pod, and is no sidecar.
func (t *template) has(container string) bool {
	return slices.ContainsFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
}

// sidecars initialize the Pod, and run on.
func (t *template) sidecars() (all []corev1.Container) {
	for _, c := range t.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}

// sizes returns what the containers should have, for the fleet and in each cluster, and what that would save. The goals have running
// Pods request at least some shares, and new ones, which are there for load, others.
func (in *situation) sizes(running, born []goals.Share) sized {
	template := in.admitted(nil, running, func(a *history.Advice) sizes.Advice { return a.Fleet })
	s := sized{
		template: template, fleet: sizes.CapAll(template, sizes.Unlimited()),
		clusters: make([]sizedCluster, len(in.clusters)), priced: true,
	}
	for i := range in.clusters {
		c := &in.clusters[i]
		advised := func(a *history.Advice) sizes.Advice { return in.adviceIn(a, c.name) }
		rooms := c.rooms(in)
		s.clusters[i] = in.compare(c, sizes.CapAny(in.admitted(&c.limits, running, advised), rooms))
		s.clusters[i].template, s.clusters[i].rooms = in.admitted(&c.limits, born, advised), rooms
		s.add(&s.clusters[i])
	}
	return s
}

// compare says how the Pods of a cluster differ from what they should be.
func (in *situation) compare(c *cluster, all []sizes.Size) sizedCluster {
	running := c.running()
	s := sizedCluster{sizes: all, pods: len(running)}
	price, priced := sizes.PriceOf(c.Prices().CPUHour, c.Prices().GiBHour, in.Price)
	s.priced = priced
	asPods := make([]sizes.Running, len(running))
	for i, p := range running {
		asPods[i] = in.runningOf(c, &p, all, nil, nil)
		if asPods[i].AsAdvised() {
			s.fitting++
		}
	}
	s.savings = sizes.SavingsOf(asPods, price)
	if !c.pods.Known {
		s.asLast(&in.Object.Status, c.name)
	}
	return s
}

// asLast takes what was reported of a cluster whose Pods this process has not seen yet: it continues to be reported, and the sums agree
// with it.
func (s *sizedCluster) asLast(status *v1alpha1.MultidimPodAutoscalerStatus, cluster string) {
	for i := range status.Clusters {
		c := &status.Clusters[i]
		if c.Name != cluster {
			continue
		}
		s.pods, s.fitting = int(max(0, ptr.Deref(c.Pods, 0))), int(max(0, ptr.Deref(c.AsRecommended, 0)))
		if last := c.Savings; last != nil {
			requested, advised := amountsOf(last.Requested), amountsOf(last.Recommended)
			for r := range resourceNames {
				add(&s.savings.Requested[r], requested[r])
				add(&s.savings.Advised[r], advised[r])
			}
			money, err := strconv.ParseFloat(last.CostPerHour, 64)
			s.savings.Money, s.priced = money, err == nil
		}
	}
}

func (s *sized) add(c *sizedCluster) {
	s.savings = s.savings.Add(c.savings)
	s.pods, s.fitting = s.pods+c.pods, s.fitting+c.fitting
	s.priced = s.priced && (c.priced || c.pods == 0)
}

// adviceIn is what is advised for a cluster.
func (in *situation) adviceIn(a *history.Advice, cluster string) sizes.Advice {
	if in.Object.Spec.Scope == v1alpha1.ScopePerCluster {
		for _, own := range a.Clusters {
			if own.Cluster == cluster {
				return own.Advice
			}
		}
	}
	return a.Fleet
}

// admitted is the template as a cluster admits it, and what is advised for it. No limits: as it is written.
func (in *situation) admitted(limits *capacity.LimitRanges, shares []goals.Share,
	advised func(*history.Advice) sizes.Advice) sizes.Template {
	spec := &in.Object.Spec
	t := sizes.Template{Fixed: in.template.fixed(), Guaranteed: true}
	for i, c := range in.template.Spec.Containers {
		entry := spec.Container(c.Name)
		k := sizes.Container{
			Name: c.Name, Resources: resourcesOf(c.Resources, limits), Advice: nothing(),
			MinAllowed: amountsOf(entry.Requests.MinAllowed), MaxAllowed: amountsOf(entry.Requests.MaxAllowed),
			GoalFloor: ofGoals(shares[i].Request), GoalLimit: ofGoals(shares[i].Limit),
		}
		for r, name := range resourceNames {
			k.LimitsFollow[r] = spec.SizesLimits(c.Name, name)
		}
		if n := slices.IndexFunc(in.advice, func(a history.Advice) bool { return a.Container == c.Name }); n >= 0 {
			k.Advice = in.controlled(c.Name, advised(&in.advice[n]))
		}
		t.Guaranteed = t.Guaranteed && guaranteed(k.Resources)
		t.Containers = append(t.Containers, k)
	}
	for _, c := range in.template.Spec.InitContainers {
		t.Guaranteed = t.Guaranteed && guaranteed(resourcesOf(c.Resources, limits))
	}
	return t
}

// controlled leaves of the advice what is sized.
func (in *situation) controlled(container string, a sizes.Advice) sizes.Advice {
	for r, name := range resourceNames {
		if !in.Object.Spec.Sized(container, name) {
			a.Target[r], a.Lower[r], a.Upper[r] = sizes.None, sizes.None, sizes.None
		}
	}
	return a
}

func nothing() sizes.Advice {
	return sizes.Advice{Target: noAmounts(), Lower: noAmounts(), Upper: noAmounts()}
}

// resourcesOf are those of a container as an API server stores it: a request that is not set is as the limit; and what is still
// not set is as the LimitRanges of the namespace have it.
func resourcesOf(written corev1.ResourceRequirements, limits *capacity.LimitRanges) sizes.Resources {
	has := sizes.Resources{Requests: amountsIn(written.Requests), Limits: amountsIn(written.Limits)}
	for r := range resourceNames {
		fill(&has.Requests[r], has.Limits[r])
		if limits != nil && limits.Known {
			fill(&has.Limits[r], ofPods(limits.DefaultLimits)[r])
			fill(&has.Requests[r], ofPods(limits.DefaultRequests)[r])
		}
	}
	return has
}

// guaranteed reports whether a container is one of a Pod of that quality of service.
func guaranteed(has sizes.Resources) bool {
	for r := range resourceNames {
		if has.Limits[r] <= 0 || has.Requests[r] != has.Limits[r] {
			return false
		}
	}
	return true
}

func fill(amount *int64, otherwise int64) {
	if *amount < 0 {
		*amount = otherwise
	}
}

// fixed is what is requested, and limited, by all that is not sized with the containers.
func (t *template) fixed() sizes.Resources {
	overhead := amountsIn(t.Spec.Overhead)
	fixed := sizes.Resources{Requests: overhead, Limits: overhead}
	for _, c := range t.sidecars() {
		has := resourcesOf(c.Resources, nil)
		for r := range resourceNames {
			add(&fixed.Requests[r], has.Requests[r])
			add(&fixed.Limits[r], has.Limits[r])
		}
	}
	return fixed
}

func add(sum *int64, amount int64) {
	if amount >= 0 {
		*sum = max(0, *sum) + amount
	}
}

// rooms are what bounds sizes in the cluster, for each of its largest nodes.
func (c *cluster) rooms(in *situation) []sizes.Room {
	room := sizes.Unlimited()
	if c.limits.Known {
		room.Container, room.Pod = rulesOf(c.limits.Container), rulesOf(c.limits.Pod)
	}
	if c.quota.Known {
		replicas := int64(max(1, len(c.running()), in.assigned(c.name)))
		room.Quota = sizes.Resources{Requests: shareOf(c.quota.Requests, replicas), Limits: shareOf(c.quota.Limits, replicas)}
	}
	room.Headroom = in.Headroom
	if len(c.nodes.Nodes) == 0 {
		return []sizes.Room{room}
	}
	rooms := make([]sizes.Room, len(c.nodes.Nodes))
	for i, node := range c.nodes.Nodes {
		rooms[i] = room
		rooms[i].Node = ofPods(node)
		if c.past != nil {
			rooms[i].Accepted = c.past.Accepted(rooms[i].Node)
		}
	}
	return rooms
}

// assigned is how many replicas the cluster is to run, as far as that is known.
func (in *situation) assigned(cluster string) int {
	if !in.owns() {
		return 0
	}
	for i := range in.child.Status.Clusters {
		if c := &in.child.Status.Clusters[i]; c.Name == cluster && c.AssignedReplicas != nil {
			return int(*c.AssignedReplicas)
		}
	}
	return 0
}

func rulesOf(l capacity.LimitRange) sizes.LimitRange {
	return sizes.LimitRange{Min: ofPods(l.Min), Max: ofPods(l.Max), MaxRatio: sizes.Amounts{l.MaxRatio.CPU, l.MaxRatio.Memory}}
}

func shareOf(left pods.Resources, replicas int64) sizes.Amounts {
	share := ofPods(left)
	for r := range resourceNames {
		if share[r] >= 0 {
			share[r] /= replicas
		}
	}
	return share
}
