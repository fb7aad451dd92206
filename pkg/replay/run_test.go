// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

var start = time.Date(2027, 3, 1, 9, 30, 0, 0, time.UTC)

const request = 500 // of a Pod, in milli

// world is a workload in two clusters under a load. What it is told it runs at once, and the load is spread evenly.
type world struct {
	spec    v1alpha1.FederatedHPASpec
	load    func(step int) int64 // in milli, of all Pods together
	queue   bool                 // the metric is the load itself, for each replica
	silent  func(step int) bool
	state   replicas.State
	status  autoscalingv2.HorizontalPodAutoscalerStatus
	current int32
	observe bool
}

func (w *world) run(steps int) (all []*recording.Record) {
	for step := range steps {
		q := w.question(step)
		d := replicas.Decide(q)
		record := recording.New(recording.Object{Namespace: "shop", Name: "cart"}, &w.spec, &q, &d)
		switch {
		case w.observe:
			record.Outcome, d = recording.Observed, d.Observed()
		case d.Rescale:
			d = d.Scaled(q.Now)
			record.Outcome, record.After, w.current = recording.Scaled, d.Replicas, d.Replicas
		}
		w.state, w.status = d.State, d.Status
		all = append(all, record)
	}
	return all
}

func (w *world) question(step int) replicas.Question {
	requests := replicas.RequestsOf(&corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(request, resource.DecimalSI)}}}}})
	now := start.Add(time.Duration(step) * 15 * time.Second)
	q := replicas.Question{
		Namespace: "shop", Spec: w.spec.HorizontalPodAutoscalerSpec, Status: w.status, State: w.state, Now: now,
		Scale:    replicas.Scale{Replicas: w.current, StatusReplicas: w.current, Selector: "app=cart"},
		Clusters: []replicas.Cluster{{Name: "east"}, {Name: "west"}},
		Options:  replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1},
		Metrics:  []replicas.Metric{{Pods: map[string]map[string]replicas.Sample{"east": {}, "west": {}}, Values: []int64{w.load(step)}}},
	}
	for i := range int64(w.current) {
		c := &q.Clusters[i%2]
		p := replicas.Pod{Name: fmt.Sprint("cart-", i), Phase: corev1.PodRunning, Started: start.Add(-time.Hour), Requests: requests,
			Ready: replicas.Ready{Status: corev1.ConditionTrue, Since: start.Add(-time.Hour)}}
		c.Pods = append(c.Pods, p)
		n := int64(w.current)
		used := w.load(step)*(i+1)/n - w.load(step)*i/n // they add up to the load
		q.Metrics[0].Pods[c.Name][p.Name] = replicas.Sample{Value: used, At: now}
	}
	for i := range q.Clusters {
		q.Clusters[i].Replicas = new(int32(len(q.Clusters[i].Pods)))
	}
	if w.silent != nil && w.silent(step) {
		q.Clusters[1].Silent = &fleet.Silence{Reason: fleet.ReasonTimeout}
	}
	return q
}

func cpu(target int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &target}}}
}

func queue(milli int64) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType,
			AverageValue: resource.NewMilliQuantity(milli, resource.DecimalSI)}}}
}

// randomWorld has a load that wanders.
func randomWorld(r *rand.Rand) *world {
	w := &world{current: r.Int32N(20) + 1, queue: r.IntN(3) == 0}
	w.spec.MinReplicas, w.spec.MaxReplicas = new(r.Int32N(3)+1), 25+r.Int32N(20)
	w.spec.Metrics = []autoscalingv2.MetricSpec{cpu(r.Int32N(80) + 20)}
	if w.queue {
		w.spec.Metrics = []autoscalingv2.MetricSpec{queue(r.Int64N(300) + 100)}
	}
	if r.IntN(2) == 0 {
		w.spec.Behavior = behavior(r)
	}
	loads, now := make([]int64, 500), r.Int64N(5000)+1000
	for i := range loads {
		now = max(0, now+r.Int64N(801)-400)
		loads[i] = now
	}
	w.load = func(step int) int64 { return loads[step] }
	return w
}

func behavior(r *rand.Rand) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	rules := func() *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{
			StabilizationWindowSeconds: new([]int32{0, 60, 300}[r.IntN(3)]),
			Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: r.Int32N(5) + 1,
				PeriodSeconds: []int32{15, 60}[r.IntN(2)]}},
		}
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
}

func as(spec *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) { return spec, nil }

// By the same spec all is as it was, also where the replicas go their own way.
func TestTheSameSpec(t *testing.T) {
	for seed := range uint64(10) {
		records := randomWorld(rand.New(rand.NewPCG(seed, 1))).run(200)
		for name, change := range map[string]func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error){"as it is": nil, "again": as} {
			result, err := Run(records, Options{Change: change, CutOff: 95})
			if err != nil {
				t.Fatal(err)
			}
			if result.Differences != 0 || len(result.Points) != 200 {
				t.Fatalf("seed %d, %s: %d differences, %d points", seed, name, result.Differences, len(result.Points))
			}
			for i, p := range result.Points {
				if diff := fleettest.Diff(p.Was, p.Would); diff != "" {
					t.Fatalf("seed %d, %s, point %d (-was +would):\n%s", seed, name, i, diff)
				}
			}
		}
	}
}

// By another spec the replay goes where the world would have gone.
func TestAnotherSpec(t *testing.T) {
	for seed := range fleettest.Rounds(30, 3) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := randomWorld(r)
		first := *w
		records := w.run(200)
		other := first.spec.DeepCopy()
		other.MaxReplicas, other.MinReplicas = 10+r.Int32N(40), new(r.Int32N(4)+1)
		if other.Metrics[0] = cpu(r.Int32N(80) + 20); w.queue {
			other.Metrics[0] = queue(r.Int64N(300) + 100)
		}
		if other.Behavior = nil; r.IntN(2) == 0 {
			other.Behavior = behavior(r)
		}
		result, err := Run(records, Options{Change: func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) { return other, nil }})
		if err != nil {
			t.Fatal(err)
		}
		first.spec = *other
		truth, err := Run(first.run(200), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range truth.Points {
			got, want := result.Points[i].Would, truth.Points[i].Was
			if got.Replicas != want.Replicas || got.Asked != want.Asked || got.AtMax != want.AtMax {
				t.Fatalf("seed %d, point %d: %+v would be, and it is %+v\n%+v", seed, i, got, want, result.Points[max(0, i-2):i+1])
			}
		}
	}
}

// What somebody told the workload by hand holds in both.
func TestAHandOnTheScale(t *testing.T) {
	w := &world{current: 4, load: func(int) int64 { return 1000 }}
	w.spec.MinReplicas, w.spec.MaxReplicas, w.spec.Metrics = new(int32(1)), 20, []autoscalingv2.MetricSpec{cpu(50)}
	records := w.run(10)
	w.current = 9
	later := w.run(1)
	later[0].Question.Now = start.Add(10 * 15 * time.Second)
	result, err := Run(append(records, later...), Options{Change: target(100)})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Points[10]; *got.Was.Use != 22 || *got.Would.Use != 22 { // 1000 m of nine times 500 m
		t.Errorf("%+v", got)
	}
}

func target(percent int32) func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	return func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
		spec := before.DeepCopy()
		spec.Metrics[0].Resource.Target.AverageUtilization = &percent
		return spec, nil
	}
}

// A record of one that only observes says what others did; beside it is what it would have done.
func TestOneThatObserves(t *testing.T) {
	w := &world{current: 4, observe: true, load: func(int) int64 { return 4000 }}
	w.spec.MinReplicas, w.spec.MaxReplicas, w.spec.Metrics = new(int32(1)), 20, []autoscalingv2.MetricSpec{cpu(50)}
	result, err := Run(w.run(20), Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := result.Points[19]
	if last.Was.Replicas != 4 || last.Would.Replicas != 16 || result.Differences != 0 {
		t.Errorf("%+v, %d differences", last, result.Differences)
	}
}

func TestWhatIsNotKnown(t *testing.T) {
	calm := func(int) int64 { return 1000 }
	tests := map[string]struct {
		change func(*world)
		record func(*recording.Record)
		want   Unknown
	}{
		"nothing":          {},
		"a silent cluster": {change: func(w *world) { w.silent = func(int) bool { return true } }, want: Unseen},
		"all is used":      {change: func(w *world) { w.load = func(int) int64 { return 4 * request } }, want: CutOff},
		"no metric":        {record: func(r *recording.Record) { r.Question.Metrics[0].Err = fmt.Errorf("no metrics") }, want: Unusable},
		"no decision by metrics": {change: func(w *world) { w.spec.MaxReplicas = 3 },
			record: func(r *recording.Record) {}, want: NotTold},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{current: 4, load: calm}
			w.spec.MinReplicas, w.spec.MaxReplicas, w.spec.Metrics = new(int32(1)), 4, []autoscalingv2.MetricSpec{cpu(50)}
			if tc.change != nil {
				tc.change(w)
			}
			records := w.run(1)
			if tc.record != nil {
				tc.record(records[0])
			}
			result, err := Run(records, Options{CutOff: 95, Change: func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
				spec := before.DeepCopy()
				spec.MaxReplicas = 40
				return spec, nil
			}})
			if err != nil || result.Points[0].Unknown != tc.want {
				t.Errorf("%q, %v; want %q", result.Points[0].Unknown, err, tc.want)
			}
		})
	}
}

func TestWhatCanNotBeReplayed(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(1, 1)))
	tests := map[string]struct {
		change func(*v1alpha1.FederatedHPASpec)
		want   string
	}{
		"another metric": {func(s *v1alpha1.FederatedHPASpec) { s.Metrics[0].Type = "Pods" },
			"spec.metrics[0]: what another metric would say is not known; only its target can be changed"},
		"one more": {func(s *v1alpha1.FederatedHPASpec) { s.Metrics = append(s.Metrics, s.Metrics[0]) },
			"spec.metrics: what a metric that was not asked would say is not known"},
		"another workload": {func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.Name = "basket" },
			"spec.scaleTargetRef: what the decisions would be by another one is not known; minReplicas, maxReplicas, behavior and targets of " +
				"metrics can be changed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Run(w.run(2), Options{Change: func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
				spec := before.DeepCopy()
				tc.change(spec)
				return spec, nil
			}})
			if err == nil || err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
	if _, err := Run(nil, Options{}); err == nil {
		t.Error("nothing was replayed")
	}
}
