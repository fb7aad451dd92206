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

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func hour(t *testing.T) []*recording.Record {
	t.Helper()
	return recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(recordingtest.Hour(recordingtest.Start, "cart"))))
}

// dividedHour is the record of an hour of central mode in several clusters: of each four replicas the first one runs one, and the second
// one the others. A Pod of the first one uses twice as much as it did in the mean. In the last quarter of an hour the second one is silent.
func dividedHour(t *testing.T, names ...string) []byte {
	t.Helper()
	records := hour(t)
	for i, r := range records {
		q := &r.Question
		told := q.Metrics[0].Told
		east := q.Scale.Replicas / 4
		q.Clusters, told.Clusters = nil, nil
		for n, name := range names {
			runs := []int32{east, q.Scale.Replicas - east, 0}[min(n, 2)]
			q.Clusters = append(q.Clusters, replicas.Cluster{Name: name, Assigned: &runs})
			c := replicas.PodCount{Cluster: name, Counted: int(runs), Requests: 500 * int64(runs)}
			c.Used = told.Sums.Used * int64(runs) / int64(q.Scale.Replicas)
			if n == 0 {
				c.Used *= 2
			}
			told.Clusters = append(told.Clusters, c)
		}
		if i > len(records)*3/4 {
			q.Clusters[1].Silent = &fleet.Silence{Reason: fleet.ReasonTimeout}
		}
	}
	return recordingtest.Stream(records...)
}

const fuller = "spec.metrics[0].resource.target.averageUtilization=100"

// In central mode what each cluster ran stands beside the share that it would have had, which is marked as an estimate.
func TestReplayOfClusters(t *testing.T) {
	record := dividedHour(t, "east", "west")
	many := append([]string{"east", "west"}, strings.Fields("a b c d e f g h i j k l m n o p q r s t")...)
	for name, tc := range map[string]struct {
		in      []byte
		options Options
		want    []string
		not     string
	}{
		"as it was": {record, Options{}, []string{"all are as they were\n", "AS IT WAS\n", "Pod-hours                             7.9\n",
			"at maxReplicas                        30 min\n",
			"in east: Pod-hours                    2.0\n", "in east: changes of the replicas      2\n",
			"in east: above 90 % of the requests   30 min\n", "in west: Pod-hours                    5.9\n",
			"in west: load not known for           15 min\n"}, "about"},
		"by another target": {record, Options{Set: []string{fuller}}, []string{
			"in east: Pod-hours                    2.0         about 1.3 (-35 %)\n",
			"in east: changes of the replicas      2           not known\n",
			"in east: above 90 % of the requests   30 min      about 55 min\n",
			"in west: Pod-hours                    5.9         about 3.8 (-35 %)\n",
			"in west: load not known for           15 min      15 min\n",
			"The replicas are divided as they were: what a cluster would run, and use, is an estimate"}, "bounds"},
		"of many": {dividedHour(t, many...), Options{Set: []string{fuller}},
			[]string{"in 2 other clusters: Pod-hours        0.0         about 0.0\n"}, "bounds"},
	} {
		t.Run(name, func(t *testing.T) {
			out := says(t, tc.in, tc.options, tc.want)
			if strings.Contains(out, tc.not) {
				t.Errorf("there is %q in\n%s", tc.not, out)
			}
		})
	}
}

// Programs get the same, and nothing of bounds.
func TestReplayOfClustersForPrograms(t *testing.T) {
	for name, set := range map[string][]string{"as it was": nil, "by another target": {fuller}} {
		out, err := run(t, dividedHour(t, "east", "west"), Options{Format: "json", Set: set})
		r := &report{}
		if err != nil || json.Unmarshal([]byte(out), r) != nil {
			t.Fatal(name, err, out)
		}
		if r.ClustersEstimated != (set != nil) || len(r.Clusters) != 2 || strings.Contains(out, `"clustersEstimated": true`) != (set != nil) {
			t.Errorf("%s: %d clusters, estimated: %v", name, len(r.Clusters), r.ClustersEstimated)
		}
		for _, bound := range []string{`"min"`, "meanMax", "boundChanges"} {
			if strings.Contains(out, bound) {
				t.Errorf("%s: there is %s in what is not of bounds", name, bound)
			}
		}
		east := r.Clusters[0]
		if east.Name != "east" || *east.Was.Changes != 2 || (east.Would.Changes == nil) != (set != nil) {
			t.Errorf("%s: %+v", name, east)
		}
		if set == nil {
			fleettest.Same(t, name, east.Was, east.Would)
			continue
		}
		// By then the fleet was told 12, and would have been told 8.
		side := func(replicas float64, use int64, unknown replay.Unknown) replay.ClusterSide {
			return replay.ClusterSide{Replicas: replicas, Use: &use, Unknown: unknown}
		}
		fleettest.Same(t, name, []replay.ClusterPoint{{Name: "east", Was: side(3, 120, ""), Would: side(2, 180, "")},
			{Name: "west", Was: side(9, 60, replay.Unseen), Would: side(6, 90, replay.Unseen)}}, r.Points[240].Clusters)
	}
}

// A page has curves of each cluster, without bounds, and where what they would run is not known: of one that could not be seen, and where
// that of the fleet is not known.
func TestReplayOfClustersOnAPage(t *testing.T) {
	record := dividedHour(t, "east", "west")
	for name, set := range map[string][]string{"as it was": nil, "by another target": {fuller}} {
		a := NewArchive(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(record)), nil })
		v, err := a.Replay(t.Context(), recording.Object{Namespace: "shop", Name: "cart"}, set, 95)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(v.Clusters) != 2 || v.Estimated != (set != nil) || strings.Contains(v.Assuming, "an estimate") != (set != nil) {
			t.Fatalf("%s: %d clusters, estimated: %v, %s", name, len(v.Clusters), v.Estimated, v.Assuming)
		}
		west, east := v.Clusters[0], v.Clusters[1]
		if west.Name != "west" || *west.Was.Replicas[0] != 3 || west.Was.Min != nil || west.Would.Max != nil {
			t.Errorf("%s: %+v", name, west.Was)
		}
		silent := func(p Part) bool { return strings.HasPrefix(p.Why, "Unseen: ") }
		if i := slices.IndexFunc(west.Spans, silent); i < 0 || west.Spans[i].From != recordingtest.Start.Add(181*15*time.Second).UnixMilli() {
			t.Errorf("%s: west is not known: %+v", name, west.Spans)
		}
		if slices.ContainsFunc(east.Spans, silent) != (set != nil) {
			t.Errorf("%s: east is not known: %+v", name, east.Spans)
		}
	}
}

// Nothing is called an estimate where nothing of it is shown: without clusters, and without another spec where the autoscaler only
// observes.
func TestReplayWithoutEstimates(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*recording.Record)
		set    []string
	}{
		"no clusters": {func(r *recording.Record) { r.Question.Clusters, r.Facts = nil, nil }, []string{fuller}},
		"it observes": {func(r *recording.Record) { r.Outcome = recording.Observed }, nil},
	} {
		records := hour(t)
		for _, r := range records {
			tc.change(r)
		}
		stream := recordingtest.Stream(records...)
		a := NewArchive(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(stream)), nil })
		v, err := a.Replay(t.Context(), recording.Object{Namespace: "shop", Name: "cart"}, tc.set, 95)
		if err != nil || v.Estimated || strings.Contains(v.Assuming, "estimate") {
			t.Errorf("%s: estimated: %v, %v, %s", name, v.Estimated, err, v.Assuming)
		}
	}
}
