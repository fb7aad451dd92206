// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestSummarize(t *testing.T) {
	side := func(replicas, asked int32, use int64, atMax bool) Side {
		return Side{Replicas: replicas, Asked: asked, Use: &use, AtMax: atMax}
	}
	r := Result{Points: []Point{
		{At: start, Lasts: time.Hour, Was: side(4, 5, 91, true), Would: side(2, 2, 90, false)},
		{At: start.Add(time.Hour), Lasts: 30 * time.Minute, Unknown: CutOff, Was: side(6, 9, 95, true), Would: side(2, 3, 100, false)},
		{At: start.Add(2 * time.Hour), Lasts: 30 * time.Minute, Was: side(2, 1, 10, false), Would: side(1, 0, 20, false)},
	}}
	want := Summary{
		Was: Sums{PodHours: 8, Above: 90 * time.Minute, AtMax: 90 * time.Minute, Ups: 1, Downs: 1, Least: 2, Most: 6, LeastAsked: 1,
			MostAsked: 9},
		Would: Sums{PodHours: 3.5, Above: 30 * time.Minute, Downs: 1, Least: 1, Most: 2, LeastAsked: 2, MostAsked: 3},
		Lasts: 2 * time.Hour, Unknown: map[Unknown]time.Duration{CutOff: 30 * time.Minute, NotRecorded: 30 * time.Minute},
	}
	fleettest.Same(t, "", want, r.Summarize(90))
}

// Between two loads the higher target saves Pods, and the advice is the one that does not exceed the bound.
func TestSweep(t *testing.T) {
	w := &world{current: 10, load: func(step int) int64 { return 1000 + 2000*int64(step/40%2) }}
	w.spec.MinReplicas, w.spec.MaxReplicas, w.spec.Metrics = new(int32(1)), 40, []autoscalingv2.MetricSpec{cpu(50)}
	records := w.run(400)
	wish := Wish{Above: 80, For: 0.1, Headroom: 0.5}
	trials, err := Sweep(records, Options{}, 0, []int64{30, 50, 70, 90}, wish)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(trials); i++ {
		if trials[i].Would.PodHours >= trials[i-1].Would.PodHours {
			t.Errorf("%d %% takes %v Pod-hours, and %d %% %v", trials[i].Target, trials[i].Would.PodHours, trials[i-1].Target,
				trials[i-1].Would.PodHours)
		}
	}
	advice, err := Advise(trials, wish)
	if err != nil {
		t.Fatal(err)
	}
	// 3000 m over 70 % of 500 m are 9 Pods, and a half more are 14; 1000 m are 3.
	fleettest.Same(t, "", &Advice{Target: 70, MinReplicas: 3, MaxReplicas: 14}, advice)
	if _, err := Advise(trials, Wish{Above: 80, For: -1}); err == nil {
		t.Error("no target does, and one was advised")
	}
	if _, err := Sweep(records, Options{}, 1, []int64{30}, wish); err == nil {
		t.Error("the spec has one metric")
	}
}
