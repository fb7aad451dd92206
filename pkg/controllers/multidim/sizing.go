// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/members/capacity"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// decideSizes decides what the goals come to for the template, what its containers should have, for the fleet and in each cluster, and what
// that would save.
func (p *plan) decideSizes() {
	p.asked = p.question()
	p.goals, _ = p.asked.Goals()
	p.said = p.asked.Sizes(p.advised())
	p.sized.priced = true
	for i := range p.clusters {
		in := p.compare(&p.clusters[i], p.said.Clusters[i].Sizes)
		p.sizedIn = append(p.sizedIn, in)
		p.sized.add(&in)
	}
}

// question is what sizes are decided by, but for what was used.
func (in *situation) question() *recommendation.Question {
	q := &recommendation.Question{
		Spec: &in.Object.Spec, PodMinimum: in.PodMinimum, Template: in.template.shape(), Replicas: in.wantedReplicas(),
		Clusters: make([]recommendation.Cluster, len(in.clusters)),
	}
	for i := range in.clusters {
		c := &in.clusters[i]
		q.Clusters[i] = recommendation.Cluster{Name: c.name, Defaults: defaultsOf(&c.limits), Rooms: c.rooms(in)}
	}
	return q
}

// advised is what is advised, in the order of the clusters.
func (in *situation) advised() []recommendation.Advised {
	all := make([]recommendation.Advised, len(in.advice))
	for i := range in.advice {
		a := &in.advice[i]
		all[i] = recommendation.Advised{Container: a.Container, Fleet: a.Fleet}
		if in.Object.Spec.Scope != v1alpha1.ScopePerCluster {
			continue
		}
		own := make(map[string]sizes.Advice, len(a.Clusters))
		for _, c := range a.Clusters {
			own[c.Cluster] = c.Advice
		}
		for k := range in.clusters {
			advice, known := own[in.clusters[k].name]
			if !known {
				advice = a.Fleet
			}
			all[i].In = append(all[i].In, advice)
		}
	}
	return all
}

// wantedReplicas are those that the goals call for.
func (in *situation) wantedReplicas() int32 {
	if !in.owns() {
		return 0
	}
	return in.child.Status.DesiredReplicas
}

// shape is what of the template matters to sizes.
func (t *template) shape() recommendation.Template { return recommendation.TemplateOf(&t.Spec) }

// fixed is what is requested, and limited, by all that is not sized with the containers.
func (t *template) fixed() sizes.Resources {
	shape := recommendation.TemplateOf(&corev1.PodSpec{InitContainers: t.Spec.InitContainers, Overhead: t.Spec.Overhead})
	return shape.Fixed()
}

// has reports whether a container of that name runs as long as the Pod, and is no sidecar.
func (t *template) has(container string) bool {
	return slices.ContainsFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
}

// compare says how the Pods of a cluster differ from what they should be.
func (in *situation) compare(c *cluster, all []sizes.Size) sized {
	running := c.running()
	price, priced := sizes.PriceOf(c.Prices().CPUHour, c.Prices().GiBHour, in.Price)
	s := sized{pods: len(running), priced: priced}
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
func (s *sized) asLast(status *v1alpha1.MultidimPodAutoscalerStatus, cluster string) {
	for i := range status.Clusters {
		c := &status.Clusters[i]
		if c.Name != cluster {
			continue
		}
		s.pods, s.fitting = int(max(0, ptr.Deref(c.Pods, 0))), int(max(0, ptr.Deref(c.AsRecommended, 0)))
		if last := c.Savings; last != nil {
			requested, advised := recommendation.AmountsOf(last.Requested), recommendation.AmountsOf(last.Recommended)
			for r := range recommendation.ResourceNames {
				recommendation.Add(&s.savings.Requested[r], requested[r])
				recommendation.Add(&s.savings.Advised[r], advised[r])
			}
			money, err := strconv.ParseFloat(last.CostPerHour, 64)
			s.savings.Money, s.priced = money, err == nil
		}
	}
}

func (s *sized) add(c *sized) {
	s.savings = s.savings.Add(c.savings)
	s.pods, s.fitting = s.pods+c.pods, s.fitting+c.fitting
	s.priced = s.priced && (c.priced || c.pods == 0)
}

// defaultsOf are those of LimitRanges, as far as these are known.
func defaultsOf(limits *capacity.LimitRanges) sizes.Resources {
	if !limits.Known {
		return recommendation.NoDefaults()
	}
	return sizes.Resources{Requests: ofPods(limits.DefaultRequests), Limits: ofPods(limits.DefaultLimits)}
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
		if c.memory != nil {
			rooms[i].Accepted = c.memory.past.Accepted(rooms[i].Node)
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
	for r := range recommendation.ResourceNames {
		if share[r] >= 0 {
			share[r] /= replicas
		}
	}
	return share
}
