// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

func otherSplit(r *rand.Rand, f *recordingtest.Fleet) *v1alpha1.FederatedHPASpec {
	other := f.Spec.DeepCopy()
	recordingtest.Split(r, other, slices.Sorted(maps.Keys(f.Loads)))
	return other
}

func to(other *v1alpha1.FederatedHPASpec) func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	return func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) { return other, nil }
}

// By the same spec all bounds are as they were, whatever happens to the clusters.
func TestTheSameSplit(t *testing.T) {
	for seed := range fleettest.Rounds(150, 15) {
		r := rand.New(rand.NewPCG(seed, 21))
		f := recordingtest.NewFleet(r, r.IntN(6)+1, 100)
		f.Happen = recordingtest.Anything(r)
		records := f.Run(100)
		for name, change := range map[string]func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error){"as it is": nil, "again": as} {
			result, err := Run(records, Options{Change: change})
			if err != nil {
				t.Fatal(err)
			}
			if result.Differences != 0 || len(result.Points) != 100 {
				t.Fatalf("seed %d, %s: %d differences, %d points", seed, name, result.Differences, len(result.Points))
			}
			for i, p := range result.Points {
				if diff := fleettest.Diff(p.Was, p.Would); diff != "" {
					t.Fatalf("seed %d, %s, point %d (-was +would):\n%s", seed, name, i, diff)
				}
				for _, c := range p.Clusters {
					if diff := fleettest.Diff(c.Was, c.Would); diff != "" {
						t.Fatalf("seed %d, %s, point %d, %s (-was +would):\n%s", seed, name, i, c.Name, diff)
					}
				}
			}
		}
	}
}

// A decision that does not come out as it was is counted.
func TestADifferentSplit(t *testing.T) {
	records := recordingtest.NewFleet(rand.New(rand.NewPCG(1, 1)), 3, 10).Run(10)
	said := records[4].Split.Said.Sites
	told := said["m1"]
	told.Max++
	said["m1"] = told
	delete(records[6].Split.Said.Sites, "m0")
	result, err := Run(records, Options{})
	if err != nil || result.Differences != 2 {
		t.Errorf("%d differences, %v", result.Differences, err)
	}
}

// By another split the replay goes where the clusters would have gone, until the load is not known.
func TestAnotherSplit(t *testing.T) {
	known, all := 0, 0
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 22))
		f := recordingtest.NewFleet(r, r.IntN(5)+1, 100)
		f.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{
			Tolerance: new(resource.MustParse("0"))}}
		first, other := *f, otherSplit(r, f)
		result, err := Run(f.Run(100), Options{Change: to(other)})
		if err != nil {
			t.Fatal(err)
		}
		first.Spec = *other
		truth, err := Run(first.Run(100), Options{})
		if err != nil {
			t.Fatal(err)
		}
		all += len(truth.Points)
		for i := range truth.Points {
			if result.Points[i].Unknown != "" {
				break
			}
			known++
			for k, c := range truth.Points[i].Clusters {
				got := result.Points[i].Clusters[k]
				if was, would := ptr.Deref(c.Was.Use, 0), ptr.Deref(got.Would.Use, 0); would-was < 0 || would-was > 2 { // it is rounded up
					t.Fatalf("seed %d, point %d, cluster %s: %d %% would be used, and it is %d %%", seed, i, c.Name, would, was)
				}
				got.Would.Use = c.Was.Use
				if diff := fleettest.Diff(c.Was, got.Would); diff != "" || got.Name != c.Name {
					t.Fatalf("seed %d, point %d, cluster %s (-is +would be):\n%s", seed, i, c.Name, diff)
				}
			}
		}
	}
	if 2*known < all {
		t.Errorf("%d of %d points are known", known, all)
	}
}

// Whatever happens, another split gives bounds that can be.
func TestAnotherSplitOfAnything(t *testing.T) {
	for seed := range fleettest.Rounds(300, 10) {
		r := rand.New(rand.NewPCG(seed, 23))
		f := recordingtest.NewFleet(r, r.IntN(6)+1, 50)
		f.Happen = recordingtest.Anything(r)
		result, err := Run(f.Run(50), Options{Change: to(otherSplit(r, f)), CutOff: 95})
		if err != nil {
			continue // of a cluster of which nothing is known, as it took no part
		}
		for i, p := range result.Points {
			for _, c := range p.Clusters {
				if c.Would.Min < 0 || c.Would.Max < c.Would.Min || c.Would.Replicas < 0 {
					t.Fatalf("seed %d, point %d: %+v", seed, i, c)
				}
			}
		}
	}
}

// twoClusters weigh the same, and have 5 replicas at most each; east needs 8.
func twoClusters(change func(*v1alpha1.FederatedHPASpec)) *recordingtest.Fleet {
	f := recordingtest.NewFleet(rand.New(rand.NewPCG(1, 1)), 2, 40)
	f.Loads["m0"], f.Loads["m1"] = slices.Repeat([]int32{8}, 40), slices.Repeat([]int32{2}, 40)
	s := &f.Spec
	s.MinReplicas, s.MaxReplicas = new(int32(2)), 10
	a := s.FederatedHPAAssignment
	a.FederatedHPAAssignmentType = v1alpha1.FederatedHPAAssignmentType(assignment.StaticWeighted)
	for i := range a.ClusterAutoscalingPreference {
		p := &a.ClusterAutoscalingPreference[i]
		p.StaticWeight, p.AutoscalingMaxThreshold = new(int32(1)), nil
	}
	if change != nil {
		change(s)
	}
	return f
}

func weigh(east, west int32) func(*v1alpha1.FederatedHPASpec) {
	return func(s *v1alpha1.FederatedHPASpec) {
		all := s.FederatedHPAAssignment.ClusterAutoscalingPreference
		all[0].StaticWeight, all[1].StaticWeight = new(east), new(west)
	}
}

// Other weights give the busy cluster what it needs.
func TestOtherWeights(t *testing.T) {
	f := twoClusters(nil)
	other := f.Spec.DeepCopy()
	weigh(4, 1)(other)
	result, err := Run(f.Run(40), Options{Change: to(other)})
	if err != nil {
		t.Fatal(err)
	}
	last := result.Points[39]
	want := []ClusterPoint{
		{"m0", ClusterSide{Replicas: 5, Min: 1, Max: 5, Use: new(int64(160))}, ClusterSide{Replicas: 8, Min: 2, Max: 8, Use: new(int64(100))}},
		{"m1", ClusterSide{Replicas: 2, Min: 1, Max: 5, Use: new(int64(100))}, ClusterSide{Replicas: 2, Min: 1, Max: 2, Use: new(int64(100))}},
	}
	fleettest.Same(t, "", want, last.Clusters)
	if last.Was.Replicas != 7 || last.Would.Replicas != 10 || last.Was.Asked != 10 || *last.Was.Use != 160 || *last.Would.Use != 100 {
		t.Errorf("%+v", last)
	}
}

// What is not known of a split is marked, in the cluster where that is so.
func TestWhatIsNotKnownOfASplit(t *testing.T) {
	capacity := func(s *v1alpha1.FederatedHPASpec) {
		s.FederatedHPAAssignment.FederatedHPAAssignmentType = v1alpha1.FederatedHPAAssignmentType(assignment.DynamicWeighted)
	}
	leaves := func(s *v1alpha1.FederatedHPASpec) {
		a := s.FederatedHPAAssignment
		a.ClusterAutoscalingPreference = a.ClusterAutoscalingPreference[1:]
	}
	east := func(change func(*assignment.Site)) func(int, *assignment.Snapshot) {
		return func(_ int, s *assignment.Snapshot) {
			for i := range s.Sites {
				s.Sites[i].Additional = nil
			}
			if change != nil {
				change(&s.Sites[0])
			}
		}
	}
	tests := map[string]struct {
		happen     func(*assignment.Site)
		change     func(*v1alpha1.FederatedHPASpec)
		east, west Unknown
	}{
		"nothing":          {change: weigh(2, 1)},
		"a silent cluster": {happen: func(s *assignment.Site) { s.Presence = assignment.Silent }, change: weigh(2, 1), east: Unseen},
		"no metric":        {happen: func(s *assignment.Site) { s.ScalingActive = false }, change: weigh(2, 1), east: Unusable},
		"no ratio":         {happen: func(s *assignment.Site) { s.Ratios = nil }, change: weigh(2, 1), east: CutOff},
		"no autoscaler":    {happen: func(s *assignment.Site) { s.Max, s.Min, s.Stands = 0, 0, 0 }, change: weigh(2, 1), east: NotTold},
		"capacity":         {change: capacity, east: Capacity, west: Capacity},
		"it takes no part": {change: leaves, east: Elsewhere, west: Elsewhere},
		"silent, elsewhere": {happen: func(s *assignment.Site) { s.Presence = assignment.Silent }, change: leaves,
			east: Elsewhere, west: Elsewhere},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := twoClusters(nil)
			f.Happen = func(step int, s *assignment.Snapshot) {
				if step < 4 {
					east(nil)(step, s)
					return
				}
				east(tc.happen)(step, s)
			}
			other := f.Spec.DeepCopy()
			tc.change(other)
			result, err := Run(f.Run(6), Options{Change: to(other)})
			if err != nil {
				t.Fatal(err)
			}
			p := result.Points[5]
			if len(p.Clusters) != 2 || p.Clusters[0].Would.Unknown != tc.east || p.Clusters[1].Would.Unknown != tc.west ||
				p.Unknown != worse(tc.east, tc.west) {
				t.Errorf("%q: %+v; want %q and %q", p.Unknown, p.Clusters, tc.east, tc.west)
			}
		})
	}
}

// The use of what is requested marks a load that may be cut off.
func TestACutOffSplit(t *testing.T) {
	f := twoClusters(func(s *v1alpha1.FederatedHPASpec) { s.Metrics = []autoscalingv2.MetricSpec{cpu(60)} })
	records := f.Run(10) // 8 on 5 of 60 % each are 96 %
	for cutOff, want := range map[int64]Unknown{95: CutOff, 97: "", 0: ""} {
		result, err := Run(records[:6], Options{CutOff: cutOff})
		if err != nil {
			t.Fatal(err)
		}
		if c := result.Points[3].Clusters; c[0].Was.Unknown != want || c[1].Was.Unknown != "" {
			t.Errorf("from %d %%: %+v", cutOff, c)
		}
	}
}

func TestASplitThatIsNotKnown(t *testing.T) {
	records := twoClusters(nil).Run(3)
	for name, change := range map[string]func(*v1alpha1.FederatedHPASpec){
		"spec.federatedHPAAssignment": func(s *v1alpha1.FederatedHPASpec) { s.FederatedHPAAssignment = nil },
		"spec.scaleTargetRef":         func(s *v1alpha1.FederatedHPASpec) { s.ScaleTargetRef.Name = "web" },
	} {
		other := records[0].Spec.DeepCopy()
		change(other)
		if _, err := Run(records, Options{Change: to(other)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Bounds are a mean over the time, and all else a sum of it.
func TestSummarizeClusters(t *testing.T) {
	side := func(replicas float64, low, high int32, use int64, unknown Unknown) ClusterSide {
		return ClusterSide{replicas, low, high, &use, unknown}
	}
	r := Result{Points: []Point{
		{At: start, Lasts: time.Hour, Clusters: []ClusterPoint{{"east", side(4, 1, 4, 91, ""), side(2, 1, 8, 90, "")}}},
		{At: start.Add(time.Hour), Lasts: 3 * time.Hour, Clusters: []ClusterPoint{
			{"east", side(6, 1, 8, 80, ""), side(2, 1, 8, 95, Unseen)}, {"west", side(1, 1, 4, 1, ""), side(3.5, 1, 2, 1, "")}}},
	}}
	got := r.Summarize(90).Clusters
	want := []ClusterSums{
		{"east", ClusterSum{PodHours: 22, Changes: 1, Min: 1, Max: 7, BoundChanges: 1, Above: time.Hour, AtMax: time.Hour},
			ClusterSum{PodHours: 8, Min: 1, Max: 8, Above: 3 * time.Hour, Unknown: 3 * time.Hour}},
		{"west", ClusterSum{PodHours: 3, Min: 0.75, Max: 3}, ClusterSum{PodHours: 10.5, Min: 0.75, Max: 1.5, AtMax: 3 * time.Hour}},
	}
	fleettest.Same(t, "", want, got)
	one := Result{Points: []Point{{At: start, Clusters: []ClusterPoint{{"east", side(4, 1, 5, 1, ""), side(4, 1, 5, 1, "")}}}}}
	if got := one.Summarize(90).Clusters[0].Was; got.Min != 1 || got.Max != 5 || got.PodHours != 0 {
		t.Errorf("of one decision: %+v", got)
	}
}

// Whatever a cluster is told otherwise is a difference.
func TestStepsThatDiffer(t *testing.T) {
	step := func(change func(s *assignment.Step, east *assignment.SiteStep)) *assignment.Step {
		east := assignment.SiteStep{Min: 1, Max: 4, Scale: new(int32(1)), Window: time.Minute, State: v1alpha1.ClusterActive}
		s := &assignment.Step{Action: "BoundsSplit", Sites: map[string]assignment.SiteStep{}}
		change(s, &east)
		s.Sites["east"] = east
		return s
	}
	as := step(func(*assignment.Step, *assignment.SiteStep) {})
	if !sameStep(as, step(func(*assignment.Step, *assignment.SiteStep) {})) {
		t.Error("the same step differs")
	}
	for what, change := range map[string]func(*assignment.Step, *assignment.SiteStep){
		"action":     func(s *assignment.Step, _ *assignment.SiteStep) { s.Action = "" },
		"one more":   func(s *assignment.Step, _ *assignment.SiteStep) { s.Sites["west"] = assignment.SiteStep{} },
		"min":        func(_ *assignment.Step, east *assignment.SiteStep) { east.Min++ },
		"max":        func(_ *assignment.Step, east *assignment.SiteStep) { east.Max++ },
		"scale":      func(_ *assignment.Step, east *assignment.SiteStep) { east.Scale = new(int32(2)) },
		"not scaled": func(_ *assignment.Step, east *assignment.SiteStep) { east.Scale = nil },
		"held":       func(_ *assignment.Step, east *assignment.SiteStep) { east.Hold = true },
		"window":     func(_ *assignment.Step, east *assignment.SiteStep) { east.Window = 0 },
		"state":      func(_ *assignment.Step, east *assignment.SiteStep) { east.State = v1alpha1.ClusterSaturated },
	} {
		if sameStep(as, step(change)) {
			t.Errorf("%s: it is not noticed", what)
		}
	}
}
