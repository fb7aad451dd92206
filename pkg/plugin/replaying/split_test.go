// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

const heavier = "spec.federatedHPAAssignment.clusterAutoscalingPreference[0].staticWeight=3"

// The bounds of each cluster stand beside each other, with what it ran, and for how long that is not known.
func TestReplayOfASplit(t *testing.T) {
	record := recordingtest.SplitHour(recordingtest.Start, 2)
	for name, tc := range map[string]struct {
		in      []byte
		options Options
		want    []string
	}{
		"as it was": {record, Options{}, []string{"FederatedHPA shop/cart: 241 decisions from 2027-03-01 09:30 UTC to 2027-03-01 10:30 UTC\n",
			"all are as they were\n", "a cluster at its maximum              35 min\n", "in m0: bounds, mean                   1.4 to 14.1\n",
			"in m0: changes of the bounds          1\n", "in m0: at its maximum                 35 min\n",
			"in m1: Pod-hours                      2.0\n", "in m1: load not known for             30 min\n",
			"load not known for 30 min: clusters could not be seen\n"}},
		"by other weights": {record, Options{Set: []string{heavier}}, []string{"AS IT WAS     AS IT WOULD BE\n",
			"in m0: bounds, mean                   1.4 to 14.1   2.0 to 17.1\n", "in m1: bounds, mean                   1.0 to 10.0   1.0 to 5.0\n",
			"The load of each cluster is what it was"}},
		"after central mode": {slices.Concat(recordingtest.Hour(recordingtest.Start.Add(-2*time.Hour), "cart"), record), Options{},
			[]string{"241 decisions from", "241 decisions are left out: they were made in the other mode"}},
		"of many": {recordingtest.SplitHour(recordingtest.Start, 22), Options{Set: []string{heavier}},
			[]string{"in 2 other clusters: Pod-hours"}},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, tc.in, tc.options, tc.want)
		})
	}
}

func TestReplayOfASplitForPrograms(t *testing.T) {
	out, err := run(t, recordingtest.SplitHour(recordingtest.Start, 2), Options{Format: "json", Set: []string{heavier}})
	r := &report{}
	if err != nil || json.Unmarshal([]byte(out), r) != nil {
		t.Fatal(err, out)
	}
	if len(r.Clusters) != 2 || len(r.Points) != 241 || r.Differences != 0 {
		t.Fatalf("%d clusters, %d points, %d differences", len(r.Clusters), len(r.Points), r.Differences)
	}
	near := func(a, b float64) bool { return a > b-0.01 && a < b+0.01 }
	if c := r.Clusters[0]; c.Name != "m0" || !near(c.Was.MeanMax, 14.125) || !near(c.Would.MeanMax, 17.0625) ||
		!near(c.Was.PodHours, 12.004) || c.Would.BoundChanges != 1 || c.Was.AtMaxSeconds != 2100 {
		t.Errorf("%+v", c)
	}
	// From then on m1 is silent.
	side := func(most int32) replay.ClusterSide {
		return replay.ClusterSide{Replicas: 2, Min: 1, Max: most, Use: new(int64(100)), Unknown: replay.Unseen}
	}
	fleettest.Same(t, "", replay.ClusterPoint{Name: "m1", Was: side(10), Would: side(5)}, r.Points[200].Clusters[1])
	if c := r.Clusters[1]; c.Would.UnknownSeconds != 1785 || *c.Would.Changes != 1 || c.Would.AboveSeconds != 0 || r.ClustersEstimated {
		t.Errorf("%+v", c)
	}
}

// What cannot be known is refused.
func TestReplayOfASplitThatIsRefused(t *testing.T) {
	record := recordingtest.SplitHour(recordingtest.Start, 2)
	for name, tc := range map[string]struct {
		options Options
		want    string
	}{
		"another workload": {Options{Set: []string{"spec.scaleTargetRef.name=web"}},
			"spec.scaleTargetRef: how bounds would be split by another one"},
		"targets":    {Options{Sweep: SweepOptions{Targets: "50:90:20"}}, "in distributed mode give --set"},
		"a headroom": {Options{Sweep: SweepOptions{Wished: true, Headroom: 20}}, "in distributed mode give --set"},
	} {
		if out, err := run(t, record, tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// A page has the curves of each cluster, of those with the most Pods, and where their load is not known. Decisions of the other mode before
// are left out, and said.
func TestReplayOfASplitOnAPage(t *testing.T) {
	start := recordingtest.Start
	for name, tc := range map[string]struct {
		stream   []byte
		set      []string
		clusters int
		most     int32
		note     string
	}{
		"as it was":        {recordingtest.SplitHour(start, 2), nil, 2, 10, "all are as they were"},
		"by other weights": {recordingtest.SplitHour(start, 2), []string{heavier}, 2, 15, "all are as they were"},
		"of many":          {recordingtest.SplitHour(start, 22), nil, mostClusters, 10, "all are as they were"},
		"after central mode": {slices.Concat(recordingtest.Hour(start.Add(-2*time.Hour), "cart"), recordingtest.SplitHour(start, 2)), nil, 2, 10,
			"241 decisions are left out"},
	} {
		a := NewArchive(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(tc.stream)), nil })
		v, err := a.Replay(t.Context(), recording.Object{Namespace: "shop", Name: "cart"}, tc.set, 95)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(v.Clusters) != tc.clusters || !strings.Contains(strings.Join(v.Notes, "\n"), tc.note) || v.Changed != (tc.set != nil) {
			t.Fatalf("%s: %d clusters: %q", name, len(v.Clusters), v.Notes)
		}
		first, silent := v.Clusters[0], v.Clusters[slices.IndexFunc(v.Clusters, func(c ClusterLines) bool { return c.Name == "m1" })]
		at := slices.Index(v.At, start.Add(5*time.Minute).UnixMilli())
		if first.Name != "m0" || *first.Was.Replicas[at] != 10 || *first.Was.Max[at] != 10 || *first.Would.Max[at] != tc.most ||
			!strings.HasPrefix(first.Spans[0].Why, "CutOff: ") {
			t.Errorf("%s: %s ran %v of %d, and would of %d; %+v", name, first.Name, *first.Was.Replicas[at], *first.Was.Max[at],
				*first.Would.Max[at], first.Spans)
		}
		from := start.Add(121 * 15 * time.Second).UnixMilli()
		if len(silent.Spans) != 1 || silent.Spans[0].From != from || !strings.HasPrefix(silent.Spans[0].Why, "Unseen: ") ||
			*silent.Was.Min[at] != 1 {
			t.Errorf("%s: %+v, want it not known from %d on", name, silent.Spans, from)
		}
	}
}

// However much there is, what is kept to be replayed is bounded, and the latest of it.
func TestLatest(t *testing.T) {
	wide := &recording.Record{}
	wide.Question.Clusters = make([]replicas.Cluster, mostWeight/100)
	l := &latest{}
	for i := range 1000 {
		one := *wide
		one.After = int32(i)
		if l.add(&one); l.weight > mostWeight || len(l.records) < 50 && i > 50 || l.records[len(l.records)-1].After != int32(i) {
			t.Fatalf("after %d: %d records of %d clusters", i, len(l.records), l.weight)
		}
	}
	l = &latest{}
	for i := range 2*mostReplayed + 1 {
		if l.add(&recording.Record{}); len(l.records) > mostReplayed || l.weight != len(l.records) {
			t.Fatalf("after %d: %d records of weight %d", i, len(l.records), l.weight)
		}
	}
}
