// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// fedDays is a store that was fed for days: east uses 100m, and west 1000m.
func fedDays(t *testing.T, days int) (s *Store, end time.Duration) {
	t.Helper()
	s = started(t, newHub(t), noon)
	for end = 0; end < time.Duration(days)*24*time.Hour; end += 30 * time.Minute {
		feed(t, s, at(end).saw("east", of(1, 100, gi)).saw("west", of(1, 1000, 2*gi)))
	}
	return s, end
}

func TestAdvise(t *testing.T) {
	s, _ := fedDays(t, 2)
	a := advise(t, s, sizes.Advice{})
	if a.Container != "app" || a.Samples != 2*96 || !a.First.Equal(noon) || len(a.Clusters) != 2 {
		t.Fatalf("advice %+v", a)
	}
	east, west := a.Clusters[0], a.Clusters[1]
	if east.Cluster != "east" || east.Samples != 96 || west.Cluster != "west" || west.Silent || !west.First.Equal(noon) {
		t.Errorf("clusters %+v", a.Clusters)
	}
	if east.Target[sizes.CPU] > 130 || west.Target[sizes.CPU] < 1000 || a.Fleet.Target != west.Target {
		t.Errorf("east %v, west %v, all %v", east.Target, west.Target, a.Fleet.Target)
	}
	other, err := s.Advise(web(), []Wanted{{Container: "other", Options: options()}})
	if err != nil {
		t.Fatal(err)
	}
	nothing, grounds := sizes.GroundedAdvice(nil, options(), sizes.Advice{})
	want := Advice{Container: "other", Fleet: nothing, Grounds: grounds, Clusters: []ClusterAdvice{
		{Advice: nothing, Cluster: "east"}, {Advice: nothing, Cluster: "west"},
	}}
	fleettest.Same(t, "of what was never seen", []Advice{want}, other)
}

// While a cluster is silent nothing becomes less: not by its silence, not as its share is dropped. It may become more.
func TestSilenceLowersNothing(t *testing.T) {
	s, end := fedDays(t, 2)
	last := advise(t, s, sizes.Advice{})
	for day := range 12 {
		now := end + time.Duration(day)*24*time.Hour
		feed(t, s, at(now).saw("east", of(1, 100, gi)).silent("west"))
		a := advise(t, s, last.Fleet)
		for r := range a.Fleet.Target {
			if a.Fleet.Target[r] < last.Fleet.Target[r] || a.Fleet.Lower[r] < last.Fleet.Lower[r] {
				t.Fatalf("day %d: %v became %v", day, last.Fleet, a.Fleet)
			}
		}
		if dropped := a.Clusters[1].Samples == 0; dropped != (day > 8-1) || !a.Clusters[1].Silent {
			t.Errorf("day %d: west has %d samples, silent %t", day, a.Clusters[1].Samples, a.Clusters[1].Silent)
		}
		last = a
	}
	feed(t, s, at(end+13*24*time.Hour).saw("east", of(1, 100, gi)).silent("west").saw("north", of(1, 9000, gi), of(2, 9000, gi)))
	more := advise(t, s, last.Fleet)
	for n := range 200 {
		feed(t, s, at(end+13*24*time.Hour+time.Duration(n+1)*time.Minute).saw("east").silent("west").saw("north", of(1, 9000, gi)))
		more = advise(t, s, more.Fleet)
	}
	if more.Fleet.Target[sizes.CPU] < 9000 {
		t.Errorf("the target is %v, though most use 9 cores", more.Fleet.Target)
	}
	feed(t, s, at(end+14*24*time.Hour).saw("east", of(1, 100, gi)))
	if a := advise(t, s, more.Fleet); len(a.Clusters) != 1 || a.Fleet.Target[sizes.CPU] > 200 {
		t.Errorf("of east alone: %+v", a)
	}
}

func TestNoAdviceBeforeAllIsKnown(t *testing.T) {
	s := New(newHub(t), time.Minute)
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: its history has not been loaded: nothing has been read yet")
	if _, err := s.Feed(web(), at(0)); err == nil ||
		err.Error() != "recording what MultidimPodAutoscaler shop/web uses: its history has not been loaded: nothing has been read yet" {
		t.Errorf("feeding: %v", err)
	}
	if _, err := s.Load(t.Context(), web(), noon); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: no cluster has been asked since its history was loaded")
	feed(t, s, at(0).saw("east", of(1, 100, gi)))
	advise(t, s, sizes.Advice{})
	s.Forget("shop", "web")
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: its history has not been loaded: nothing has been read yet")
}

// Another object of the same name begins with nothing.
func TestAnotherOfTheName(t *testing.T) {
	s, _ := fedDays(t, 1)
	other := web()
	other.UID = "u2"
	if _, err := s.Advise(other, nil); err == nil {
		t.Error("there is advice from the history of an object that was deleted")
	}
	if _, err := s.Load(t.Context(), other, noon); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, s, "advising on MultidimPodAutoscaler shop/web: its history has not been loaded: nothing has been read yet")
}

func wantRefusal(t *testing.T, s *Store, want string) {
	t.Helper()
	if _, err := s.Advise(web(), nil); err == nil || err.Error() != want {
		t.Errorf("advice: %v, want %s", err, want)
	}
}
