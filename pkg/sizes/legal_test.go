// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// running is a Pod of one container that has what is advised.
func running(name string) Running {
	has := Resources{Amounts{100, 1000}, none()}
	return Running{
		Name: name, Ready: true, Scheduled: true, Resizable: true, Node: none(), Fixed: none(), Infeasible: none(),
		Containers: []RunningContainer{{
			Name: "app", Resources: has, Actual: has,
			Size: Size{Advice: Advice{has.Requests, has.Requests, has.Requests}, Limits: none()},
		}},
	}
}

// wanting is one whose container should request so much.
func wanting(name string, cpu, memory int64) Running {
	p := running(name)
	p.want(Amounts{cpu, memory})
	return p
}

func (p *Running) want(target Amounts) { p.Containers[0].Size.Advice = Advice{target, target, target} }

func TestInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Running, *RunningContainer)
		want    Resources
		refused Refusal
	}{
		"requests change": {func(*Running, *RunningContainer) {}, Resources{Amounts{200, 2000}, none()}, ""},
		"one stays":       {func(_ *Running, c *RunningContainer) { c.Size.Target[CPU] = None }, Resources{Amounts{100, 2000}, none()}, ""},
		"a limit that stays": {func(_ *Running, c *RunningContainer) { c.Limits = Amounts{150, 3000} },
			Resources{Amounts{150, 2000}, Amounts{150, 3000}}, ""},
		"a limit of nothing": {func(_ *Running, c *RunningContainer) { c.Limits = Amounts{0, None} },
			Resources{Amounts{0, 2000}, Amounts{0, None}}, ""},
		"a limit follows": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits = Amounts{150, 3000}, Amounts{300, 6000}
		},
			Resources{Amounts{200, 2000}, Amounts{300, 6000}}, ""},
		"a limit is added": {func(_ *Running, c *RunningContainer) { c.Size.Limits = Amounts{300, None} },
			Resources{Amounts{200, 2000}, Amounts{300, None}}, ""},
		"a limit of memory stays above the peak": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits, c.Size.Target[Memory], c.Peak = Amounts{None, 6000}, Amounts{None, 3000}, 1500, 4000
		}, Resources{Amounts{200, 1500}, Amounts{None, 4800}}, ""},
		"and is not raised for that": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits, c.Size.Target[Memory], c.Peak = Amounts{None, 4500}, Amounts{None, 3000}, 1500, 4000
		}, Resources{Amounts{200, 1500}, Amounts{None, 4500}}, ""},
		"far above the peak it shrinks": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits, c.Peak = Amounts{None, 6000}, Amounts{None, 3000}, 1000
		}, Resources{Amounts{200, 2000}, Amounts{None, 3000}}, ""},
		"a limit of CPU shrinks": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits, c.Peak = Amounts{900, None}, Amounts{300, None}, 4000
		}, Resources{Amounts{200, 2000}, Amounts{300, None}}, ""},
		"guaranteed: both change": {func(p *Running, c *RunningContainer) {
			p.Class, c.Limits, c.Size.Limits = Guaranteed, c.Requests, c.Size.Target
		}, Resources{Amounts{200, 2000}, Amounts{200, 2000}}, ""},
		"guaranteed: what keeps a limit keeps the request": {func(p *Running, c *RunningContainer) {
			p.Class, c.Limits = Guaranteed, c.Requests
			c.Size.Target[Memory], c.Size.Limits, c.Peak = 500, Amounts{200, 500}, 750
		}, Resources{Amounts{200, 900}, Amounts{200, 900}}, ""},
		"nothing changes: nothing is refused": {func(p *Running, c *RunningContainer) { p.Static, c.Size.Target = true, none() },
			Resources{Amounts{100, 1000}, none()}, ""},
		"a static Pod":       {func(p *Running, _ *RunningContainer) { p.Static = true }, Resources{}, RefusedStatic},
		"a node that cannot": {func(p *Running, _ *RunningContainer) { p.Resizable = false }, Resources{}, RefusedNode},
		"no node yet": {
			func(p *Running, _ *RunningContainer) { p.Resizable, p.Scheduled = false, false }, Resources{Amounts{200, 2000}, none()}, "",
		},
		"best effort has no requests": {
			func(p *Running, c *RunningContainer) { p.Class, c.Requests = BestEffort, none() }, Resources{}, RefusedClass,
		},
		"burstable would be guaranteed": {func(_ *Running, c *RunningContainer) { c.Limits = Amounts{200, 2000} }, Resources{}, RefusedClass},
		"guaranteed would be burstable": {func(p *Running, _ *RunningContainer) { p.Class = Guaranteed }, Resources{}, RefusedClass},
		"one limit of two does not do it": {
			func(_ *Running, c *RunningContainer) { c.Limits = Amounts{200, None} }, Resources{Amounts{200, 2000}, Amounts{200, None}}, "",
		},
		"as large as the node": {
			func(p *Running, _ *RunningContainer) { p.Node, p.Fixed = Amounts{230, 2000}, Amounts{30, None} },
			Resources{Amounts{200, 2000}, none()}, "",
		},
		"larger than the node": {
			func(p *Running, _ *RunningContainer) { p.Node, p.Fixed = Amounts{230, 2000}, Amounts{31, None} }, Resources{}, RefusedNoSpace,
		},
		"a node without what is not asked for": {func(p *Running, c *RunningContainer) {
			p.Node, c.Requests[Memory], c.Size.Target[Memory] = Amounts{200, 0}, None, None
		}, Resources{Amounts{200, None}, none()}, ""},
		"more memory than the node": {func(p *Running, _ *RunningContainer) { p.Node = Amounts{None, 1999} }, Resources{}, RefusedNoSpace},
		"no node that it is larger than": {
			func(p *Running, _ *RunningContainer) { p.Node, p.Scheduled = Amounts{1, 1}, false }, Resources{Amounts{200, 2000}, none()}, "",
		},
		"as much was infeasible": {
			func(p *Running, _ *RunningContainer) { p.Infeasible = Amounts{200, 2000} }, Resources{}, RefusedBefore,
		},
		"more was infeasible": {
			func(p *Running, _ *RunningContainer) { p.Infeasible = Amounts{200, 2001} }, Resources{Amounts{200, 2000}, none()}, "",
		},
		"to shrink failed, so it may grow": {
			func(p *Running, _ *RunningContainer) { p.Infeasible = Amounts{100, 1000} }, Resources{Amounts{200, 2000}, none()}, "",
		},
		"to shrink failed, and it shrinks no further": {func(p *Running, c *RunningContainer) {
			p.Infeasible, c.Size.Target = Amounts{80, 1000}, Amounts{90, 1000}
		}, Resources{}, RefusedBefore},
		"to shrink failed, and it shrinks further": {func(p *Running, c *RunningContainer) {
			p.Infeasible, c.Size.Target = Amounts{80, 1000}, Amounts{79, 1000}
		}, Resources{Amounts{79, 1000}, none()}, ""},
		"a limit of memory is added above the peak": {func(_ *Running, c *RunningContainer) {
			c.Size.Limits, c.Peak = Amounts{None, 3000}, 4000
		}, Resources{Amounts{200, 2000}, Amounts{None, 4800}}, ""},
		"none is added if that is not known": {func(_ *Running, c *RunningContainer) { c.Size.Limits = Amounts{None, 3000} },
			Resources{Amounts{200, 2000}, none()}, ""},
		"nor does one shrink": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits, c.Peak = Amounts{None, 6000}, Amounts{None, 3000}, None
		}, Resources{Amounts{200, 2000}, Amounts{None, 6000}}, ""},
		"but it grows": {func(_ *Running, c *RunningContainer) {
			c.Limits, c.Size.Limits = Amounts{None, 2500}, Amounts{None, 3000}
		},
			Resources{Amounts{200, 2000}, Amounts{None, 3000}}, ""},
		"pressed: what a new one has": {func(_ *Running, c *RunningContainer) {
			c.New, c.Pressed = Resources{Amounts{300, 2500}, Amounts{400, None}}, [2]bool{true, false}
		}, Resources{Amounts{300, 2000}, Amounts{400, None}}, ""},
		"pressed, and wants more than that": {func(_ *Running, c *RunningContainer) {
			c.New, c.Pressed = Resources{Amounts{150, 2500}, none()}, [2]bool{true, false}
		}, Resources{Amounts{200, 2000}, none()}, ""},
		"pressed, and not sized": {func(_ *Running, c *RunningContainer) {
			c.New, c.Pressed, c.Size.Target[CPU] = Resources{Amounts{150, 2500}, none()}, [2]bool{true, false}, None
		}, Resources{Amounts{100, 2000}, none()}, ""},
		"more CPU was infeasible": {
			func(p *Running, _ *RunningContainer) { p.Infeasible = Amounts{201, 2000} }, Resources{Amounts{200, 2000}, none()}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := wanting("a", 200, 2000)
			c.change(&p, &p.Containers[0])
			got, refused := p.InPlace()
			if refused != c.refused {
				t.Fatalf("refused: %q, want %q", refused, c.refused)
			}
			if c.refused != "" {
				return
			}
			fleettest.Same(t, "resize", []Resources{c.want}, got.Containers)
		})
	}
}

func TestResizeTellsWhatItDoes(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, memory    int64
		restarts       [2]bool
		want           [3]bool // grows, shrinks, restarts
		limit, toLimit int64   // of CPU
	}{
		"nothing":                       {100, 1000, [2]bool{true, true}, [3]bool{}, None, None},
		"more":                          {101, 1000, [2]bool{}, [3]bool{true, false, false}, None, None},
		"less":                          {100, 999, [2]bool{}, [3]bool{false, true, false}, None, None},
		"both":                          {101, 999, [2]bool{}, [3]bool{true, true, false}, None, None},
		"restarts":                      {101, 1000, [2]bool{true, false}, [3]bool{true, false, true}, None, None},
		"what restarts does not change": {101, 1000, [2]bool{false, true}, [3]bool{true, false, false}, None, None},
		"a limit grows":                 {100, 1000, [2]bool{true, false}, [3]bool{true, false, true}, 200, 300},
		"a limit is added":              {100, 1000, [2]bool{}, [3]bool{true, true, false}, None, 300},
		"a limit shrinks":               {100, 1000, [2]bool{}, [3]bool{false, true, false}, 300, 200},
	} {
		t.Run(name, func(t *testing.T) {
			p := wanting("a", c.cpu, c.memory)
			k := &p.Containers[0]
			k.Restarts, k.Limits[CPU], k.Size.Limits[CPU] = c.restarts, c.limit, c.toLimit
			r, _ := p.InPlace()
			if got := [3]bool{r.Grows, r.Shrinks, r.Restarts}; got != c.want || r.Changes() != (c.want[0] || c.want[1]) {
				t.Errorf("grows, shrinks, restarts: %t; want %t", got, c.want)
			}
		})
	}
}

// What is done of a resize leaves the rest as it is, and is as legal.
func TestPartOfAResize(t *testing.T) {
	shrinking := func(c *RunningContainer) {
		c.Size.Target, c.Limits, c.Size.Limits = Amounts{50, 2000}, Amounts{300, None}, Amounts{100, 4000}
	}
	for name, c := range map[string]struct {
		do     part
		change func(*RunningContainer)
		want   Resources
	}{
		"all of it":    {part{}, shrinking, Resources{Amounts{50, 2000}, Amounts{100, 4000}}},
		"nothing less": {part{noLess: true}, shrinking, Resources{Amounts{100, 2000}, Amounts{300, None}}},
		"nothing that restarts": {part{noRestart: true}, func(c *RunningContainer) { c.Restarts[Memory] = true },
			Resources{Amounts{200, 1000}, none()}},
		"what is urgent: nothing is":    {part{urgent: true}, func(*RunningContainer) {}, Resources{Amounts{100, 1000}, none()}},
		"what is urgent: it was killed": {part{urgent: true}, func(c *RunningContainer) { c.OOM = true }, Resources{Amounts{100, 2000}, none()}},
		"what is urgent: it is pressed": {part{urgent: true}, func(c *RunningContainer) {
			c.Pressed[CPU], c.New.Requests = true, Amounts{300, 3000}
		}, Resources{Amounts{300, 1000}, none()}},
		"what is urgent: it has that": {part{urgent: true}, func(c *RunningContainer) {
			c.Pressed[CPU], c.Requests[CPU], c.Size.Limits[CPU] = true, 200, 400
		}, Resources{Amounts{200, 1000}, none()}},
	} {
		t.Run(name, func(t *testing.T) {
			p := wanting("a", 200, 2000)
			p.Containers[0].Peak = 1
			c.change(&p.Containers[0])
			got := p.toward(c.do)
			fleettest.Same(t, "resize", []Resources{c.want}, got.Containers)
		})
	}
}
