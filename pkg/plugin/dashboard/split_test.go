// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/assignment"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

func recordsOf(t *testing.T, stream []byte) []*recording.Record {
	t.Helper()
	return recordingtest.Read(t, recording.NewDecoder(bytes.NewReader(stream)))
}

// While the first metrics of one of the clusters fail, what all desire is not known; that one has scaled to zero is a decision.
func TestRecordedSplitUndecided(t *testing.T) {
	r := recordsOf(t, recordingtest.SplitHour(noon, 2))[100]
	desired := func(change func(*assignment.Site)) string {
		changed, split := *r, *r.Split
		split.Snapshot.Sites = slices.Clone(split.Snapshot.Sites)
		change(&split.Snapshot.Sites[1])
		changed.Split = &split
		return fmt.Sprint(ptr.Deref(pointOfRecord(&changed).Desired, -1))
	}
	got := []string{
		desired(func(*assignment.Site) {}),
		desired(func(s *assignment.Site) { s.Desired, s.ScalingActive, s.LastScale = 0, false, nil }),
		desired(func(s *assignment.Site) { s.Desired, s.ScalingActive, s.LastScale = 0, false, &noon }),
		desired(func(s *assignment.Site) { s.Desired, s.ScalingActive, s.LastScale = 0, true, nil }),
		desired(func(s *assignment.Site) { s.Desired, s.Current, s.ScalingActive, s.LastScale = 0, 0, false, nil }),
	}
	if diff := gocmp.Diff([]string{"12", "-1", "10", "10", "10"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The past of distributed mode is there as it was: replicas, the bounds of the fleet and of each cluster, state and limit, and what is not
// known. Central mode before it is in the same pictures.
func TestRecordedSplit(t *testing.T) {
	start := noon.Add(-time.Hour)
	stream := slices.Concat(recordingtest.Hour(start.Add(-3*time.Hour), "cart"), recordingtest.SplitHour(start, 2))
	file := filepath.Join(t.TempDir(), "shop.fsr")
	if err := os.WriteFile(file, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	past := pastOf(t, file, "fhpa/shop/cart")
	if past.Decisions != 482 || past.To != noon.UnixMilli() {
		t.Fatalf("%d decisions until %d", past.Decisions, past.To)
	}
	points, gaps := joined(past, nil, noon)
	say := func(at time.Time) string {
		i, exact := slices.BinarySearchFunc(points, at, func(p point, at time.Time) int { return p.At.Compare(at) })
		if !exact {
			i--
		}
		p := points[i]
		return fmt.Sprintln(*p.Desired, *p.Ready, *p.Min, *p.Max, p.State, p.Limit, p.Clusters, p.Unseen)
	}
	got := say(start.Add(-time.Second)) + say(start.Add(29*time.Minute)) + say(noon)
	want := "12 12 2 12 Limited Bounds [{east 12 false 0 0}] []\n" +
		"12 12 2 20 Limited Settled [{m0 10 true 1 10} {m1 2 true 1 10}] []\n" +
		"17 17 2 20 Held Settled [{m0 15 true 2 20} {m1 2 true 1 10}] [m1]\n"
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := seriesOf(points, noon)
	if m0, m1 := s.Clusters[1], s.Clusters[2]; s.Clusters[0].Max != nil || m0.Name != "m0" || m0.Max[0] != nil || len(m0.Unknown) > 0 ||
		*m1.Max[len(points)-1] != 10 {
		t.Errorf("%+v", s.Clusters)
	}
	silent := start.Add(121 * 15 * time.Second).UnixMilli()
	unseen := []span{{silent, noon.UnixMilli(), "m1 could not be seen"}}
	if diff := gocmp.Diff(unseen, s.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]span{{silent, noon.UnixMilli(), "it could not be seen"}}, s.Clusters[2].Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	between := []span{{start.Add(-2*time.Hour + replay.Gap).UnixMilli(), start.UnixMilli(), notRecorded}}
	if diff := gocmp.Diff(between, gaps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const preference = "spec.federatedHPAAssignment.clusterAutoscalingPreference"
	fields := []setting{{"spec.minReplicas", "minReplicas", "2"}, {"spec.maxReplicas", "maxReplicas", "20"},
		{"spec.federatedHPAAssignment.federatedHPAAssignmentType", "policy", "StaticWeighted"},
		{preference + "[0].staticWeight", "weight of m0", "1"}, {preference + "[1].staticWeight", "weight of m1", "1"}}
	if diff := gocmp.Diff(fields, past.Settable); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever happens to clusters, what is drawn of them is what a replay has of them, and each moment is explained by their bounds.
func TestSplitsAreDrawnAsTheyAreReplayed(t *testing.T) {
	stays := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 22))
		f := recordingtest.NewFleet(r, r.IntN(6)+1, 40)
		f.Happen = recordingtest.Anything(r)
		records := f.Run(40)
		for _, record := range records {
			record.Split.Stays = r.IntN(4) == 0
		}
		result, err := replay.Run(records, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, record := range records {
			p, at := pointOfRecord(record), &result.Points[i]
			slices.SortFunc(p.Clusters, func(a, b share) int { return cmp.Compare(a.Name, b.Name) })
			var want []share
			for _, c := range at.Clusters {
				want = append(want, share{c.Name, int32(c.Was.Replicas), true, c.Was.Min, c.Was.Max})
			}
			if diff := gocmp.Diff(want, p.Clusters); diff != "" {
				t.Fatalf("seed %d, decision %d (-replayed +drawn):\n%s", seed, i, diff)
			}
			text := momentOf(record).Explanation
			for _, c := range want {
				if !strings.Contains(text, fmt.Sprintf("%s: min %d, max %d, runs %d", c.Name, c.Min, c.Max, c.Replicas)) {
					t.Fatalf("seed %d, decision %d: nothing of %+v in\n%s", seed, i, c, text)
				}
			}
			if strings.Contains(text, "had not come true") != record.Split.Stays {
				t.Fatalf("seed %d, decision %d: stays is %v in\n%s", seed, i, record.Split.Stays, text)
			} else if record.Split.Stays {
				stays++
			}
		}
	}
	if stays == 0 {
		t.Error("no bounds stay")
	}
}

func TestStateOfSplit(t *testing.T) {
	for want, change := range map[v1alpha1.FederatedHPAState]func(*recording.Record, []assignment.Site){
		v1alpha1.StateActive:  func(*recording.Record, []assignment.Site) {},
		v1alpha1.StateLimited: func(_ *recording.Record, s []assignment.Site) { s[0].TooManyReplicas = true },
		v1alpha1.StateHeld: func(_ *recording.Record, s []assignment.Site) {
			s[0].Presence, s[1].TooManyReplicas = assignment.Silent, true
		},
		v1alpha1.StatePaused:  func(_ *recording.Record, s []assignment.Site) { s[0].Current, s[1].Current = 0, 0 },
		v1alpha1.StateFailing: func(_ *recording.Record, s []assignment.Site) { s[0].ScalingActive = false },
		v1alpha1.StateObserving: func(r *recording.Record, s []assignment.Site) {
			r.Outcome, s[0].ScalingActive = recording.Observed, false
		},
	} {
		r := recordsOf(t, recordingtest.SplitHour(noon, 2))[10]
		sites := r.Split.Snapshot.Sites
		for i := range sites {
			sites[i].TooManyReplicas = false
		}
		change(r, sites)
		if got := pointOfSplit(r).State; got != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
		sites[0].Presence = assignment.Refusing
		if got := pointOfSplit(r).State; got != string(v1alpha1.StateFailing) {
			t.Errorf("%s of one that refuses", got)
		}
		sites[0].Presence, sites[0].Standing, sites[1].ScalingActive = assignment.Silent, taints.Drained, true
		if got := pointOfSplit(r).State; got == string(v1alpha1.StateHeld) {
			t.Error("it is held by a cluster that is drained")
		}
	}
}

// What somebody else wrote of clusters is bounded, and what cannot be set is not offered.
func TestSettableOfSplits(t *testing.T) {
	spec := &v1alpha1.FederatedHPASpec{FederatedHPAAssignment: &v1alpha1.FederatedHPAAssignment{}}
	a := spec.FederatedHPAAssignment
	if got := settable(spec); len(got) != 3 || got[2].Value != "Duplicated" {
		t.Errorf("%+v", got)
	}
	a.FederatedHPAAssignmentType = v1alpha1.FederatedHPAAssignmentType(assignment.Prioritized)
	a.ClusterAutoscalingPreference = []v1alpha1.TargetClusterAutoscalingPreference{
		{Priority: new(int32(7))}, {AutoscalingMaxThreshold: new(int32(9))}}
	var got []string
	for _, s := range settable(spec)[3:] {
		got = append(got, s.Name+"="+s.Value)
	}
	if diff := gocmp.Diff([]string{"priority of preference 1=7", "priority of preference 2=0", "most of preference 2=9"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.ClusterAutoscalingPreference = make([]v1alpha1.TargetClusterAutoscalingPreference, 500)
	if n := len(settable(spec)); n != mostSettings {
		t.Errorf("%d fields can be set", n)
	}
}

// What is drawn of a cluster that is away is marked, also as it is seen now, and between a record and now.
func TestUnknownIsMarked(t *testing.T) {
	held := dashboardtest.FederatedHPA("shop", "cart", noon, 63, 3, "east", "west")
	dashboardtest.Hold(held, "west")
	live, _ := pointOf(held, noon.Add(-time.Minute))
	r := &recorded{From: 1, To: noon.Add(-time.Hour).UnixMilli(), points: []point{{At: noon.Add(-2 * time.Hour)}}}
	d := detailOf(known{Object: held, Points: []point{live}, Recorded: r, Now: noon})
	want := []span{
		{noon.Add(-time.Hour + replay.Gap).UnixMilli(), noon.Add(-time.Minute).UnixMilli(), notRecorded},
		{noon.Add(-time.Minute).UnixMilli(), noon.UnixMilli(), "west could not be seen"},
	}
	if diff := gocmp.Diff(want, d.Series.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What was seen is known, whatever was recorded.
	seen := live.At.UnixMilli()
	r.To, r.gaps = noon.UnixMilli(), []span{{1, 2, "a"}, {seen - 5, seen + 5, "b"}, {seen + 6, seen + 9, "c"}}
	if _, got := joined(r, []point{live}, noon); len(got) != 2 || got[0] != r.gaps[0] || got[1] != (span{seen - 5, seen, "b"}) {
		t.Errorf("%+v", got)
	}
	for names, want := range map[string]string{"": "", "a b c": "a, b, c could not be seen", "a b c d": "4 clusters could not be seen"} {
		if got := (&point{Unseen: strings.Fields(names)}).unseen(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// One that has never run anything is nobody else.
	points := []point{{At: noon, Clusters: []share{{Name: "east", Replicas: 2}}, Unseen: []string{"west"}}}
	if all := stacked(points, noon); len(all) != 1 || len(all[0].Unknown) > 0 {
		t.Errorf("%+v", all)
	}
	// Of one that is not told apart the others are marked, whose numbers are added up.
	points = []point{{At: noon, Unseen: []string{"c9"}}}
	for i := range 10 {
		points[0].Clusters = append(points[0].Clusters, share{fmt.Sprint("c", i), int32(20 - i), true, 1, int32(30 - i)})
	}
	if all := stacked(points, noon); len(all) != 8 || all[7].Name != "3 others" || all[7].Replicas[0] != 36 || *all[7].Min[0] != 3 ||
		*all[7].Max[0] != 66 || len(all[7].Unknown) != 1 || len(all[6].Unknown) != 0 {
		t.Errorf("%+v", all)
	}
}
