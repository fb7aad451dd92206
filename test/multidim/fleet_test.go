// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/goals"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

var start = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)

// fleet is a workload that runs.
type fleet struct {
	*scenario
	design
	record

	tick int
	now  time.Time
	born int
	pods []*pod
	// Sizes. What is by container is in the order of the template; uses are by cluster, too.
	shares          []goals.Share
	uses            [][]sizes.Use
	last            []sizes.Advice
	least, reserved []sizes.Size
	entry           []sizes.NewContainer // what new Pods get
	written         time.Time
	version         int
	past            []sizes.Past // by cluster
	chance          *rand.Rand   // of kubelets
	scaledAt        []time.Time  // by cluster
	// Replicas.
	requests *replicas.Requests // of the template
	question replicas.Question
	samples  [late + 1]map[string]map[string]replicas.Sample
	wishes   []float64
	decided  time.Time // last
}

// initialization is for how long after its start what a Pod uses says nothing of its load.
const initialization = 5 * time.Minute

// run lets a workload live.
func run(s *scenario, d design) *record {
	f := &fleet{scenario: s, design: d, now: start, decided: start, scaledAt: make([]time.Time, len(s.clusters)),
		record: record{censoredAt: math.MaxInt, evictedAt: math.MaxInt}, past: make([]sizes.Past, len(s.clusters)),
		chance: rand.New(rand.NewPCG(s.seed, 8))}
	f.prepare()
	for f.tick = range s.demand {
		f.now = start.Add(time.Duration(f.tick) * tick)
		f.settle()
		f.work()
		f.measure()
		if d.sizes && f.tick%sync == sync-1 {
			f.feed()
			f.advise()
			f.assign()
			f.resize()
		}
		if f.tick >= late {
			f.scale()
		}
	}
	for _, p := range f.pods {
		f.kept = append(f.kept, p.resizes)
	}
	return &f.record
}

func (f *fleet) prepare() {
	spec := f.spec()
	child := goals.Child(spec, f.template)
	metrics := child.Spec.Metrics
	if f.live {
		metrics = goals.AsWritten(spec).Metrics
	}
	f.shares = goals.Shares(spec, f.template, child.Floors)
	none := sizes.Advice{Target: unknown, Lower: unknown, Upper: unknown}
	var containers []sizes.RunningContainer
	for _, c := range f.template {
		f.uses = append(f.uses, make([]sizes.Use, len(f.clusters)))
		f.last = append(f.last, none)
		containers = append(containers, sizes.RunningContainer{Name: c.Name, Resources: sizes.Resources{Requests: stated(c.Requests)}})
	}
	f.requests = live(containers)
	f.question = replicas.Question{
		Namespace: "shop", Generation: 1, Template: f.requests,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: &f.minimum, MaxReplicas: f.maximum, Metrics: metrics,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}},
		Metrics: make([]replicas.Metric, 1),
		Options: replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1, CPUInitializationPeriod: initialization,
			InitialReadinessDelay: 30 * time.Second},
	}
	for _, name := range f.clusters {
		f.question.Clusters = append(f.question.Clusters, replicas.Cluster{Name: name, Assigned: new(int32)})
	}
	first := int(math.Ceil(f.demand[0] / float64(f.use())))
	for n := range min(max(first, int(f.minimum)), int(f.maximum)) {
		f.pods = append(f.pods, f.bear(n%len(f.clusters), 24*time.Hour))
	}
	if f.sizes && f.history > 0 {
		f.remember()
		f.advise()
	}
}

// measure notes the samples of this tick, which are known only later.
func (f *fleet) measure() {
	all := make(map[string]map[string]replicas.Sample, len(f.clusters))
	for _, name := range f.clusters {
		all[name] = map[string]replicas.Sample{}
	}
	for _, p := range f.pods {
		if used, measured := p.usedAt(f.tick, f.now); measured {
			all[f.clusters[p.cluster]][p.Name] = replicas.Sample{Value: used, At: f.now, Window: tick}
		}
	}
	f.samples[f.tick%(late+1)] = all
}

// scale has the fleet have as many replicas as are decided on.
func (f *fleet) scale() {
	d := replicas.Decide(*f.ask())
	if d.Rescale {
		d = d.Scaled(f.now)
		f.runs(int(d.Replicas))
	}
	f.question.State, f.question.Status = d.State, d.Status
	switch {
	case d.Err == nil:
		f.decided = f.now
	case f.now.Sub(f.decided) > f.birth+initialization: // a budget of one replica less lets the only Pod be evicted
		f.errs = append(f.errs, fmt.Sprintf("%v: %v", time.Duration(f.tick)*tick, d.Err))
	}
}

func (f *fleet) ask() *replicas.Question {
	q := &f.question
	q.Now, q.Scale = f.now, replicas.Scale{Replicas: int32(len(f.pods)), StatusReplicas: int32(len(f.pods)), Selector: "app=web"}
	q.Metrics[0] = replicas.Metric{Pods: f.samples[(f.tick-late)%(late+1)]}
	for n := range q.Clusters {
		q.Clusters[n].Pods = q.Clusters[n].Pods[:0]
	}
	for _, p := range f.pods {
		c := &q.Clusters[p.cluster]
		is := replicas.Pod{Name: p.Name, Phase: corev1.PodRunning, Started: p.Started, Requests: p.requests,
			Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: p.readyAt}}
		if !p.Ready {
			is.Phase, is.Ready = corev1.PodPending, replicas.Ready{Status: corev1.ConditionFalse, Since: p.Started}
		}
		c.Pods = append(c.Pods, is)
	}
	for n := range q.Clusters {
		*q.Clusters[n].Assigned = int32(len(q.Clusters[n].Pods))
	}
	return q
}

// runs makes Pods, and takes away the youngest, so that clusters have as many each.
func (f *fleet) runs(n int) {
	f.note(n - len(f.pods))
	counts := make([]int, len(f.clusters))
	for _, p := range f.pods {
		counts[p.cluster]++
	}
	for len(f.pods) < n {
		least := 0
		for c := range counts {
			if counts[c] < counts[least] {
				least = c
			}
		}
		counts[least]++
		f.scaledAt[least] = f.now
		f.pods = append(f.pods, f.bear(least, 0))
	}
	for _, p := range f.pods[n:] {
		f.scaledAt[p.cluster] = f.now
		f.kept = append(f.kept, p.resizes)
	}
	f.pods = f.pods[:n]
}
