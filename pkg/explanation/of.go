// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// How much of a text is stored.
const (
	longestName   = 200
	longestError  = 400
	longestReason = 64
	mostClusters  = 8
)

// Decided is a decision, and what it was made of.
type Decided struct {
	// Spec is the one decided by.
	Spec *autoscalingv2.HorizontalPodAutoscalerSpec
	// At is when.
	At time.Time
	// Current are the replicas that there were, Replicas those decided on; Copies is in how many clusters the workload runs whole.
	Current, Replicas int32
	Copies            int
	Explanation       replicas.Explanation
	// Age returns the age of a cluster's oldest sample in seconds; nil: it has none.
	Age func(cluster string) *int32
	// Division is what the clusters get; nil: they are not told.
	Division *Division
}

// Division is what the clusters get.
type Division struct {
	// Policy is empty where clusters keep their proportion.
	Policy string
	// Clusters are all of them.
	Clusters []v1alpha1.ClusterDivision
}

// Of returns what is stored of a decision.
func Of(d *Decided) *v1alpha1.DecisionExplanation {
	e := &v1alpha1.DecisionExplanation{
		Time:            metav1.NewMicroTime(d.At.Truncate(time.Microsecond)),
		Basis:           string(d.Explanation.Basis),
		LimitedBy:       LimitedBy(d),
		CurrentReplicas: d.Current,
		DesiredReplicas: d.Replicas,
		UnseenClusters:  int32(len(d.Explanation.Unseen)),
		Steps:           stepsOf(d),
		Division:        d.Division.bounded(mostClusters),
	}
	if d.Copies > 1 {
		e.Copies = int32(d.Copies)
	}
	for _, u := range d.Explanation.Unseen[:min(len(d.Explanation.Unseen), mostClusters)] {
		e.Unseen = append(e.Unseen, v1alpha1.UnseenCluster{Cluster: u.Cluster, Reason: summary.Brief(string(u.Reason), longestReason)})
	}
	for i := range d.Explanation.Metrics {
		e.Metrics = append(e.Metrics, metricOf(d, i))
	}
	return fit(e, d)
}

func metricOf(d *Decided, i int) v1alpha1.MetricExplanation {
	p := &d.Explanation.Metrics[i]
	w := &p.Working
	m := v1alpha1.MetricExplanation{Index: int32(i), Name: summary.Brief(nameOf(&d.Spec.Metrics[i]), longestName)}
	m.Clusters, m.Others = d.clusters(i, mostClusters)
	if p.Err != nil || w.Rule == "" {
		if m.Error = "it cannot be used"; p.Err != nil {
			m.Error = summary.Brief(p.Err.Error(), longestError)
		}
		return m
	}
	m.Rule, m.Target, m.Value, m.Outcome = string(w.Rule), w.Target, w.Value, string(w.Outcome)
	m.ToleranceDown, m.ToleranceUp = text(w.ToleranceDown), text(w.ToleranceUp)
	m.Told, m.Asks, m.Multiplied = w.Replicas, w.Asks, int64(w.Entries)
	if w.Refilled {
		m.Filled, m.Busy, m.Idle, m.Unready = &w.Second, w.Busy, w.Idle, w.Unready
	}
	switch w.Rule {
	case replicas.RuleUtilization, replicas.RuleAverage:
		m.Fleet = sumsOf(&w.Told.Sums)
	case replicas.RuleRatio:
		m.ReadyUnknown = w.Told.ReadyUnknown
		if !m.ReadyUnknown && d.Current > 0 {
			m.Multiplied = w.Told.Ready
		}
	case replicas.RuleShare:
		m.Multiplied, m.Lagging = int64(w.Told.Running), w.Told.Lagging
	}
	return m
}

// longestNumber is how long a decimal may be; longer ones are written with an exponent.
const longestNumber = 32

// text is the shortest decimal that reads back as the number.
func text(f float64) string {
	if s := strconv.FormatFloat(f, 'f', -1, 64); len(s) <= longestNumber {
		return s
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

func nameOf(spec *autoscalingv2.MetricSpec) string {
	switch {
	case spec.Resource != nil:
		return string(spec.Resource.Name)
	case spec.ContainerResource != nil:
		return string(spec.ContainerResource.Name) + " of container " + spec.ContainerResource.Container
	case spec.Pods != nil:
		return spec.Pods.Metric.Name
	case spec.Object != nil:
		return spec.Object.Metric.Name + " of " + spec.Object.DescribedObject.Kind + " " + spec.Object.DescribedObject.Name
	case spec.External != nil:
		return spec.External.Metric.Name
	}
	return string(spec.Type)
}

func sumsOf(s *replicas.Sums) *v1alpha1.PodSums {
	sums := &v1alpha1.PodSums{
		Counted: count(s.Counted), Used: s.Used, Requested: s.Requests,
		Missing: count(s.Missing), MissingRequested: s.MissingRequests, Busy: s.Busy,
		Unready: count(s.Unready), UnreadyRequested: s.UnreadyRequests,
		Ignored: count(s.Ignored), Unlisted: count(s.Strangers), UnlistedUsed: s.StrangersUsed,
	}
	for _, r := range s.ByRequest {
		sums.MissingByRequest = append(sums.MissingByRequest,
			v1alpha1.RequestSum{Pods: count(r.Pods), Request: r.Request, Abandoned: r.Abandoned})
	}
	return sums
}

// clusters are so many of those that the metric's Pods run in: those that lack samples first, then the largest; and the others.
func (d *Decided) clusters(metric, most int) (named []v1alpha1.ClusterSums, others *v1alpha1.OtherClusterSums) {
	pods := slices.Clone(d.Explanation.Metrics[metric].Pods)
	slices.SortStableFunc(pods, func(a, b replicas.PodCount) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(b.Counted+b.Unready, a.Counted+a.Unready))
	})
	for i := range pods {
		p := &pods[i]
		sums := v1alpha1.ClusterPods{
			Counted: count(p.Counted), Unready: count(p.Unready), Missing: count(p.Missing), Ignored: count(p.Ignored),
			Used: p.Used, Requested: p.Requests,
		}
		if i < most {
			c := v1alpha1.ClusterSums{Name: p.Cluster, ClusterPods: sums}
			if d.Age != nil {
				c.AgeSeconds = d.Age(p.Cluster)
			}
			named = append(named, c)
			continue
		}
		if others == nil {
			others = &v1alpha1.OtherClusterSums{}
		}
		addPods(others, &sums)
	}
	return named, others
}

// bounded names so many clusters: those that change first, then those that get most.
func (v *Division) bounded(most int) *v1alpha1.DivisionExplanation {
	if v == nil {
		return nil
	}
	all := slices.Clone(v.Clusters)
	changed := func(c v1alpha1.ClusterDivision) int {
		if c.From != c.To {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b v1alpha1.ClusterDivision) int {
		return cmp.Or(cmp.Compare(changed(a), changed(b)), cmp.Compare(b.To, a.To))
	})
	d := &v1alpha1.DivisionExplanation{Policy: v.Policy, Clusters: all[:min(len(all), most)]}
	for _, c := range all[len(d.Clusters):] {
		if d.Others == nil {
			d.Others = &v1alpha1.OtherDivision{}
		}
		d.Others.Clusters++
		d.Others.From, d.Others.To = plus(d.Others.From, c.From), plus(d.Others.To, c.To)
	}
	return d
}

func plus(a, b int32) int32 { return int32(min(int64(a)+int64(b), math.MaxInt32)) }

func count(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }

func addPods(to *v1alpha1.OtherClusterSums, c *v1alpha1.ClusterPods) {
	to.Clusters++
	to.Counted, to.Unready = plus(to.Counted, c.Counted), plus(to.Unready, c.Unready)
	to.Missing, to.Ignored = plus(to.Missing, c.Missing), plus(to.Ignored, c.Ignored)
	to.Used, to.Requested = plus64(to.Used, c.Used), plus64(to.Requested, c.Requested)
}

func plus64(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
