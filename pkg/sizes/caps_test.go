// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// container is one that requests 100 and 1000, and nothing bounds it.
func container() Container {
	return Container{
		Name: "app", Resources: Resources{Amounts{100, 1000}, none()}, Advice: Advice{Amounts{200, 2000}, Amounts{150, 1500}, Amounts{400, 4000}},
		MinAllowed: none(), MaxAllowed: none(), GoalFloor: none(), GoalLimit: none(),
	}
}

// follows has the limit of cpu follow its request.
var follows = [2]bool{CPU: true}

// whole is all that a container is capped by.
type whole struct {
	*Container
	t *Template
	r *Room
}

func TestCapContainer(t *testing.T) {
	cpu := func(amount int64) Amounts { return Amounts{amount, None} }
	capped := func(reasons ...Reason) (caps []Cap) {
		for _, why := range reasons {
			caps = append(caps, Cap{CPU, why})
		}
		return caps
	}
	for name, c := range map[string]struct {
		change func(*whole)
		target int64
		limit  int64 // 0: none
		reason []Reason
	}{
		"nothing bounds it":      {func(*whole) {}, 200, 0, nil},
		"less than a goal needs": {func(x *whole) { x.GoalFloor = cpu(300) }, 300, 0, []Reason{ReasonGoalFloor}},
		"more than a goal needs": {func(x *whole) { x.GoalFloor = cpu(200) }, 200, 0, nil},
		"less than is allowed":   {func(x *whole) { x.MinAllowed = cpu(201) }, 201, 0, []Reason{ReasonMinAllowed}},
		"more than is allowed":   {func(x *whole) { x.MaxAllowed = cpu(199) }, 199, 0, []Reason{ReasonMaxAllowed}},
		"what is allowed contradicts itself": {func(x *whole) { x.MinAllowed, x.MaxAllowed = cpu(500), cpu(300) },
			300, 0, []Reason{ReasonMinAllowed, ReasonMaxAllowed}},
		"the maximum is less than a goal needs": {func(x *whole) { x.GoalFloor, x.MaxAllowed = cpu(500), cpu(300) },
			300, 0, []Reason{ReasonGoalFloor, ReasonMaxAllowed}},
		"a limit that stays":  {func(x *whole) { x.Limits = cpu(180) }, 180, 0, []Reason{ReasonLimit}},
		"a limit that is far": {func(x *whole) { x.Limits = cpu(200) }, 200, 0, nil},
		"a limit counts for more than the minimum": {func(x *whole) { x.Limits, x.MinAllowed = cpu(180), cpu(300) },
			180, 0, []Reason{ReasonMinAllowed, ReasonLimit}},
		"a limit that follows": {func(x *whole) { x.Limits, x.LimitsFollow = cpu(150), follows }, 200, 300, nil},
		"a limit that follows is rounded down": {func(x *whole) {
			x.Requests, x.Limits, x.LimitsFollow = cpu(3), cpu(7), follows
		}, 200, 466, nil},
		"no limit follows": {func(x *whole) { x.LimitsFollow = follows }, 200, 0, nil},
		"a limit without request": {func(x *whole) {
			x.Requests, x.Limits, x.LimitsFollow = none(), cpu(150), follows
		}, 200, 200, nil},
		"a limit below a request": {func(x *whole) { x.Limits, x.LimitsFollow = cpu(50), follows }, 200, 200, nil},
		"limits equal requests":   {func(x *whole) { x.Limits, x.t.Guaranteed = cpu(100), true }, 200, 200, nil},
		"the namespace's minimum": {func(x *whole) { x.r.Container.Min = cpu(250) }, 250, 0, []Reason{ReasonLimitRangeMin}},
		"the namespace's maximum": {func(x *whole) { x.r.Container.Max = cpu(150) }, 150, 0, []Reason{ReasonLimitRangeMax}},
		"the maximum of its limit": {func(x *whole) {
			x.Limits, x.LimitsFollow, x.r.Container.Max = cpu(300), follows, cpu(500)
		}, 166, 498, []Reason{ReasonLimitRangeMax}},
		"the namespace counts for more than users": {func(x *whole) { x.MaxAllowed, x.r.Container.Min = cpu(150), cpu(250) },
			250, 0, []Reason{ReasonMaxAllowed, ReasonLimitRangeMin}},
		"too small for its limit": {func(x *whole) { x.Limits, x.r.Container.MaxRatio = cpu(501), cpu(2000) },
			251, 0, []Reason{ReasonLimitRequestRatio}},
		"a ratio without a limit": {func(x *whole) { x.r.Container.MaxRatio = cpu(2000) }, 200, 0, nil},
		"a ratio, and limit follows": {func(x *whole) {
			x.Limits, x.LimitsFollow, x.r.Container.MaxRatio = cpu(200), follows, cpu(2000)
		}, 200, 400, nil},
		"a minimum above the maximum": {func(x *whole) { x.r.Container.Min, x.r.Container.Max = cpu(300), cpu(250) },
			None, 0, []Reason{ReasonLimitRangeMin, ReasonLimitRangeMax, ReasonNothingLegal}},
		"a limit below the minimum": {func(x *whole) { x.Limits, x.r.Container.Min = cpu(180), cpu(190) },
			None, 0, []Reason{ReasonLimit, ReasonNothingLegal}},
		"a limit that follows, and may not be": {func(x *whole) { x.Limits, x.LimitsFollow, x.r.Container.Max = cpu(300), follows, cpu(0) },
			None, 0, []Reason{ReasonLimitRangeMax, ReasonNothingLegal}},
		"a limit of nothing": {func(x *whole) { x.Limits = cpu(0) }, None, 0, []Reason{ReasonLimit, ReasonNothingLegal}},
		"a limit that hides what a goal measures": {func(x *whole) { x.Limits, x.GoalLimit = cpu(240), cpu(241) },
			None, 0, []Reason{ReasonGoalHiddenByLimit}},
		"a limit of nothing that hides it": {func(x *whole) { x.Limits, x.GoalLimit = cpu(0), cpu(1) },
			None, 0, []Reason{ReasonGoalHiddenByLimit}},
		"too small for the least limit": {
			func(x *whole) { x.Limits, x.Advice.Target, x.r.Container.MaxRatio = cpu(1), cpu(0), cpu(500) },
			None, 0, []Reason{ReasonLimitRequestRatio, ReasonLimit, ReasonNothingLegal}},
		"a limit that hides nothing": {func(x *whole) { x.Limits, x.GoalLimit = cpu(240), cpu(240) }, 200, 0, nil},
		"no limit hides nothing":     {func(x *whole) { x.GoalLimit = cpu(240) }, 200, 0, nil},
		"a limit that follows hides nothing": {func(x *whole) {
			x.Limits, x.t.Guaranteed, x.GoalLimit = cpu(100), true, cpu(240)
		},
			240, 240, []Reason{ReasonGoalLimit}},
		"a limit that may not follow so far": {func(x *whole) {
			x.Limits, x.t.Guaranteed, x.GoalLimit, x.r.Container.Max = cpu(100), true, cpu(240), cpu(230)
		}, None, 0, []Reason{ReasonGoalLimit, ReasonLimitRangeMax, ReasonNothingLegal}},
		"nothing is needed": {func(x *whole) { x.Advice.Target, x.Advice.Lower = cpu(0), cpu(0) }, 1, 0, nil},
		"the quota's part": {func(x *whole) { x.t.Fixed.Requests, x.r.Quota.Requests = cpu(30), cpu(150) },
			120, 0, []Reason{ReasonQuota}},
		"the quota's part of limits": {func(x *whole) {
			x.Limits, x.LimitsFollow, x.t.Fixed.Limits, x.r.Quota.Limits = cpu(100), follows, cpu(30), cpu(150)
		}, 118, 118, []Reason{ReasonQuota}},
		"a quota for limits that stay": {func(x *whole) { x.Limits, x.r.Quota.Limits = cpu(300), cpu(150) }, 200, 0, nil},
		"the largest node":             {func(x *whole) { x.r.Node, x.r.Headroom = cpu(200), 10 }, 180, 0, []Reason{ReasonLargestNode}},
		"what such nodes accept": {func(x *whole) { x.r.Node, x.r.Headroom, x.r.Accepted = cpu(200), 10, cpu(150) }, 150, 0,
			[]Reason{ReasonLargestNode}},
		"no node": {func(x *whole) { x.r.Node, x.r.Headroom = cpu(200), 110 },
			None, 0, []Reason{ReasonLargestNode, ReasonNothingLegal}},
		"a node without any of it": {func(x *whole) { x.r.Node = cpu(0) }, None, 0, []Reason{ReasonLargestNode, ReasonNothingLegal}},
		"quota and node": {func(x *whole) { x.r.Quota.Requests, x.r.Node = cpu(150), cpu(120) },
			120, 0, []Reason{ReasonQuota, ReasonLargestNode}},
		"a Pod's maximum":              {func(x *whole) { x.r.Pod.Max = cpu(150) }, 150, 0, []Reason{ReasonLimitRangeMax}},
		"a Pod's minimum":              {func(x *whole) { x.r.Pod.Min = cpu(250) }, 250, 0, []Reason{ReasonLimitRangeMin}},
		"a Pod's minimum, by one more": {func(x *whole) { x.r.Pod.Min = cpu(201) }, 201, 0, []Reason{ReasonLimitRangeMin}},
		"a Pod's minimum, more than users allow": {func(x *whole) { x.MaxAllowed, x.r.Pod.Min = cpu(240), cpu(250) },
			None, 0, []Reason{ReasonLimitRangeMin, ReasonNothingLegal}},
		"a Pod's ratio": {func(x *whole) {
			x.Limits, x.t.Fixed.Limits, x.t.Fixed.Requests, x.r.Pod.MaxRatio = cpu(500), cpu(201), cpu(100), cpu(2000)
		}, 251, 0, []Reason{ReasonLimitRequestRatio}},
		"a quota below what users allow": {func(x *whole) { x.MinAllowed, x.r.Quota.Requests = cpu(300), cpu(150) },
			150, 0, []Reason{ReasonMinAllowed, ReasonQuota}},
		"a quota below what is legal": {func(x *whole) { x.r.Container.Min, x.r.Quota.Requests = cpu(160), cpu(150) },
			None, 0, []Reason{ReasonQuota, ReasonNothingLegal}},
		"a quota that others have used": {func(x *whole) { x.t.Fixed.Requests, x.r.Quota.Requests = cpu(160), cpu(150) },
			None, 0, []Reason{ReasonQuota, ReasonNothingLegal}},
	} {
		t.Run(name, func(t *testing.T) {
			k, pod, room := container(), Template{Fixed: Resources{none(), none()}}, Unlimited()
			c.change(&whole{&k, &pod, &room})
			pod.Containers = []Container{k}
			got := CapAll(pod, room)[0]
			if c.limit == 0 {
				c.limit = None
			}
			if got.Target[CPU] != c.target || got.Limits[CPU] != c.limit {
				t.Errorf("target %d, limit %d; want %d, %d", got.Target[CPU], got.Limits[CPU], c.target, c.limit)
			}
			got.CappedBy = slices.DeleteFunc(got.CappedBy, func(c Cap) bool { return c.Resource == Memory })
			fleettest.Same(t, "capped by", capped(c.reason...), got.CappedBy)
			if got.Uncapped != k.Advice.Target || got.Name != "app" {
				t.Errorf("uncapped %v of %q, want %v of app", got.Uncapped, got.Name, k.Advice.Target)
			}
		})
	}
}

// Bounds are bounded as the target is, and it stays between them.
func TestCapBounds(t *testing.T) {
	for name, c := range map[string]struct {
		min, max, node int64
		want           [3]int64 // lower, target, upper
	}{
		"nothing bounds them":        {None, None, None, [3]int64{150, 200, 400}},
		"a maximum above the target": {None, 300, None, [3]int64{150, 200, 300}},
		"a maximum below":            {None, 140, None, [3]int64{140, 140, 140}},
		"a minimum below the target": {170, None, None, [3]int64{170, 200, 400}},
		"a minimum above all":        {500, None, None, [3]int64{500, 500, 500}},
		"the Pod is cut":             {None, None, 120, [3]int64{120, 120, 400}},
	} {
		t.Run(name, func(t *testing.T) {
			k, room := container(), Unlimited()
			k.MinAllowed[CPU], k.MaxAllowed[CPU], room.Node[CPU] = c.min, c.max, c.node
			got := CapAll(Template{Containers: []Container{k}, Fixed: Resources{none(), none()}}, room)[0]
			if bounds := [3]int64{got.Lower[CPU], got.Target[CPU], got.Upper[CPU]}; bounds != c.want {
				t.Errorf("bounds %v, want %v", bounds, c.want)
			}
			if got.Lower[Memory] != 1500 || got.Target[Memory] != 2000 || got.Upper[Memory] != 4000 {
				t.Errorf("memory is bounded too: %v", got)
			}
		})
	}
}

// What containers have together is cut from each in proportion, above what users allow; if that is not enough, below it.
func TestCapPod(t *testing.T) {
	type one struct {
		target, min, max, limit int64
		follow                  bool
	}
	for name, c := range map[string]struct {
		containers []one
		room       func(*Room)
		want       []int64
	}{
		"enough for all": {[]one{{300, None, None, None, false}, {100, None, None, None, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 400 }, []int64{300, 100}},
		"in proportion": {[]one{{300, None, None, None, false}, {100, None, None, None, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 200 }, []int64{149, 50}},
		"above what users allow": {[]one{{300, 260, None, None, false}, {100, None, None, None, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 330 }, []int64{279, 50}},
		"below what users allow": {[]one{{300, 200, None, None, false}, {100, 100, None, None, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 150 }, []int64{99, 50}},
		"a limit that stays does not count": {[]one{{300, None, None, 900, false}, {100, None, None, None, false}},
			func(r *Room) { r.Quota.Limits[CPU] = 200 }, []int64{300, 100}},
		"limits that follow": {[]one{{300, None, None, 200, true}, {100, None, None, 100, true}},
			func(r *Room) { r.Quota.Limits[CPU] = 354 }, []int64{149, 50}},
		"beside one that stays": {[]one{{300, None, None, 100, true}, {100, None, None, 200, false}},
			func(r *Room) { r.Quota.Limits[CPU] = 350 }, []int64{148, 100}},
		"beside one without a limit": {[]one{{300, None, None, 100, true}, {100, None, None, None, false}},
			func(r *Room) { r.Quota.Limits[CPU] = 152 }, []int64{150, 100}},
		"raised in proportion to what users allow": {[]one{{30, None, None, None, false}, {100, None, 110, None, false}},
			func(r *Room) { r.Pod.Min[CPU] = 140 }, []int64{39, 101}},
		"raised up to what users allow": {[]one{{30, None, 50, None, false}, {100, None, 120, None, false}},
			func(r *Room) { r.Pod.Min[CPU] = 150 }, []int64{40, 110}},
		"raised to all that users allow": {[]one{{30, None, 50, None, false}, {100, None, 120, None, false}},
			func(r *Room) { r.Pod.Min[CPU] = 170 }, []int64{50, 120}},
		"cut and raised to one amount": {[]one{{100, None, None, None, false}, {100, None, None, None, false}, {100, None, None, None, false}},
			func(r *Room) { r.Pod.Min[CPU], r.Pod.Max[CPU] = 200, 200 }, []int64{66, 67, 67}},
		"one of them is not sized": {[]one{{300, None, None, None, false}, {None, None, None, None, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 250 }, []int64{150, None}},
		"one of them stays as it is": {[]one{{300, None, None, None, false}, {100, None, None, 0, false}},
			func(r *Room) { r.Quota.Requests[CPU] = 250 }, []int64{150, None}},
	} {
		t.Run(name, func(t *testing.T) {
			pod, room := Template{Fixed: Resources{none(), none()}}, Unlimited()
			for _, o := range c.containers {
				k := container()
				k.Advice = Advice{Amounts{o.target, None}, Amounts{o.target, None}, Amounts{o.target, None}}
				k.MinAllowed[CPU], k.MaxAllowed[CPU], k.Limits[CPU], k.LimitsFollow = o.min, o.max, o.limit, [2]bool{o.follow}
				pod.Containers = append(pod.Containers, k)
			}
			c.room(&room)
			var got []int64
			for _, size := range CapAll(pod, room) {
				got = append(got, size.Target[CPU])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("targets %v, want %v", got, c.want)
			}
		})
	}
}

// maybe is None, or an amount up to n.
func maybe(r *rand.Rand, n int64) int64 {
	if r.IntN(3) > 0 {
		return None
	}
	return r.Int64N(n)
}

func amounts(r *rand.Rand, n int64) Amounts { return Amounts{maybe(r, n), maybe(r, n)} }

// randomTemplate has up to four containers of small amounts, so that bounds meet.
func randomTemplate(r *rand.Rand) (Template, Room) {
	t := Template{Guaranteed: r.IntN(4) == 0, Fixed: Resources{amounts(r, 50), amounts(r, 50)}}
	for n := range 1 + r.IntN(4) {
		c := Container{Name: string(rune('a' + n)), Resources: Resources{amounts(r, 100), amounts(r, 300)},
			LimitsFollow: [2]bool{r.IntN(2) == 0, r.IntN(2) == 0}}
		c.MinAllowed, c.MaxAllowed, c.GoalFloor, c.GoalLimit = amounts(r, 100), amounts(r, 300), amounts(r, 100), amounts(r, 100)
		for k := range c.Requests {
			if c.Requests[k] > c.Limits[k] && c.Limits[k] >= 0 || t.Guaranteed {
				c.Requests[k] = c.Limits[k]
			}
			low, target, high := r.Int64N(200), r.Int64N(200), r.Int64N(200)
			c.Advice.Lower[k], c.Advice.Target[k], c.Advice.Upper[k] = min(low, target), target, max(high, target)
			if r.IntN(6) == 0 {
				c.Advice.Target[k] = None
			}
		}
		t.Containers = append(t.Containers, c)
	}
	room := Unlimited()
	if r.IntN(2) == 0 {
		room.Container = LimitRange{amounts(r, 50), Amounts{maybe(r, 300), maybe(r, 300)}, Amounts{maybe(r, 5000), maybe(r, 5000)}}
	}
	if r.IntN(2) == 0 {
		room.Pod = LimitRange{amounts(r, 300), Amounts{maybe(r, 900), maybe(r, 900)}, Amounts{maybe(r, 5000), maybe(r, 5000)}}
	}
	if r.IntN(2) == 0 {
		room.Quota, room.Node, room.Headroom = Resources{amounts(r, 600), amounts(r, 900)}, amounts(r, 600), r.Int64N(20)
		room.Accepted = amounts(r, 600)
	}
	return t, room
}

func TestCapProperties(t *testing.T) {
	sized, left := 0, 0
	for seed := range fleettest.Rounds(20000, 10) {
		r := rand.New(rand.NewPCG(seed, 0))
		pod, room := randomTemplate(r)
		sizes := CapAll(pod, room)
		for _, fault := range illegal(pod, room, sizes) {
			t.Errorf("seed %d: %s: %+v", seed, fault, sizes)
		}
		again := pod
		again.Containers = slices.Clone(pod.Containers)
		for n, s := range sizes {
			again.Containers[n].Advice = s.Advice
			for k := range s.Target {
				if s.Target[k] >= 0 {
					sized++
				} else if pod.Containers[n].Advice.Target[k] >= 0 {
					left++
				}
			}
		}
		for n, s := range CapAll(again, room) {
			if s.Advice != sizes[n].Advice || s.Limits != sizes[n].Limits {
				t.Errorf("seed %d: container %d: capped once more %+v becomes %+v", seed, n, sizes[n], s)
			}
		}
		if t.Failed() && seed > 100 {
			break
		}
	}
	t.Logf("%d sized, %d left as they are", sized, left)
	if sized < left || left == 0 {
		t.Error("too few of one kind")
	}
}

// illegal judges sizes as LimitRanges, quotas and validation do, container by container and then for the Pod.
func illegal(t Template, room Room, sizes []Size) (faults []string) {
	expect := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	for k := range resources {
		requests, limits, changed, follow := max(0, t.Fixed.Requests[k]), max(0, t.Fixed.Limits[k]), false, false
		for n, s := range sizes {
			c := t.Containers[n]
			request, limit := s.Target[k], c.Limits[k]
			if s.Limits[k] >= 0 {
				limit, follow = s.Limits[k], true
			}
			capped := slices.ContainsFunc(s.CappedBy, func(c Cap) bool { return c.Resource == k })
			expect(capped || s.Target[k] == s.Uncapped[k] || s.Target[k] == 1 && s.Uncapped[k] == 0, "changed without a reason")
			if request < 0 {
				expect(s.Limits[k] < 0 && s.Lower[k] < 0 && s.Upper[k] < 0, "bounds, but no target")
				requests, limits = requests+max(0, c.Requests[k]), limits+max(0, limit)
				continue
			}
			changed, requests, limits = true, requests+request, limits+max(0, limit)
			expect(request > 0, "a request of nothing")
			expect(s.Lower[k] <= request && request <= s.Upper[k], "the target is not within its bounds")
			expect(limit < 0 || request <= limit, "a request above its limit")
			expect(!t.Guaranteed || limit < 0 || request == limit, "no longer guaranteed")
			expect(request >= room.Container.Min[k], "less than the LimitRange has it")
			expect(room.Container.Max[k] < 0 || request <= room.Container.Max[k], "more than the LimitRange has it")
			if s.Limits[k] >= 0 {
				expect(room.Container.Max[k] < 0 || limit <= room.Container.Max[k], "a limit above the LimitRange's")
			} else if limit > 0 && room.Container.MaxRatio[k] > 0 {
				expect(limit*1000 <= room.Container.MaxRatio[k]*request, "a limit too far from its request")
			}
			expect(limit < 0 || limit >= c.GoalLimit[k], "a limit that hides what a goal measures")
			lawful := slices.ContainsFunc(s.CappedBy, func(c Cap) bool { return c.Reason == ReasonLimitRequestRatio || c.Reason == ReasonGoalLimit })
			expect(c.MaxAllowed[k] < 0 || request <= max(c.MaxAllowed[k], room.Container.Min[k], 1) || lawful, "more than is allowed")
		}
		if !changed {
			continue
		}
		for _, most := range []int64{room.Pod.Max[k], room.Quota.Requests[k], room.node(k), room.Accepted[k]} {
			expect(most < 0 || requests <= most, "more than a Pod may request")
		}
		for _, most := range []int64{room.Pod.Max[k], room.Quota.Limits[k]} {
			expect(most < 0 || !follow || limits <= most, "limits above those of a Pod")
		}
		expect(requests >= room.Pod.Min[k], "less than a Pod has to request")
		expect(room.Pod.MaxRatio[k] <= 0 || limits*1000 <= room.Pod.MaxRatio[k]*requests, "limits too far from the requests of a Pod")
	}
	return faults
}

// A size is there whenever some request is legal: all of them are tried. One container, whose limit stays, and of which users
// allow any amount: more than they allow is never advised for the sake of the Pod.
func TestCapFindsWhatIsLegal(t *testing.T) {
	for seed := range fleettest.Rounds(5000, 10) {
		r := rand.New(rand.NewPCG(seed, 1))
		pod, room := randomTemplate(r)
		c := &pod.Containers[0]
		c.LimitsFollow, c.MaxAllowed, pod.Guaranteed, pod.Containers = [2]bool{}, none(), false, pod.Containers[:1]
		got := CapAll(pod, room)[0]
		for k := range got.Target {
			if c.Advice.Target[k] < 0 || c.Limits[k] >= 0 && c.Limits[k] < c.GoalLimit[k] || got.Target[k] >= 0 {
				continue
			}
			for request := int64(1); request <= 1000; request++ {
				try := got
				try.Target, try.Lower, try.Upper = none(), none(), none()
				try.Target[k], try.Lower[k], try.Upper[k] = request, request, request
				other := Resource(1 - k)
				free := room
				for _, bounds := range []*LimitRange{&free.Container, &free.Pod} {
					bounds.Min[other], bounds.Max[other], bounds.MaxRatio[other] = None, None, None
				}
				if len(illegal(pod, free, []Size{try})) == 0 {
					t.Errorf("seed %d: resource %d: nothing is advised, but %d is legal: %+v in %+v", seed, k, request, pod, room)
					break
				}
			}
		}
	}
}

func TestProportion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range fleettest.Rounds(10000, 10) {
		p := proportionOf(1+r.Int64N(1000), r.Int64N(1000))
		limit := r.Int64N(1000)
		if most := p.most(limit); most > 0 && p.of(most) > limit {
			t.Errorf("%v: the limit of %d is %d, above %d", p, most, p.of(most), limit)
		}
		if least := p.least(limit); p.of(least) < limit {
			t.Errorf("%v: the limit of %d is %d, below %d", p, least, p.of(least), limit)
		}
	}
	if got := mulDiv(most, most, most); got != most {
		t.Errorf("%d, want %d: products do not overflow", got, most)
	}
	if got := mulDiv(1<<62, 1<<62, 3); got != most {
		t.Errorf("%d, want %d: quotients do not overflow", got, most)
	}
	if down, up := mulDiv(7, 10, 3), mulDivUp(7, 10, 3); down != 23 || up != 24 {
		t.Errorf("70/3 is %d, or %d rounded up", down, up)
	}
}
