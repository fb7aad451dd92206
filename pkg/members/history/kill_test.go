// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// supposed is a kill of app of which only the signal is told, and when that run of it began and ended, after noon.
func supposed(began, ended time.Duration) pods.OOMKill {
	return pods.OOMKill{Container: "app", Restarts: 1, StartedAt: noon.Add(began), FinishedAt: noon.Add(ended), Supposed: true}
}

func TestRanOut(t *testing.T) {
	const limit = 1000
	used := func(bytes int64, after time.Duration) memoryUse { return memoryUse{bytes, noon.Add(after).Unix()} }
	run := supposed(-time.Hour, time.Minute)
	tests := map[string]struct {
		used  [2]memoryUse // the last one first
		kill  pods.OOMKill
		limit int64
		want  bool
	}{
		"within 5 % of its limit":           {[2]memoryUse{used(950, 0)}, run, limit, true},
		"further from it":                   {[2]memoryUse{used(949, 0)}, run, limit, false},
		"beyond it":                         {[2]memoryUse{used(2000, 0)}, run, limit, true},
		"without a limit":                   {[2]memoryUse{used(950, 0)}, run, pods.None, false},
		"with a limit of nothing":           {[2]memoryUse{used(950, 0)}, run, 0, false},
		"never measured":                    {[2]memoryUse{}, run, limit, false},
		"measured as it ended":              {[2]memoryUse{used(950, time.Minute)}, run, limit, true},
		"measured afterwards":               {[2]memoryUse{used(950, time.Minute+time.Second)}, run, limit, false},
		"measured as it began":              {[2]memoryUse{used(950, -time.Hour)}, run, limit, true},
		"measured before":                   {[2]memoryUse{used(950, -time.Hour-time.Second)}, run, limit, false},
		"the next run was measured already": {[2]memoryUse{used(10, 2*time.Minute), used(950, 0)}, run, limit, true},
		"the last sample counts":            {[2]memoryUse{used(500, 30*time.Second), used(950, 0)}, run, limit, false},
		"nobody says when it ended": {[2]memoryUse{used(950, 0)}, pods.OOMKill{StartedAt: noon.Add(-time.Hour), Supposed: true},
			limit, false},
		"nobody says when it began": {[2]memoryUse{used(950, 0)}, pods.OOMKill{FinishedAt: noon.Add(time.Minute), Supposed: true},
			limit, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			i := instance{used: tc.used}
			if got := i.ranOut(tc.kill, tc.limit); got != tc.want {
				t.Errorf("ran out = %v, want %v", got, tc.want)
			}
		})
	}
}

// tells adds a kill to the first Pod of a cluster, and a limit to all.
func (p Pass) tells(cluster string, kill pods.OOMKill, limit int64) Pass {
	for n := range p.Pods[cluster].Pods {
		p.Pods[cluster].Pods[n].Containers[0].Limits.Memory = limit
	}
	p.Pods[cluster].Pods[0].OOMKills = []pods.OOMKill{kill}
	return p
}

func TestSupposedKills(t *testing.T) {
	const nearly, half = gi * 97 / 100, gi / 2
	kill := supposed(-time.Hour, 20*time.Second)
	sure := kill
	sure.Supposed = false
	kills := []Kill{{"web-1", "app"}}
	tests := map[string]struct {
		passes []Pass // samples are taken 5 s before
		want   []Kill // of the last
	}{
		"it had used nearly all": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi)}, kills,
		},
		"it is counted once": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi),
				at(2*time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi)}, nil,
		},
		"it had used less": {
			[]Pass{at(0).saw("east", of(1, 1, half)), at(time.Minute).saw("east", of(1, 1, nearly)).tells("east", kill, gi)}, nil,
		},
		"it has no limit": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, half)).tells("east", kill, pods.None)}, nil,
		},
		"it was told of later than two samples": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, half)), at(2*time.Minute).saw("east", of(1, 1, half)),
				at(3*time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi)}, nil,
		},
		"its memory was not measured since": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, sizes.None)),
				at(2*time.Minute).saw("east", of(1, 1, 0)).tells("east", kill, gi)}, kills,
		},
		"one that is not counted may turn out to be one": {
			[]Pass{at(0).saw("east", of(1, 1, half)), at(time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi),
				at(2*time.Minute).saw("east", of(1, 1, half)).tells("east", sure, gi)}, kills,
		},
		"one that is counted is not counted again for sure": {
			[]Pass{at(0).saw("east", of(1, 1, nearly)), at(time.Minute).saw("east", of(1, 1, half)).tells("east", kill, gi),
				at(2*time.Minute).saw("east", of(1, 1, half)).tells("east", sure, gi)}, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := started(t, newHub(t), noon)
			var got []Fed
			for _, p := range tc.passes {
				got = feed(t, s, p)
			}
			fleettest.Same(t, "kills", tc.want, got[0].Kills)
		})
	}
}

// Nothing is kept of a Pod because a member supposes something of it.
func TestSupposedKillsOfPodsThatWereNeverMeasured(t *testing.T) {
	s := started(t, newHub(t), noon)
	p := of(1, 1, gi)
	p.unmeasured = true
	fed := feed(t, s, at(0).saw("east", p).tells("east", supposed(-time.Hour, 0), gi))
	fleettest.Same(t, "fed", []Fed{{Cluster: "east"}}, fed)
	fleettest.Same(t, "known", map[string]string{"east": ""}, s.instances(t))
}

// What a container had counts, not what it was asked to have by then.
func TestKillsBeforeAResizeIsDone(t *testing.T) {
	resources := func(memory int64) []pods.Container {
		return []pods.Container{{Name: "app", Requests: pods.Resources{MilliCPU: 100, Memory: memory}}}
	}
	for name, tc := range map[string]struct {
		actual []pods.Container
		want   int64
	}{
		"it is not told":   {nil, 8 * gi},
		"it has less":      {resources(2 * gi), 2 * gi},
		"it has more":      {resources(16 * gi), 8 * gi},
		"not of memory":    {resources(pods.None), 8 * gi},
		"of another alone": {[]pods.Container{{Name: "log"}}, 8 * gi},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t, newHub(t), noon)
			feed(t, s, at(0).saw("east", of(1, 100, mi)))
			p := at(time.Minute).saw("east", pod{name: "web-1", cpu: 100, memory: mi, killed: noon})
			p.Pods["east"].Pods[0].Containers, p.Pods["east"].Pods[0].Actual = resources(8*gi), tc.actual
			feed(t, s, p)
			got := advise(t, s, sizes.Advice{}).Fleet.Target[sizes.Memory]
			if least := tc.want * 12 / 10 * 115 / 100; got < least || got > least*106/100 {
				t.Errorf("%d is advised, want a fifth more than %d, and the margin", got, tc.want)
			}
		})
	}
}
