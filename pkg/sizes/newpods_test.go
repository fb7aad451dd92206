// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// asking is a template of one container that is advised so much CPU, and has no rules for it.
func asking(cpu int64) Template {
	c := container()
	c.Name, c.Advice, c.Resources = "app", noAdvice(), Resources{none(), none()}
	c.Advice.Target[CPU], c.Advice.Lower[CPU], c.Advice.Upper[CPU] = cpu, cpu, cpu
	return Template{Containers: []Container{c}, Fixed: Resources{none(), none()}}
}

func TestNewPods(t *testing.T) {
	with := func(cpu, limit int64) []NewContainer {
		return []NewContainer{{"app", Resources{Amounts{cpu, None}, Amounts{limit, None}}}}
	}
	for name, c := range map[string]struct {
		advised  int64
		change   func(*Container, *Room)
		standing []NewContainer
		want     []NewContainer
	}{
		"for the first time":            {100, nil, nil, with(100, None)},
		"as it stands":                  {100, nil, with(100, None), with(100, None)},
		"not quite a twentieth more":    {1049, nil, with(1000, None), with(1000, None)},
		"a twentieth more":              {1050, nil, with(1000, None), with(1050, None)},
		"not quite a twentieth less":    {951, nil, with(1000, None), with(1000, None)},
		"a twentieth less":              {950, nil, with(1000, None), with(950, None)},
		"something of nothing":          {1, nil, with(0, None), with(1, None)},
		"another container":             {1000, nil, []NewContainer{{"old", with(1000, None)[0].Resources}}, with(1000, None)},
		"one container more":            {1000, nil, append(with(1000, None), NewContainer{Name: "old"}), with(1000, None)},
		"no longer sized":               {None, nil, with(1000, None), nil},
		"not sized":                     {None, nil, nil, nil},
		"another resource":              {1000, nil, []NewContainer{{"app", Resources{Amounts{1000, 5}, none()}}}, with(1000, None)},
		"at least what a goal lets use": {100, func(c *Container, _ *Room) { c.GoalFloor[CPU] = 300 }, nil, with(300, None)},
		"no less than that, however little it lacks": {
			100, func(c *Container, _ *Room) { c.GoalFloor[CPU] = 301 }, with(300, None), with(301, None)},
		"no more than is legal, however little it is": {
			900, func(_ *Container, r *Room) { r.Container.Max[CPU] = 999 }, with(930, None), with(930, None)},
		"and what is no longer legal": {
			980, func(_ *Container, r *Room) { r.Container.Max[CPU] = 999 }, with(1000, None), with(980, None)},
		"a limit that follows": {
			100, func(c *Container, _ *Room) { c.Requests[CPU], c.Limits[CPU], c.LimitsFollow[CPU] = 50, 100, true }, nil, with(100, 200)},
		"a limit that is not ours": {
			100, func(c *Container, _ *Room) { c.Requests[CPU], c.Limits[CPU] = 50, 200 }, nil, with(100, None)},
		"a limit that followed, nearby": {
			1010, func(c *Container, _ *Room) { c.Requests[CPU], c.Limits[CPU], c.LimitsFollow[CPU] = 50, 100, true }, with(1000, 2000),
			with(1000, 2000)},
		"a limit of another proportion": {
			1010, func(c *Container, _ *Room) { c.Requests[CPU], c.Limits[CPU], c.LimitsFollow[CPU] = 50, 150, true }, with(1000, 2000),
			with(1010, 3030)},
		"a limit that does not follow any longer": {1000, nil, with(1000, 2000), with(1000, None)},
	} {
		t.Run(name, func(t *testing.T) {
			template, room := asking(c.advised), Unlimited()
			if c.change != nil {
				c.change(&template.Containers[0], &room)
			}
			fleettest.Same(t, "new Pods", c.want, NewPods(template, []Room{room}, c.standing))
		})
	}
}

func TestCapAny(t *testing.T) {
	room := func(cpu, accepted int64) Room {
		r := Unlimited()
		r.Node[CPU], r.Accepted[CPU] = cpu, accepted
		return r
	}
	for name, c := range map[string]struct {
		rooms []Room
		want  int64
	}{
		"none":                  {nil, 100},
		"the larger":            {[]Room{room(50, None), room(80, None)}, 80},
		"in any order":          {[]Room{room(80, None), room(50, None)}, 80},
		"one refused more":      {[]Room{room(90, 60), room(80, None)}, 80},
		"on none there is room": {[]Room{room(0, None)}, None},
	} {
		t.Run(name, func(t *testing.T) {
			if got := CapAny(asking(100), c.rooms)[0].Target[CPU]; got != c.want {
				t.Errorf("target %d, want %d", got, c.want)
			}
		})
	}
	raised := asking(100)
	raised.Containers[0].MinAllowed[CPU], raised.Containers[0].Advice.Target[Memory] = 150, 1000
	high, low := room(None, None), room(None, None)
	high.Node[Memory], low.Node[Memory] = 900, 500
	if got := CapAny(raised, []Room{low, high})[0].Target; got != (Amounts{150, 900}) {
		t.Errorf("target %v, want that of the larger node", got)
	}
}

func TestQuantities(t *testing.T) {
	c := NewContainer{"app", Resources{Amounts{627, 512 << 20}, Amounts{2000, 1<<30 + 1}}}
	requests, limits := c.Quantities()
	want := [2]map[string]string{{"cpu": "627m", "memory": "512Mi"}, {"cpu": "2", "memory": "1073741825"}}
	fleettest.Same(t, "quantities", want, [2]map[string]string{requests, limits})
	if got := NewContainerOf("app", requests, limits); got != c {
		t.Errorf("read again %+v, want %+v", got, c)
	}
	if requests, limits := (NewContainer{"app", Resources{Amounts{None, 0}, none()}}).Quantities(); limits != nil || len(requests) != 1 ||
		requests["memory"] != "0" {
		t.Errorf("%v, %v of nothing but no memory", requests, limits)
	}
	for text, want := range map[string]int64{"0.5": 500, "1": 1000, "": None, "much": None, "-1": None, "1e40": most, "0.1m": 1,
		"99999999999": 99999999999000, "100000000001": most} {
		if got := NewContainerOf("app", map[string]string{"cpu": text}, nil); got.Requests != (Amounts{want, None}) {
			t.Errorf("%q of cpu is %v, want %d", text, got.Requests, want)
		}
	}
}

// Whatever stood there, what new Pods get is legal, and stays until something changes.
func TestNewPodsProperties(t *testing.T) {
	kept, written := 0, 0
	for seed := range fleettest.Rounds(10000, 10) {
		r := rand.New(rand.NewPCG(seed, 3))
		template, room := randomTemplate(r)
		standing := NewPods(template, []Room{room}, nil)
		later, other := template, room
		later.Containers = slices.Clone(template.Containers)
		for n := range later.Containers {
			for k := range later.Containers[n].Advice.Target {
				target := &later.Containers[n].Advice.Target[k]
				*target = max(min(*target, 0), *target+r.Int64N(9)-4)
			}
		}
		if r.IntN(2) == 0 {
			for _, bound := range []*int64{&other.Container.Max[CPU], &other.Container.MaxRatio[CPU], &other.Quota.Requests[Memory]} {
				*bound = max(min(*bound, 0), *bound-r.Int64N(10))
			}
			other.Container.Min[CPU] = max(other.Container.Min[CPU], r.Int64N(100))
		}
		got := NewPods(later, []Room{other}, standing)
		if slices.Equal(got, standing) {
			kept++
		} else {
			written++
		}
		for _, fault := range illegal(later, other, later.as(got)) {
			t.Errorf("seed %d: %s: %+v becomes %+v", seed, fault, standing, got)
		}
		if again := NewPods(later, []Room{other}, got); !slices.Equal(again, got) {
			t.Errorf("seed %d: %+v becomes %+v", seed, got, again)
		}
	}
	t.Logf("%d kept, %d written", kept, written)
	if kept == 0 || written == 0 {
		t.Error("one of them was not tried")
	}
}

// as are the sizes of a Pod that was created so.
func (t *Template) as(written []NewContainer) []Size {
	all := make([]Size, len(t.Containers))
	for n, c := range t.Containers {
		all[n] = Size{Name: c.Name, Advice: noAdvice(), Uncapped: none(), Limits: none()}
		for _, w := range written {
			if w.Name == c.Name {
				all[n].Advice, all[n].Uncapped, all[n].Limits = Advice{w.Requests, w.Requests, w.Requests}, w.Requests, w.Limits
			}
		}
		for r := range resources { // of more than is allowed, the law is the reason
			all[n].CappedBy = append(all[n].CappedBy, Cap{r, ReasonGoalLimit})
		}
	}
	return all
}
