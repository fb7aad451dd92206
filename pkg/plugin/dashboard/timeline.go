// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// point is what an autoscaler was at one time, wherever that is known from. It holds until the next one.
type point struct {
	At time.Time
	// Desired, Ready, Min and Max are nil where they are not known, or there are none.
	Desired, Ready, Min, Max *int32
	State                    string
	// Limit is the word of what limited the last decision; empty: not known.
	Limit    string
	Clusters []share
	// Unseen are clusters of which what is said is what was known last.
	Unseen  []string
	Metrics []summary.Amount
	// Sized are what was recommended for containers, no more than [mostSized], and Beyond how many others there are.
	Sized  []sized
	Beyond int
}

// share is what one cluster runs, and between which bounds, if it has its own.
type share struct {
	Name     string
	Replicas int32
	Bounded  bool
	Min, Max int32
}

// weight is about how much memory a point takes, in values.
func (p *point) weight() int {
	return 8 + 2*len(p.Clusters) + len(p.Unseen) + len(p.Metrics) + 3*len(p.Sized)
}

// says reports whether two points say the same of different times.
func (p point) says(same point) bool {
	p.At = same.At
	return reflect.DeepEqual(p, same)
}

// pointOf is what an object says of now; false: it has no past that could be drawn, or no status yet.
func pointOf(object client.Object, at time.Time) (point, bool) {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		if o.Status.Summary == nil {
			return point{}, false
		}
		p := point{
			At: at, Desired: summary.Desired(&o.Status), Ready: o.Status.ReadyReplicas, State: string(o.Status.Summary.State),
			Min: new(ptr.Deref(o.Spec.MinReplicas, 1)), Max: new(o.Spec.MaxReplicas),
			Metrics: amounts(o.Spec.Metrics, o.Status.CurrentMetrics),
		}
		if e := o.Status.Explanation; e != nil {
			p.Limit = e.LimitedBy
		}
		for i := range o.Status.Clusters {
			c := &o.Status.Clusters[i]
			if runs := cmp.Or(c.CurrentReplicas, c.ReadyReplicas); runs != nil {
				one := share{Name: c.Name, Replicas: *runs}
				if c.AssignedMin != nil && c.AssignedMax != nil {
					one.Bounded, one.Min, one.Max = true, *c.AssignedMin, *c.AssignedMax
				}
				p.Clusters = append(p.Clusters, one)
			}
			if c.State == v1alpha1.ClusterUnreachable {
				p.Unseen = append(p.Unseen, c.Name)
			}
		}
		return p, true
	case *v1alpha1.MultidimPodAutoscaler:
		if o.Status.Summary == nil {
			return point{}, false
		}
		p := point{At: at, Desired: summary.MultidimDesired(o), State: string(o.Status.Summary.State)}
		p.Min, p.Max = multidimBounds(o)
		if o.Spec.Goals != nil {
			p.Metrics = amounts(o.Spec.Goals.Metrics, o.Status.CurrentMetrics)
		}
		for i := range o.Status.Clusters {
			if c := &o.Status.Clusters[i]; c.Pods != nil {
				p.Clusters = append(p.Clusters, share{Name: c.Name, Replicas: *c.Pods})
			}
			if o.Status.Clusters[i].State == v1alpha1.ClusterUnreachable {
				p.Unseen = append(p.Unseen, o.Status.Clusters[i].Name)
			}
		}
		return p, true
	}
	return point{}, false
}

func amounts(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) []summary.Amount {
	if len(specs) == 0 {
		return nil
	}
	return summary.Amounts(specs, statuses)
}

// series are points as they are drawn: by what they are of.
type series struct {
	At       []int64         `json:"at"`
	Desired  []*int32        `json:"desired"`
	Ready    []*int32        `json:"ready"`
	Min      []*int32        `json:"min"`
	Max      []*int32        `json:"max"`
	State    []string        `json:"state"`
	Limit    []string        `json:"limit"`
	Clusters []clusterSeries `json:"clusters"`
	Metrics  []metricSeries  `json:"metrics"`
	// Unknown are when something of it is not known, and why.
	Unknown []span `json:"unknown,omitempty"`
}

type clusterSeries struct {
	Name     string  `json:"name"`
	Replicas []int32 `json:"replicas"`
	// Min and Max are its own bounds; none: it has none at any time.
	Min []*int32 `json:"min,omitempty"`
	Max []*int32 `json:"max,omitempty"`
	// Unknown are when what is said of it is what was known last.
	Unknown []span `json:"unknown,omitempty"`
}

type metricSeries struct {
	Name   string     `json:"name"`
	Target []*float64 `json:"target"`
	Value  []*float64 `json:"value"`
}

// mostStacked is how many clusters are told apart in a picture; the others are added up.
const mostStacked = 7

// seriesOf draws points, the oldest first, as they are known until now.
func seriesOf(points []point, now time.Time) series {
	n := len(points)
	s := series{
		At: make([]int64, n), Desired: make([]*int32, n), Ready: make([]*int32, n), Min: make([]*int32, n), Max: make([]*int32, n),
		State: make([]string, n), Limit: make([]string, n), Clusters: stacked(points, now), Metrics: metricsOver(points),
		Unknown: spansOf(points, now.UnixMilli(), (*point).unseen),
	}
	for i := range points {
		p := &points[i]
		s.At[i], s.Desired[i], s.Ready[i], s.Min[i], s.Max[i] = p.At.UnixMilli(), p.Desired, p.Ready, p.Min, p.Max
		s.State[i], s.Limit[i] = p.State, p.Limit
	}
	return s
}

// stacked are the clusters that ran most, in the order of their names, and then the others together.
func stacked(points []point, now time.Time) []clusterSeries {
	names, others := shown(points)
	all := make([]clusterSeries, 0, len(names)+1)
	at := map[string]int{}
	for i, name := range names {
		all, at[name] = append(all, clusterSeries{Name: name}), i
	}
	if others > 0 {
		all = append(all, clusterSeries{Name: fmt.Sprintf("%d others", others)})
	}
	place := func(name string) int {
		to, named := at[name]
		switch {
		case named:
			return to
		case others > 0:
			return len(names)
		}
		return -1
	}
	for i := range all {
		all[i].Replicas = make([]int32, len(points))
		all[i].Unknown = spansOf(points, now.UnixMilli(), func(p *point) string {
			if slices.ContainsFunc(p.Unseen, func(name string) bool { return place(name) == i }) {
				return "it could not be seen"
			}
			return ""
		})
	}
	for i := range points {
		for _, c := range points[i].Clusters {
			all[place(c.Name)].add(i, c)
		}
	}
	return all
}

// shown are the clusters that are told apart, and how many others there are.
func shown(points []point) (names []string, others int) {
	most := map[string]int32{}
	for i := range points {
		for _, c := range points[i].Clusters {
			most[c.Name] = max(most[c.Name], c.Replicas)
		}
	}
	for name := range most {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a, b)) })
	if len(names) > mostStacked+1 { // one more is shown by its name as well as by a sum
		others = len(names) - mostStacked
		names = names[:mostStacked]
	}
	slices.Sort(names)
	return names, others
}

// add adds a cluster at a point.
func (s *clusterSeries) add(i int, c share) {
	s.Replicas[i] = plus(s.Replicas[i], c.Replicas)
	if !c.Bounded {
		return
	}
	if s.Max == nil {
		s.Min, s.Max = make([]*int32, len(s.Replicas)), make([]*int32, len(s.Replicas))
	}
	s.Min[i], s.Max[i] = new(plus(ptr.Deref(s.Min[i], 0), c.Min)), new(plus(ptr.Deref(s.Max[i], 0), c.Max))
}

func plus(a, b int32) int32 { return int32(min(int64(a)+int64(b), math.MaxInt32)) }

// metricsOver are those of the last point, which are known by their place: an edit of the spec may have given it to another.
func metricsOver(points []point) []metricSeries {
	if len(points) == 0 {
		return []metricSeries{}
	}
	last := points[len(points)-1].Metrics
	all := make([]metricSeries, len(last))
	for m := range last {
		all[m] = metricSeries{Name: last[m].Name, Target: make([]*float64, len(points)), Value: make([]*float64, len(points))}
		for i := range points {
			if of := points[i].Metrics; m < len(of) && of[m].Name == last[m].Name {
				all[m].Target[i], all[m].Value[i] = of[m].Target, of[m].Value
			}
		}
	}
	return all
}
