// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/assignment"
)

var (
	firstSeed = flag.Uint64("seed", 0, "the first scenario; 0: 1 in the short form, one that never was in the long one")
	scenarios = flag.Int("scenarios", 0, "how many scenarios; 0: as many as the form of the test has")
	traced    = flag.Int("trace", 60, "how much is told of a scenario that fails")
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they would print what fails on purpose, and take time
	klog.SetLogger(logr.Discard())
	flag.Parse()
	switch {
	case *firstSeed != 0:
	case testing.Short():
		*firstSeed = 1
	default:
		*firstSeed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("scenarios from -seed %d on\n", *firstSeed)
	m.Run()
}

// actions are the reasons of the Events that must have been heard of in many scenarios.
var actions = []assignment.Action{
	assignment.Initialized, assignment.FailedOver, assignment.Spilled, assignment.Drained, assignment.Woken, assignment.Slept,
	assignment.MinimumMoved, assignment.CapacityFollowed, assignment.DemandFollowed,
}

// happenings are what must have been drawn in many scenarios.
var happenings = []string{"selected by name", "selected by label", "selected by field", "preferred by name", "preferred by label",
	"preferred by field", "no minimum", "nothing runs", "woken by the hub", "tainted NoSchedule",
	"tainted NoExecute", "tolerates", "emptied", "below a silent part", "left", "joined", "drained while others sleep", "cordoned at zero",
	"in order, with a load of their own"}

// How many scenarios the short and the long form have, and in how many of them each action is at least.
const (
	few, many      = 80, 1000
	fewest, enough = 3, 50
	shards         = 8
)

func TestFleets(t *testing.T) {
	n, least := many, enough
	if testing.Short() {
		n, least = few, fewest
	}
	if *scenarios > 0 {
		n, least = *scenarios, 0
	}
	seen := tally{fired: map[string]int{}}
	t.Run("all", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					seen.note(t, scenario(t, *firstSeed+uint64(i), variant{}))
				}
			})
		}
	})
	t.Logf("%d scenarios of %d rounds; in how many of them what happened: %v", n, seen.rounds, seen.fired)
	must := slices.Clone(happenings)
	for _, action := range actions {
		must = append(must, string(action))
	}
	for _, what := range must {
		if seen.fired[what] < least {
			t.Errorf("%s happened in %d scenarios only", what, seen.fired[what])
		}
	}
}

// tally is what was reached.
type tally struct {
	lock   sync.Mutex
	fired  map[string]int
	rounds int
}

func (s *tally) note(t *testing.T, o outcome) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.rounds += o.rounds
	for reason := range o.fired {
		s.fired[reason]++
	}
	if o.fault != "" {
		t.Error(o.fault)
	}
}

// However soon after a storm the program begins again, the fleet comes to the same rest.
func TestRestartChangesNothing(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 3
	}
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		want := scenario(t, seed, variant{brief: true})
		for _, round := range []int{1, 2, 3, 10, 25} {
			got := scenario(t, seed, variant{brief: true, restart: round})
			if got.fault != "" {
				t.Error(got.fault)
			}
			if diff := cmp.Diff(want.rests, got.rests); diff != "" {
				t.Errorf("seed %d, a restart in round %d (-without +with):\n%s", seed, round, diff)
			}
		}
	}
}

// However long the load and what clusters can host stay as they are, nothing moves back and forth.
func TestConstantLoad(t *testing.T) {
	n := 40
	if testing.Short() {
		n = 4
	}
	writes := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(n); seed++ {
		o := scenario(t, seed+5000, variant{brief: true, long: 1000})
		if writes += o.writes; o.fault != "" {
			t.Error(o.fault)
		}
	}
	if writes == 0 {
		t.Error("nothing was written at all")
	}
}
