// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func sumOf(all []ClusterPoint, of func(*ClusterPoint) *ClusterSide) (sum float64) {
	for i := range all {
		sum += of(&all[i]).Replicas
	}
	return sum
}

func was(c *ClusterPoint) *ClusterSide   { return &c.Was }
func would(c *ClusterPoint) *ClusterSide { return &c.Would }

// What the clusters run is what the fleet was told before, on both sides. By the same spec both are the same.
func TestClustersAreTheFleet(t *testing.T) {
	for seed := range fleettest.Rounds(30, 5) {
		r := rand.New(rand.NewPCG(seed, 31))
		w := randomWorld(r)
		began := float64(w.current)
		records := w.run(200)
		for name, change := range map[string]func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error){
			"as it is": nil, "again": as, "with others": bounds(int32(r.IntN(10)+1), 30),
		} {
			result, err := Run(records, Options{Change: change})
			if err != nil {
				t.Fatal(err)
			}
			if result.Estimated != (change != nil) {
				t.Fatalf("%s: estimated: %v", name, result.Estimated)
			}
			wantWas, wantWould := began, began
			for i, p := range result.Points {
				if got := sumOf(p.Clusters, was); got != wantWas || len(p.Clusters) != 2 {
					t.Fatalf("seed %d, %s, point %d: %+v, want %v in all", seed, name, i, p.Clusters, wantWas)
				}
				if got := sumOf(p.Clusters, would); math.Abs(got-wantWould) > 1e-9 {
					t.Fatalf("seed %d, %s, point %d: %+v, want %v in all", seed, name, i, p.Clusters, wantWould)
				}
				if name != "with others" {
					for _, c := range p.Clusters {
						fleettest.Same(t, "", c.Was, c.Would)
					}
				}
				wantWas, wantWould = float64(p.Was.Replicas), float64(p.Would.Replicas)
			}
		}
	}
}

func bounds(low, high int32) func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	return func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
		spec := before.DeepCopy()
		spec.MinReplicas, spec.MaxReplicas = &low, high
		return spec, nil
	}
}

// Where clusters have the same share, what each would run is what it would have run, but for what is rounded.
func TestTheEstimateIsNear(t *testing.T) {
	for seed := range fleettest.Rounds(30, 5) {
		r := rand.New(rand.NewPCG(seed, 32))
		w := randomWorld(r)
		first, change := *w, bounds(int32(r.IntN(10)+1), 10+r.Int32N(40))
		result, err := Run(w.run(200), Options{Change: change})
		if err != nil {
			t.Fatal(err)
		}
		other, _ := change(&first.spec)
		first.spec = *other
		truth, err := Run(first.run(200), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range truth.Points {
			estimates := result.Points[i].Clusters
			// Both are halves, of which one is rounded up: the estimate is off by as much again for each time that the fleet is larger.
			off := 0.5 + 0.5*sumOf(estimates, would)/sumOf(estimates, was)
			for k, c := range truth.Points[i].Clusters {
				estimate := estimates[k]
				if math.Abs(estimate.Would.Replicas-c.Was.Replicas) > off {
					t.Fatalf("seed %d, point %d: %+v would be, and it is %+v", seed, i, estimate, c.Was)
				}
			}
		}
	}
}

// centralRecord is of a decision by what Pods use: of a fleet that was told 10.
func centralRecord(clusters ...replicas.Cluster) *recording.Record {
	spec := &v1alpha1.FederatedHPASpec{}
	spec.MinReplicas, spec.MaxReplicas, spec.Metrics = new(int32(1)), 20, []autoscalingv2.MetricSpec{cpu(50)}
	r := &recording.Record{Spec: spec, Decided: 10, After: 10}
	r.Question = replicas.Question{Spec: spec.HorizontalPodAutoscalerSpec, Now: start, Clusters: clusters,
		Scale:   replicas.Scale{Replicas: 10, Selector: "app=cart"},
		Metrics: []replicas.Metric{{Told: &replicas.Told{Sums: replicas.Sums{Counted: 10, Used: 2500, Requests: 5000}}}}}
	return r
}

// What a cluster runs is what is known of it best, and what was known last where it cannot be seen.
func TestWhatAClusterRan(t *testing.T) {
	silent := &fleet.Silence{Reason: fleet.ReasonTimeout}
	for name, tc := range map[string]struct {
		before, now replicas.Cluster
		ready       *int32
		want        ClusterSide
	}{
		"what it says": {now: replicas.Cluster{Replicas: new(int32(4)), Assigned: new(int32(5))}, ready: new(int32(3)),
			want: ClusterSide{Replicas: 4}},
		"what it was told": {now: replicas.Cluster{Assigned: new(int32(5))}, ready: new(int32(3)), want: ClusterSide{Replicas: 5}},
		"none, as told":    {now: replicas.Cluster{Assigned: new(int32(0))}, ready: new(int32(3))},
		"what is Ready":    {ready: new(int32(3)), want: ClusterSide{Replicas: 3}},
		"nothing":          {want: ClusterSide{Unknown: NotTold}},
		"nothing, and before": {before: replicas.Cluster{Replicas: new(int32(6))},
			want: ClusterSide{Replicas: 6, Unknown: NotTold}},
		"silent": {before: replicas.Cluster{Replicas: new(int32(6))}, now: replicas.Cluster{Silent: silent},
			want: ClusterSide{Replicas: 6, Unknown: Unseen}},
		"silent, and drained": {now: replicas.Cluster{Silent: silent, Drained: true, Assigned: new(int32(2))},
			want: ClusterSide{Replicas: 2, Unknown: Unseen}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.before.Name, tc.now.Name = "west", "west"
			east := replicas.Cluster{Name: "east", Replicas: new(int32(1))}
			first, then := centralRecord(tc.before, east), centralRecord(tc.now, east)
			then.Question.Now, then.Facts = start.Add(Gap), []recording.Facts{{Ready: tc.ready}}
			result, err := Run([]*recording.Record{first, then}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []ClusterPoint{{"east", ClusterSide{Replicas: 1}, ClusterSide{Replicas: 1}}, {"west", tc.want, tc.want}}
			fleettest.Same(t, "", want, result.Points[1].Clusters)
		})
	}
}

// A cluster whose Pods are seen, but not what they use, is not known either.
func TestAClusterThatMetricsLack(t *testing.T) {
	r := centralRecord(replicas.Cluster{Name: "east", Replicas: new(int32(4))}, replicas.Cluster{Name: "west", Replicas: new(int32(6))})
	r.Question.Metrics[0].Coverage = &fleet.Coverage{Answered: []string{"east"}}
	result, err := Run([]*recording.Record{r}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := result.Points[0]; p.Unknown != Unseen || p.Clusters[0].Was.Unknown != "" || p.Clusters[1].Was.Unknown != Unseen {
		t.Errorf("%+v", p)
	}
}

// Other replicas are divided as they were, and so is what is used. Of none nobody knows how.
func TestShares(t *testing.T) {
	const all = 100
	use := func(told, now int32, used, requests int64) []ClusterPoint {
		r := centralRecord(replicas.Cluster{Name: "west", Replicas: new(told * 3 / 4)}, replicas.Cluster{Name: "east", Replicas: new(told / 4)})
		q := &r.Question
		q.Scale.Replicas = told
		q.Metrics[0].Told.Clusters = []replicas.PodCount{{Cluster: "east", Counted: 1, Used: used, Requests: requests}, {Cluster: "gone"}}
		d := replicas.Decide(*q)
		return (&run{ran: map[string]int32{}}).clusters(r, &d, now)
	}
	side := func(replicas float64, use *int64, unknown Unknown) ClusterSide {
		return ClusterSide{Replicas: replicas, Use: use, Unknown: unknown}
	}
	for name, tc := range map[string]struct {
		told, now int32
		want      []ClusterPoint
	}{
		"the same": {8, 8, []ClusterPoint{{"east", side(2, new(int64(40)), ""), side(2, new(int64(40)), "")},
			{"west", side(6, nil, ""), side(6, nil, "")}}},
		"more": {8, 20, []ClusterPoint{{"east", side(2, new(int64(40)), ""), side(5, new(int64(16)), "")},
			{"west", side(6, nil, ""), side(15, nil, "")}}},
		"fewer": {8, 2, []ClusterPoint{{"east", side(2, new(int64(40)), ""), side(0.5, new(int64(160)), "")},
			{"west", side(6, nil, ""), side(1.5, nil, "")}}},
		"none": {8, 0, []ClusterPoint{{"east", side(2, new(int64(40)), ""), side(0, nil, "")},
			{"west", side(6, nil, ""), side(0, nil, "")}}},
		"some of none": {0, 4, []ClusterPoint{{"east", side(0, new(int64(40)), ""), side(0, new(int64(40)), Elsewhere)},
			{"west", side(0, nil, ""), side(0, nil, Elsewhere)}}},
		"none of none": {0, 0, []ClusterPoint{{"east", side(0, new(int64(40)), ""), side(0, new(int64(40)), "")},
			{"west", side(0, nil, ""), side(0, nil, "")}}},
	} {
		t.Run(name, func(t *testing.T) { fleettest.Same(t, "", tc.want, use(tc.told, tc.now, 40*all, 100*all)) })
	}
	if got := use(8, 8, 40, 0); got[0].Was.Use != nil {
		t.Errorf("nothing is requested, and %d %% of it are used", *got[0].Was.Use)
	}
}

// The use of a cluster is that of the metric where it is highest, of its own Pods; a value of the fleet is of none.
func TestUseInAClusterOfSeveralMetrics(t *testing.T) {
	average := cpu(0)
	average.Resource.Target = queue(200).External.Target
	r := centralRecord(replicas.Cluster{Name: "east", Replicas: new(int32(10))})
	q := &r.Question
	told := func(used int64) *replicas.Told {
		return &replicas.Told{Value: 1 << 40, Clusters: []replicas.PodCount{{Cluster: "east", Counted: 10, Used: used, Requests: 5000}}}
	}
	q.Spec.Metrics = []autoscalingv2.MetricSpec{cpu(50), average, queue(1)}
	for name, tc := range map[string]struct {
		metrics []replicas.Metric
		want    *int64
	}{
		"the first":  {[]replicas.Metric{{Told: told(4000)}, {Told: told(1000)}, {Told: told(9000)}}, new(int64(80))},
		"the second": {[]replicas.Metric{{Told: told(1000)}, {Told: told(3000)}, {Told: told(9000)}}, new(int64(150))},
		"unusable":   {[]replicas.Metric{{Told: told(1000)}, {Told: told(3000), Err: errors.New("no metrics")}}, new(int64(20))},
		"no request": {[]replicas.Metric{{Told: told(1000)}, {Told: &replicas.Told{Err: errors.New("no request"),
			Clusters: told(3000).Clusters}}}, new(int64(20))},
		"not told": {[]replicas.Metric{{}}, nil},
	} {
		q.Metrics = tc.metrics
		all := []ClusterPoint{{Name: "east"}}
		useIn(all, q, q.Scale.Replicas)
		fleettest.Same(t, name, tc.want, all[0].Was.Use)
	}
}
