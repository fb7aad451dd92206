// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// However a run is, a picture of it has its most, all of its time, and marks what is not known.
func TestThin(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		points, at := make([]Point, 1+r.IntN(300)), start
		for i := range points {
			p := &points[i]
			p.At, p.Lasts = at, time.Duration(1+r.IntN(600))*time.Second
			p.Was, p.Would = Side{Replicas: r.Int32N(100)}, Side{Replicas: r.Int32N(100), AtMax: r.IntN(50) == 0}
			if r.IntN(3) > 0 {
				p.Would.Use = new(r.Int64N(200))
			}
			if r.IntN(20) == 0 {
				p.Unknown = Reasons[r.IntN(4)]
			}
			at = at.Add(p.Lasts + time.Duration(r.IntN(2))*time.Minute)
		}
		n := 1 + r.IntN(100)
		thin := Thin(points, n)
		if len(points) <= n && len(thin) != len(points) || len(thin) > max(n, 0) && len(points) > n {
			t.Fatalf("seed %d: %d points of %d, want at most %d", seed, len(thin), len(points), n)
		}
		whole, got := Thin(points, 1), Thin(thin, 1)
		if diff := fleettest.Diff(whole, got); diff != "" {
			t.Fatalf("seed %d (-all +thin):\n%s", seed, diff)
		}
		spans := Spans(thin)
		marked := func(p *Point) bool {
			for _, s := range spans {
				if s.Unknown != NotRecorded && !p.At.Before(s.From) && p.At.Before(s.To) {
					return true
				}
			}
			return false
		}
		for i := range thin {
			if thin[i].Unknown != "" && !marked(&thin[i]) {
				t.Fatalf("seed %d: %v is not marked", seed, thin[i].At)
			}
		}
	}
	if got := Thin([]Point{{At: start}, {At: start}}, 1); len(got) != 1 {
		t.Errorf("%d points of a moment", len(got))
	}
}

// A part of the time has the most of each cluster, also of one that was there for some of it only.
func TestThinClusters(t *testing.T) {
	side := func(replicas float64, high int32, use *int64, unknown Unknown) ClusterSide {
		return ClusterSide{replicas, 0, high, use, unknown}
	}
	points := []Point{
		{At: start, Clusters: []ClusterPoint{{"west", side(2.5, 4, nil, ""), side(1, 4, new(int64(9)), Unseen)}}},
		{At: start, Clusters: []ClusterPoint{{"east", side(1, 1, nil, ""), side(1, 1, nil, "")},
			{"west", side(2, 5, new(int64(7)), ""), side(3, 3, new(int64(8)), "")}}},
	}
	want := []ClusterPoint{{"east", side(1, 1, nil, ""), side(1, 1, nil, "")},
		{"west", side(2.5, 5, new(int64(7)), ""), side(3, 4, new(int64(9)), Unseen)}}
	fleettest.Same(t, "", want, Thin(points, 1)[0].Clusters)
}

func TestSpans(t *testing.T) {
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	points := []Point{
		{At: at(0), Lasts: time.Minute},
		{At: at(1), Lasts: time.Minute, Unknown: CutOff},
		{At: at(2), Lasts: time.Minute, Unknown: CutOff},
		{At: at(3), Lasts: time.Minute, Unknown: Unseen},
		{At: at(4), Lasts: 10 * time.Minute},
		{At: at(60)},
	}
	want := []Span{{at(1), at(3), CutOff}, {at(3), at(4), Unseen}, {at(14), at(60), NotRecorded}}
	fleettest.Same(t, "", want, Spans(points))
}
