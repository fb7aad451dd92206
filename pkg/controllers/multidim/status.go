// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"math"
	"slices"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/claims"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/sizes"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// status returns what the object is to say.
func (p *plan) status() v1alpha1.MultidimPodAutoscalerStatus {
	s := *p.Object.Status.DeepCopy()
	s.ObservedGeneration = &p.Object.Generation
	if p.decides() {
		p.reportSizes(&s)
		p.reportClusters(&s)
	}
	p.reportReplicas(&s)
	s.Conditions = p.conditions(&s)
	s.Summary = p.summarize(&s)
	return s
}

// reportSizes says what is recommended, and what it would save. What cannot be said now stays as it was.
func (p *plan) reportSizes(s *v1alpha1.MultidimPodAutoscalerStatus) {
	if p.advice == nil {
		return
	}
	switch {
	case recommender(p.Object) == "":
		s.Recommendation = p.recommendation(p.said.Fleet, p.Object.Status.Recommendation)
	case p.isOurs():
		s.Recommendation = nil
	}
	s.Explanation = p.explain(s.Recommendation)
	if s.Savings = nil; s.Recommendation != nil {
		s.Savings = savingsOf(p.sized.savings, p.sized.priced)
	}
}

// recommendation is nil while nothing is known of any container.
func (p *plan) recommendation(all []sizes.Size, before *v1alpha1.SizeRecommendation) *v1alpha1.SizeRecommendation {
	r := &v1alpha1.SizeRecommendation{}
	for _, size := range all {
		if size.Uncapped == recommendation.NoAmounts() {
			continue
		}
		c := v1alpha1.ContainerRecommendation{
			ContainerName: size.Name, Target: sizeOf(size.Target), LowerBound: sizeOf(size.Lower), UpperBound: sizeOf(bounding(size)),
			UncappedTarget: sizeOf(size.Uncapped),
		}
		for _, by := range size.CappedBy {
			c.CappedBy = append(c.CappedBy, v1alpha1.Cap{Resource: recommendation.ResourceNames[by.Resource], Reason: string(by.Reason)})
		}
		r.Containers = append(r.Containers, c)
	}
	if len(r.Containers) == 0 {
		return nil
	}
	slices.SortFunc(r.Containers, func(a, b v1alpha1.ContainerRecommendation) int {
		return strings.Compare(a.ContainerName, b.ContainerName)
	})
	r.Since, r.At = &metav1.Time{Time: p.Now}, &metav1.Time{Time: p.Now}
	if before != nil && before.Since != nil && equality.Semantic.DeepEqual(targets(before), targets(r)) {
		r.Since = before.Since
	}
	switch { // nothing is learned while nothing is measured
	case !p.measured.IsZero():
		r.At.Time = p.measured
	case before != nil:
		r.At = before.At
	}
	return r
}

// vague is by how many times an upper bound is above the target where too little is known: after five minutes it is 289 times that.
const vague = 1000

// bounding is the upper bound, where that says something.
func bounding(s sizes.Size) sizes.Amounts {
	upper := s.Upper
	for r := range recommendation.ResourceNames {
		if upper[r]/vague >= s.Target[r] {
			upper[r] = sizes.None
		}
	}
	return upper
}

// targets are what is recommended, without why, and what changes all the time.
func targets(r *v1alpha1.SizeRecommendation) *v1alpha1.SizeRecommendation {
	if r == nil {
		return nil
	}
	bare := &v1alpha1.SizeRecommendation{}
	for i := range r.Containers {
		c := &r.Containers[i]
		bare.Containers = append(bare.Containers, v1alpha1.ContainerRecommendation{ContainerName: c.ContainerName, Target: c.Target})
	}
	return bare
}

func savingsOf(s sizes.Savings, priced bool) *v1alpha1.Savings {
	savings := &v1alpha1.Savings{Requested: sizeOf(s.Requested), Recommended: sizeOf(s.Advised), Saved: differenceOf(s.Less())}
	if priced {
		savings.CostPerHour = strconv.FormatFloat(s.Money, 'f', 4, 64)
	}
	return savings
}

// What clusters say of themselves is bounded together: the hub stores no object above 1.5 MiB, and who wrote which field of it takes as
// much as what they say.
const (
	mostOwn      = 1000      // clusters, and what they recommend for a container of their own
	leastOwn     = 100       // of these recommendations
	mostWords    = 128 << 10 // bytes of messages
	leastMessage = 128
)

// reportClusters says how each cluster takes part. Where it is not known which do, that stays as it was.
func (p *plan) reportClusters(s *v1alpha1.MultidimPodAutoscalerStatus) {
	if p.unselected != nil {
		return
	}
	all := make([]v1alpha1.MultidimClusterStatus, 0, min(len(p.clusters), summary.MostClusters))
	own := max(leastOwn, mostOwn-cap(all))
	longest := min(summary.LongestMessage, max(leastMessage, mostWords/max(1, cap(all))))
	for i := range p.clusters[:cap(all)] {
		c := v1alpha1.MultidimClusterStatus{Name: p.clusters[i].name, State: v1alpha1.ClusterActive}
		if before := slices.IndexFunc(s.Clusters, func(b v1alpha1.MultidimClusterStatus) bool { return b.Name == c.Name }); before >= 0 {
			c.Pods, c.AsRecommended = s.Clusters[before].Pods, s.Clusters[before].AsRecommended
			c.Recommendation, c.Savings = s.Clusters[before].Recommendation, s.Clusters[before].Savings
		}
		if p.template != nil {
			p.reportCluster(&c, i, s.Recommendation)
		}
		if n := len(containersOf(c.Recommendation)); n <= own {
			own -= n
		} else if c.Recommendation = nil; c.Message == "" {
			c.Reason, c.Message = reasonTooMany, "its own recommendation is left out, as the status would be too large"
		}
		c.Reason, c.Message = summary.Brief(c.Reason, leastMessage), summary.Brief(c.Message, longest)
		all = append(all, c)
	}
	s.Clusters = all
}

func (p *plan) reportCluster(s *v1alpha1.MultidimClusterStatus, i int, ofFleet *v1alpha1.SizeRecommendation) {
	c, sized := &p.clusters[i], &p.sizedIn[i]
	switch silence := c.silent(); {
	case silence != nil:
		s.State, s.Reason, s.Message = v1alpha1.ClusterUnreachable, string(silence.Reason), silence.Detail
	case len(c.others) > 0:
		s.State, s.Reason, s.Message = v1alpha1.ClusterConflict, reasonAnotherAutoscaler, claims.InTheWay(c.others)
	default:
		if s.Reason, s.Message = p.trouble(c); s.Reason == "" {
			s.Reason, s.Message = c.unbounded()
		}
	}
	p.reportActuation(s, c)
	if c.pods.Known {
		s.Pods = new(int32(sized.pods))
	}
	if p.advice == nil || ofFleet == nil {
		return
	}
	own := p.recommendation(p.said.Clusters[i].Sizes, s.Recommendation)
	s.Recommendation = nil
	if own != nil && !equality.Semantic.DeepEqual(targets(own), targets(ofFleet)) {
		s.Recommendation = own
	}
	if c.pods.Known {
		s.AsRecommended, s.Savings = new(int32(sized.fitting)), savingsOf(sized.savings, sized.priced)
	}
}

// unbounded says what is not known that may bound sizes in the cluster.
func (c *cluster) unbounded() (reason, message string) {
	for _, unknown := range []struct {
		known bool
		why   *fleet.Silence
		of    string
	}{{c.limits.Known, c.limits.Unknown, "LimitRanges"}, {c.nodes.Known, c.nodes.Unknown, "nodes"},
		{c.quota.Known, c.quota.Unknown, "ResourceQuotas"}} {
		if !unknown.known && unknown.why != nil {
			return string(unknown.why.Reason), "its " + unknown.of + " do not bound what is recommended: " + unknown.why.Detail
		}
	}
	return "", ""
}

// reportReplicas says what the FederatedHPA does; without one, Pods are counted.
func (p *plan) reportReplicas(s *v1alpha1.MultidimPodAutoscalerStatus) {
	if p.owns() {
		of := &p.child.Status
		s.LastScaleTime, s.CurrentReplicas, s.DesiredReplicas = of.LastScaleTime, of.CurrentReplicas, of.DesiredReplicas
		s.CurrentMetrics = p.utilizations(of.CurrentMetrics)
		return
	}
	s.LastScaleTime, s.CurrentMetrics = nil, nil
	if p.template != nil {
		s.CurrentReplicas = int32(p.sized.pods)
	}
	s.DesiredReplicas = s.CurrentReplicas
}

// utilizations adds to what the FederatedHPA measures how much that is of the base, where the goal is a utilization.
func (p *plan) utilizations(measured []autoscalingv2.MetricStatus) []autoscalingv2.MetricStatus {
	if p.Object.Spec.Goals == nil || len(measured) != len(p.Object.Spec.Goals.Metrics) || len(measured) != len(p.child.Spec.Metrics) {
		return measured
	}
	all := make([]autoscalingv2.MetricStatus, len(measured))
	for i := range measured {
		measured[i].DeepCopyInto(&all[i])
		current := v1alpha1.CurrentOf(&all[i])
		_, _, goal := v1alpha1.ResourceOf(&p.Object.Spec.Goals.Metrics[i])
		_, _, translated := v1alpha1.ResourceOf(&p.child.Spec.Metrics[i])
		if current == nil || current.AverageValue == nil || goal == nil || goal.AverageUtilization == nil ||
			translated == nil || translated.AverageValue == nil || translated.AverageValue.MilliValue() <= 0 {
			continue
		}
		used := float64(current.AverageValue.MilliValue()) / float64(translated.AverageValue.MilliValue())
		current.AverageUtilization = new(int32(min(used*float64(*goal.AverageUtilization), math.MaxInt32)))
	}
	return all
}
