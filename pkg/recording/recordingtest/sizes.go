// SPDX-License-Identifier: Apache-2.0

package recordingtest

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/recommendation"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const (
	mi = 1 << 20
	gi = 1 << 30
)

// Sized is a workload whose containers are sized, in so many clusters: what each uses there wanders.
type Sized struct {
	Spec     v1alpha1.MultidimPodAutoscalerSpec
	Template recommendation.Template
	Clusters []recommendation.Cluster
	// Pods are those of each cluster.
	Pods int32
	// Happen, if it is set, changes what is used in a cluster by a container, and whether the cluster says so, before each decision.
	Happen func(step, cluster, container int, use *sizes.Amounts, used *recording.Used, silent *bool)
	// Samples are added only to the containers that are sized.
	use  [][]sizes.Use
	last map[[2]string]sizes.Advice
	now  time.Time
	each [][]sizes.Instance
}

// NewSized is of so many clusters and containers, m0 and app-0 and so on, with two Pods in each, that request a core and 2 GiB.
func NewSized(clusters, containers int) *Sized {
	s := &Sized{Pods: 2, now: Start, last: map[[2]string]sizes.Advice{}}
	m := &v1alpha1.MultidimPodAutoscaler{}
	m.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	s.Spec, s.Template.Overhead = m.Spec, recommendation.NoAmounts()
	for i := range containers {
		s.Template.Containers = append(s.Template.Containers, recommendation.Container{Name: fmt.Sprint("app-", i),
			Resources: sizes.Resources{Requests: sizes.Amounts{1000, 2 * gi}, Limits: recommendation.NoAmounts()}})
	}
	for i := range clusters {
		s.Clusters = append(s.Clusters, recommendation.Cluster{Name: fmt.Sprint("m", i), Defaults: recommendation.NoDefaults(),
			Rooms: []sizes.Room{sizes.Unlimited()}})
		s.use, s.each = append(s.use, make([]sizes.Use, containers)), append(s.each, make([]sizes.Instance, containers))
	}
	return s
}

// Run is the record of so many steps, one a minute; the first is at [Start], unless there were others before.
func (s *Sized) Run(r Random, steps int) (all []*recording.Record) {
	for step := range steps {
		all = append(all, s.step(r, step))
		s.now = s.now.Add(time.Minute)
	}
	return all
}

func (s *Sized) step(r Random, step int) *recording.Record {
	spec := s.Spec
	q := recommendation.Question{Spec: &spec, PodMinimum: sizes.Amounts{25, 250 * mi}, Template: s.Template, Clusters: s.Clusters}
	used, silent := make([][]recording.Used, len(s.Clusters)), make([]bool, len(s.Clusters))
	held := false
	for i := range s.Clusters {
		used[i] = make([]recording.Used, len(s.Template.Containers))
		for k := range s.Template.Containers {
			amounts := sizes.Amounts{50 + r.Int64N(200), 100*mi + r.Int64N(200*mi)}
			u := &used[i][k]
			*u = recording.Used{Pods: s.Pods, Requested: sizes.Amounts{1000 * int64(s.Pods), 2 * gi * int64(s.Pods)}}
			if s.Happen != nil {
				s.Happen(step, i, k, &amounts, u, &silent[i])
			}
			if u.Peak = amounts; !silent[i] {
				s.each[i][k].Add(&s.use[i][k], sizes.Sample{Amounts: amounts, At: s.now})
			}
		}
		held = held || silent[i]
	}
	var advice []recommendation.Advised
	for _, a := range q.Asked() {
		advice = append(advice, s.advise(&q, a, silent, held))
	}
	d := q.Sizes(advice)
	return recording.NewSizes(recording.Object{Namespace: "shop", Name: "web", UID: "1"}, 1, s.now,
		&recording.Sizes{Question: q, Used: used, Said: recording.SaidOf(&d)})
}

// advise makes advice of the use itself, as the controller has it made, and adds what that tells.
func (s *Sized) advise(q *recommendation.Question, a recommendation.Asked, silent []bool, held bool) recommendation.Advised {
	var parts []sizes.Part
	at := 0
	for i := range s.Template.Containers {
		if s.Template.Containers[i].Name == a.Container {
			at = i
		}
	}
	for i := range s.Clusters {
		parts = append(parts, sizes.Part{Cluster: s.Clusters[i].Name, Use: &s.use[i][at], Silent: silent[i]})
	}
	known := func(u *sizes.Use, silent bool, cluster string) (k recommendation.KnownUse) {
		if k.Told, k.Silent = u.Tell(), silent; silent {
			k.Last = s.last[[2]string{cluster, a.Container}]
		}
		return k
	}
	together, _ := sizes.Together(parts)
	k := recommendation.Known{Container: a.Container, Fleet: known(together, held, "")}
	advised := recommendation.Advised{Container: a.Container, Fleet: sizes.AdviseFleet(parts, a.Options, s.last[[2]string{"", a.Container}])}
	if q.Spec.Scope == v1alpha1.ScopePerCluster {
		for i, p := range parts {
			k.In = append(k.In, known(p.Use, silent[i], p.Cluster))
			own := sizes.AdviseCluster(p, a.Options, advised.Fleet, s.last[[2]string{p.Cluster, a.Container}])
			advised.In = append(advised.In, own)
			s.last[[2]string{p.Cluster, a.Container}] = own
		}
	}
	s.last[[2]string{"", a.Container}] = advised.Fleet
	q.Known = append(q.Known, k)
	return advised
}

// SizedHour is the record of an hour of decisions on the sizes of the MultidimPodAutoscaler shop/web, one a minute, of two Pods in one
// cluster, which use 200 m and 400 MiB after a day of that. For ten minutes they use 300 m, and then one is killed; for another ten the
// cluster is silent. The spec has an entry for all containers, with its defaults.
func SizedHour(start time.Time) []byte {
	const day = 24 * 60
	s := NewSized(1, 1)
	m := &v1alpha1.MultidimPodAutoscaler{Spec: s.Spec}
	m.Spec.Constraints.Container = []v1alpha1.ContainerConstraint{{Name: v1alpha1.AnyContainer}}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	s.Spec = m.Spec
	s.now = start.Add(-day * time.Minute)
	s.Happen = func(step, _, _ int, use *sizes.Amounts, used *recording.Used, silent *bool) {
		*use = sizes.Amounts{200, 400 * mi}
		switch step -= day; {
		case step >= 10 && step < 20:
			use[sizes.CPU] = 300
		case step == 20:
			used.Kills, used.Had = 1, 500*mi
		case step >= 40 && step < 50:
			*silent = true
		}
	}
	return Stream(s.Run(calm{}, day+61)[day:]...)
}

// RandomSized is a workload in whose spec, template and clusters is anything that may be there, and to which anything happens.
func RandomSized(r Random) *Sized {
	s := NewSized(r.IntN(4)+1, r.IntN(3)+1)
	s.Pods = r.Int32N(4)
	resources := func() sizes.Resources {
		has := sizes.Resources{Requests: sizes.Amounts{r.Int64N(2000), r.Int64N(4 * gi)}, Limits: recommendation.NoAmounts()}
		for k := range has.Limits {
			switch r.IntN(4) {
			case 0:
				has.Limits[k] = has.Requests[k]
			case 1:
				has.Limits[k] = has.Requests[k] * 3
			case 2:
				has.Requests[k] = sizes.None
			}
		}
		return has
	}
	for i := range s.Template.Containers {
		s.Template.Containers[i].Resources = resources()
	}
	if r.IntN(3) == 0 {
		s.Template.Initial = []recommendation.Container{{Name: "side", Resources: resources(), RunsOn: r.IntN(2) == 0}}
	}
	for i := range s.Clusters {
		if c := &s.Clusters[i]; r.IntN(3) == 0 {
			c.Defaults, c.Rooms[0].Headroom = resources(), r.Int64N(100)
			c.Rooms[0].Node, c.Rooms[0].Quota = sizes.Amounts{4000, 16 * gi}, resources()
			c.Rooms = append(c.Rooms, sizes.Unlimited())
		}
	}
	RandomSizes(r, &s.Spec)
	s.Happen = func(_, _, _ int, use *sizes.Amounts, used *recording.Used, silent *bool) {
		switch r.IntN(30) {
		case 0:
			*silent = true
		case 1:
			use[r.IntN(2)] = sizes.None
		case 2:
			use[0] = 5000
		case 3:
			used.Kills, used.Had = 1, 2*gi
		}
	}
	return s
}

// RandomSizes gives a spec other percentiles, margins and bounds, and another scope, and perhaps a goal.
func RandomSizes(r Random, spec *v1alpha1.MultidimPodAutoscalerSpec) {
	m := &v1alpha1.MultidimPodAutoscaler{Spec: *spec}
	m.Spec.Scope = []v1alpha1.VerticalScope{v1alpha1.ScopeFleet, v1alpha1.ScopePerCluster}[r.IntN(2)]
	m.Spec.Constraints.Container = nil
	for _, name := range []string{"app-0", v1alpha1.AnyContainer} {
		c := v1alpha1.ContainerConstraint{Name: name, MarginPercent: new(r.Int32N(101))}
		c.TargetPercentile = v1alpha1.TargetPercentile{CPU: new(50 + r.Int32N(50)), Memory: new(50 + r.Int32N(50))}
		if r.IntN(3) == 0 {
			c.Requests.MinAllowed.CPU = resource.NewMilliQuantity(r.Int64N(500), resource.DecimalSI)
			c.Requests.MaxAllowed.Memory = resource.NewQuantity(r.Int64N(2*gi), resource.BinarySI)
		}
		if r.IntN(4) == 0 {
			c.ControlledValues = v1alpha1.ControlsRequestsOnly
		}
		m.Spec.Constraints.Container = append(m.Spec.Constraints.Container, c)
	}
	if r.IntN(3) == 0 {
		m.Spec.Constraints.Global = &v1alpha1.GlobalConstraints{MaxReplicas: 10}
		m.Spec.Goals = &v1alpha1.Goals{Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(50 + r.Int32N(40))}}}}}
		m.Spec.Constraints.ContainerControlledResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	}
	v1alpha1.DefaultMultidimPodAutoscaler(m)
	*spec = m.Spec
}
