// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"maps"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// fault is what is done wrong; the zero value is nothing.
type fault struct {
	view        func(*ClusterPods) // what the plan sees in place of what there is
	noGoalLimit bool               // limits do not know of goals
	keeps       bool               // what stands for new Pods stays, though it is no longer legal
	forgets     bool               // what was done is not remembered
	positions   bool               // only the first Pods count
}

// eachPod has the plan see all Pods wrongly.
func eachPod(change func(*Running)) fault {
	return fault{view: func(c *ClusterPods) {
		for n := range c.Pods {
			change(&c.Pods[n])
		}
	}}
}

func eachContainer(change func(*RunningContainer)) fault {
	return eachPod(func(p *Running) {
		for n := range p.Containers {
			change(&p.Containers[n])
		}
	})
}

// The properties, by the name that docs/design/own-sizes.md has for each.
const (
	budgets     = "P6 budgets"
	patience    = "P7 patience"
	goalLimits  = "P8 limits of goals"
	legal       = "P9 legal"
	created     = "P10 creation"
	knowledge   = "P11 knowledge"
	anyOrder    = "P12 any order"
	conserved   = "P13 conservation"
	restart     = "P14 restart"
	effective   = "effect"
	oneByOne    = "one by one"
	once        = "no retries"
	untouchable = "untouchable"
	urgency     = "urgency"
	rest        = "rest"
)

const steps, calm = 60, 120

// Whatever happens, what is done to Pods holds to these properties.
func TestProperties(t *testing.T) {
	moved, compared := map[Way]int{}, 0
	for seed := range fleettest.Rounds(3000, 30) {
		w := newWorld(seed, fault{})
		w.live()
		for property, fault := range w.faults {
			t.Errorf("seed %d: %s: %s", seed, property, fault)
		}
		for way, n := range w.moved {
			moved[way] += n
		}
		compared += w.compared
		if t.Failed() && seed > 20 {
			break
		}
	}
	t.Logf("moves: %v; %d plans after a restart", moved, compared)
	if len(moved) != 3 || compared == 0 {
		t.Error("something was not tried")
	}
}

// Each property is seen not to hold when something is done wrong.
func TestPropertiesFindFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault
		found string
	}{
		"any number may be unavailable": {fault{view: func(c *ClusterPods) { c.MaxUnavailable = 100 }}, budgets},
		"any number may be Ready":       {fault{view: func(c *ClusterPods) { c.MinReplicas = 0 }}, budgets},
		"evictions without limit":       {fault{view: func(c *ClusterPods) { c.Evictions = 100 }}, budgets},
		"resizes without limit":         {fault{view: func(c *ClusterPods) { c.Resizes = 100 }}, budgets},
		"restarts cost nothing":         {eachContainer(func(c *RunningContainer) { c.Restarts = [2]bool{} }), budgets},
		"missing Pods are there":        {fault{view: func(c *ClusterPods) { c.Replicas, c.Gone = 0, 0 }}, budgets},
		"restarts are over at once": {eachPod(func(p *Running) {
			for n := range p.Containers {
				p.Containers[n].Actual = p.Containers[n].Resources
			}
		}), budgets},
		"replicas never move":         {fault{view: func(c *ClusterPods) { c.Scaling = false }}, patience},
		"limits know of no goals":     {fault{noGoalLimit: true}, goalLimits},
		"all Pods are of one class":   {eachPod(func(p *Running) { p.Class = Burstable }), legal},
		"all nodes can resize":        {eachPod(func(p *Running) { p.Resizable = true }), legal},
		"no Pod is static":            {eachPod(func(p *Running) { p.Static = false }), legal},
		"no peaks":                    {eachContainer(func(c *RunningContainer) { c.Peak = 1 }), legal},
		"new Pods as they were":       {fault{keeps: true}, created},
		"all is seen":                 {fault{view: func(c *ClusterPods) { c.Silent = false }}, knowledge},
		"the first Pods count":        {fault{positions: true}, anyOrder},
		"more is done than is told":   {eachContainer(func(c *RunningContainer) { c.Requests[CPU] += 7 }), conserved},
		"settled and at rest at once": {fault{view: func(c *ClusterPods) { c.Settled, c.Scaling = true, false }}, restart},
		"new Pods always get it":      {fault{view: func(c *ClusterPods) { c.Admits = true }}, effective},
		"all take turns at once":      {fault{view: func(c *ClusterPods) { c.Gone, c.Evicting = 0, false }}, oneByOne},
		"evictions are forgotten":     {fault{forgets: true}, oneByOne},
		"nothing is infeasible":       {eachPod(func(p *Running) { p.Infeasible = none() }), once},
		"no eviction is refused":      {eachPod(func(p *Running) { p.NotBefore = noon }), once},
		"all have nodes":              {eachPod(func(p *Running) { p.Scheduled = true }), untouchable},
		"none is of an old template":  {eachPod(func(p *Running) { p.Outdated = false }), untouchable},
		"nothing is killed":           {eachContainer(func(c *RunningContainer) { c.OOM, c.QuickOOM = false, false }), urgency},
		"nothing is pressed":          {eachContainer(func(c *RunningContainer) { c.Pressed = [2]bool{} }), urgency},
		"what there is wavers":        {eachContainer(func(c *RunningContainer) { c.Requests[CPU] /= 2 }), rest},
	} {
		t.Run(name, func(t *testing.T) {
			found := map[string]int{}
			for seed := range uint64(1000) {
				w := newWorld(seed, c.fault)
				w.live()
				for property := range w.faults {
					found[property]++
				}
				if found[c.found] > 0 {
					return
				}
			}
			t.Errorf("%s is not found, only %v", c.found, slices.Sorted(maps.Keys(found)))
		})
	}
}

// live is an hour of anything; and then, in some worlds, two of calm, in which all Pods are so old that any difference counts.
func (w *world) live() {
	for range steps {
		w.step(false)
	}
	if !w.one(4) {
		return
	}
	for _, s := range w.sites {
		for _, p := range s.pods {
			p.Started = w.now.Add(-lifetime)
		}
	}
	last := 0
	for n := range calm {
		before := w.moved[WayResize] + w.moved[WayEvict] + w.moved[WayWithdraw]
		if w.step(true); w.moved[WayResize]+w.moved[WayEvict]+w.moved[WayWithdraw] > before {
			last = n
		}
	}
	w.expect(last < calm-30, rest, "there are moves after %d minutes in which nothing happened", last)
}
