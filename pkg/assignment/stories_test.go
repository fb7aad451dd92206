// SPDX-License-Identifier: Apache-2.0

package assignment

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// TestStories plays the stories in testdata/stories, and compares what happens with what is written there. After a change
// that is meant to change them, `go test ./pkg/assignment -run TestStories -rewrite` writes them again: commit only what you
// understand.
//
// A story has scenes, each with one fleet, whose members' autoscalers are simulated. It begins at 12:00:00.
//
//	fleet          begins a scene: the spec by its arguments, and the clusters, one a line: the name, the bounds that it has
//	               (1/5) if they have been split before, and facts
//	spec           changes the spec; what is not named stays
//	load 12        the load takes 12 Pods at their target; all that have a node carry as much. At first, and by `load
//	               unknown`, nobody knows it, and the members' autoscalers only keep to their bounds
//	set            changes facts of clusters, one a line
//	silent east    and so on: each of those below named `command`
//	next           the hub reconciles the fleet once, decides, and carries out what it decided
//	tick 60s       every 15 s the members' autoscalers scale, and the hub reconciles
//	suppose        what would come next, if these facts were others; afterwards they are what they were
//
// Facts of a cluster:
//
//	weight=3 priority=2 floor=1 ceiling=9   what the spec says of it
//	runs=4 room=9                           its replicas, and how many Pods its nodes take; at first nobody knows that
//	hidden                                  the hub cannot know its room
//	more=3                                  how many more its nodes seem to take, whatever waits there
//	waiting=60s                             for how long its oldest Pod has been waiting for a node
//	load=80,120                             its metrics, in percent of their targets, instead of the load of the fleet
//	wants=5 limited moving stuck scaled=15s what its autoscaler says: it desires 5, would go beyond its maximum, is not steady,
//	                                        cannot scale; and when it has scaled
//	zero saturated new                      its state by the last step, if that is not Active: ScaledToZero, Saturated, none
//	room-since=60s                          since when it has had room again, saturated as it is
//	silent back                             command: it cannot be read (for so long: silent=5m); it can again, since now
//	refuses accepts                         command: it is read, but refuses the bounds that are written to it; no more
//	given-up                                it has refused for so long that the others wait for it no more
//	balks obeys                             command: its workload refuses to be scaled; no more
//	leaves joins                            command: it takes part no more; it does again
//	cordoned drained free                   command: it is that, by its taints; it is neither any more
//
// Arguments of fleet, spec and suppose are policy, min, max, order, scale-down, rebalance, to-zero; besides, changed (the bounds
// are not split for this spec), wanted (the hub's own reading of the metrics says that something should run), low=5m, woken=5m,
// moved=5m (for how long the load has been low; when something was woken, and when bounds were moved).
//
// A table has each cluster's bounds, with * for a minimum that is 1 only because an autoscaler needs one; its replicas, and
// those of them that wait for a node; its state; and what it is told: to run so many, to hold (which is not to shrink), to wait
// for so long before it shrinks. Above it stand the time, what the step does, and what is remembered or said of the fleet.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &tale{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.TestData = t, d
			return s.play()
		})
	})
}

// tale is a county in which there happens what a text says.
type tale struct {
	county
	*datadriven.TestData
	known  bool            // what the load is
	hidden map[string]bool // clusters whose room the hub cannot know
	// What was told last: what happened, the table, and that without what runs.
	head, shown, bounds string
}

func (s *tale) play() string {
	switch s.Cmd {
	case "fleet":
		s.begin()
	case "spec":
		s.s.Changed = true
		s.specify()
	case "load":
		s.known = s.CmdArgs[0].Key != "unknown"
		if s.known {
			s.load = s.thousandths(s.CmdArgs[0].Key)
		}
	case "set":
		s.setFacts()
	case "next":
		return s.next()
	case "tick":
		return s.tick()
	case "suppose":
		return s.suppose()
	default:
		for _, arg := range s.CmdArgs {
			if !s.setState(s.named(arg.Key), s.Cmd, "") {
				s.Fatalf(s.t, "unknown command")
			}
		}
	}
	return ""
}

// begin makes another fleet.
func (s *tale) begin() {
	s.county = county{t: s.t, now: noon, actions: map[Action]int{}, recall: s.see, s: snapshot(StaticWeighted, 1, 10)}
	s.known, s.hidden, s.head, s.shown, s.bounds = false, map[string]bool{}, "", "", ""
	s.s.Changed = !strings.Contains(s.Input, "/")
	for line := range strings.Lines(s.Input) {
		w := &town{room: unbounded, lowSince: noon}
		if w.Site = site(strings.Fields(line)[0], 0, 0, 0); s.s.Changed {
			fresh(&w.Site)
		}
		s.members = append(s.members, w)
	}
	s.setFacts()
	s.specify()
}

// see returns what the hub knows of the clusters when it reconciles.
func (s *tale) see(seen Snapshot) Snapshot {
	seen.Wanted = s.s.Wanted || s.known && s.load > 0
	for i, w := range s.members {
		one := &seen.Sites[i]
		one.Stands = w.bounds[1]
		switch {
		case w.Ratios != nil:
			one.Ratios = w.Ratios
		case !s.known:
			one.Ratios = nil
		}
		switch {
		case w.Additional != nil:
			one.Additional = w.Additional
		case w.room == unbounded || s.hidden[w.Name]:
			one.Additional = nil
		}
	}
	return seen
}

// decide is one reconcile; the order of the sites does not show.
func (s *tale) decide() Step {
	seen := s.snapshot()
	step := Next(seen)
	slices.Reverse(seen.Sites)
	if diff := fleettest.Diff(step, Next(seen)); diff != "" {
		s.Fatalf(s.t, "in another order (-first +second):\n%s", diff)
	}
	return step
}

// carryOut does what a step says, where it can be done.
func (s *tale) carryOut(step Step) {
	sites := maps.Clone(step.Sites)
	for _, w := range s.members {
		to := step.Sites[w.Name]
		w.SaturatedFirst = to.SaturatedFirst
		if w.Recovered = w.Recovered && w.Presence != Present; w.Balks && to.Scale != nil {
			w.Ordered, to.Scale = to.Scale, nil
			sites[w.Name] = to
		} else if to.Scale != nil && !w.away {
			w.Desired, w.ScalingActive, w.Ordered = *to.Scale, *to.Scale > 0, nil
		}
	}
	step.Sites = sites
	s.act(step)
}

func (s *tale) next() string {
	step := s.decide()
	s.carryOut(step)
	return s.tell(step)
}

func (s *tale) tick() string {
	d, err := time.ParseDuration(s.CmdArgs[0].Key)
	if err != nil || d%(15*time.Second) != 0 {
		s.Fatalf(s.t, "no time of rounds of 15 s: %v", s.CmdArgs)
	}
	var told []string
	step := Step{}
	for range d / (15 * time.Second) {
		s.now = s.now.Add(15 * time.Second)
		if s.known {
			s.autoscale()
		} else {
			s.confine()
		}
		step = s.decide()
		s.carryOut(step)
		if step.Action != "" || !s.asTold(step, false) {
			told = append(told, s.tell(step))
		}
	}
	told = slices.DeleteFunc(append(told, s.tell(step)), func(block string) bool { return block == "nothing" })
	if len(told) == 0 {
		return "nothing"
	}
	return strings.Join(told, "\n")
}

// confine is all that members' autoscalers do as long as they know no load.
func (s *tale) confine() {
	for _, w := range s.members {
		if confined := max(w.bounds[0], min(w.bounds[1], w.Current)); w.Current > 0 && w.bounds[1] > 0 && confined != w.Current {
			w.Current, w.Desired = confined, confined
		}
	}
}

// asItIs: the clusters stay as they are, and nobody is told anything.
func (s *tale) keepAsIs(step Step) bool {
	for _, w := range s.members {
		to := step.Sites[w.Name]
		to.Bumped, to.Since, to.SchedulableSince, to.SaturatedFirst = false, time.Time{}, nil, nil // these say nothing new
		if to != (SiteStep{Min: w.Min, Max: w.Max, State: w.State}) {
			return false
		}
	}
	return !step.AllSaturated && step.Unassigned == 0 && !step.Unweighted && step.Memory.UnreachableMax == nil
}

// suppose decides with other facts, and goes back to those that were.
func (s *tale) suppose() string {
	before := *s
	s.members, s.hidden = nil, maps.Clone(s.hidden)
	for _, w := range before.members {
		s.members = append(s.members, new(*w))
	}
	s.setFacts()
	s.specify()
	step := s.decide()
	told := "nothing"
	if step.Action != "" || !s.keepAsIs(step) {
		told = s.tell(step)
	}
	*s = before
	return told
}
