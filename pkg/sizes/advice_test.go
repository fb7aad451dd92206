// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// options are VPA's own.
func options() Options {
	return Options{Percentile: [2]int{90, 90}, Margin: 15, PodMinimum: Amounts{25, 250 * mi}, Containers: 1}
}

// steady is what one container used that had the same load each minute for so long.
func steady(cpu, memory int64, from time.Time, long time.Duration) *Use {
	var u Use
	var i Instance
	for at := from; !at.After(from.Add(long)); at = at.Add(time.Minute) {
		i.Add(&u, sample(cpu, memory, at))
	}
	return &u
}

// The amounts are those of VPA 1.8.1 for the same samples: test/oracle compares many more.
func TestAdvise(t *testing.T) {
	with := func(change func(*Options)) Options {
		o := options()
		change(&o)
		return o
	}
	ramp := func() *Use { // 10, 20, ... 1000 thousandths of a core, and as many MiB of ten containers
		var u Use
		instances := make([]Instance, 10)
		for n := range int64(100) {
			instances[n%10].Add(&u, sample(10*n+10, (10*n+10)*mi, noon.Add(time.Duration(n)*time.Minute)))
		}
		return &u
	}
	for name, c := range map[string]struct {
		use  *Use
		o    Options
		want Advice
	}{
		"nothing is known": {new(Use), options(), noAdvice()},
		"one sample": {steady(500, gi, noon, 0), options(),
			Advice{Amounts{587, 1238659775}, Amounts{25, 262144000}, Amounts{most, most}}},
		"a day": {steady(500, gi, noon, 24*time.Hour), options(),
			Advice{Amounts{587, 1238659775}, Amounts{585, 1236186166}, Amounts{1174, 2477319550}}},
		"less than the least": {steady(1, mi, noon, 24*time.Hour), options(), Advice{
			Target: Amounts{25, 262144000}, Lower: Amounts{25, 262144000}, Upper: Amounts{25, 262144000}}},
		"the least, of three containers": {steady(1, mi, noon, 24*time.Hour), with(func(o *Options) { o.Containers = 3 }),
			Advice{Amounts{11, 87381333}, Amounts{10, 87381333}, Amounts{22, 87381333}}},
		"a ramp": {ramp(), options(),
			Advice{Amounts{1101, 1238659775}, Amounts{570, 1135452036}, Amounts{18157, 19255529229}}},
		"half of the samples": {ramp(), with(func(o *Options) { o.Percentile = [2]int{50, 50} }),
			Advice{Amounts{587, 1168723596}, Amounts{570, 1135452036}, Amounts{18157, 19255529229}}},
		"nearly all": {ramp(), with(func(o *Options) { o.Percentile = [2]int{99, 99} }),
			Advice{Amounts{1168, 1238659775}, Amounts{570, 1135452036}, Amounts{18157, 19255529229}}},
		"resources differ": {ramp(), with(func(o *Options) { o.Percentile = [2]int{50, 99} }),
			Advice{Amounts{587, 1238659775}, Amounts{570, 1135452036}, Amounts{18157, 19255529229}}},
		"no margin": {ramp(), with(func(o *Options) { o.Margin = 0 }),
			Advice{Amounts{958, 1077095457}, Amounts{496, 987349596}, Amounts{15794, 16743938467}}},
		"twice as much": {ramp(), with(func(o *Options) { o.Margin = 100 }),
			Advice{Amounts{1916, 2154190914}, Amounts{992, 1974699193}, Amounts{31588, 33487876935}}},
		"no least, no samples": {steady(1, None, noon, 0), with(func(o *Options) { o.PodMinimum = none() }),
			Advice{Amounts{11, 0}, Amounts{0, 0}, Amounts{most, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "advice", c.want, c.use.Advise(c.o))
		})
	}
}

func TestAmount(t *testing.T) {
	for v, want := range map[float64]int64{-1: 0, 0: 0, 0.99: 0, 1: 1, 1.99: 1, 1e14: most, 1e15: most, math.Inf(1): most, math.NaN(): 0} {
		if got := amount(v); got != want {
			t.Errorf("%g is %d, want %d", v, got, want)
		}
	}
}

// How fast advice follows use, after eight days of the same: these are VPA's figures.
func TestAdviceFollowsUse(t *testing.T) {
	for name, c := range map[string]struct {
		before, after   int64
		target, outside time.Duration
	}{
		"up":   {500, 2000, 3*time.Hour + 38*time.Minute, 23*time.Hour + 55*time.Minute},
		"down": {2000, 500, 79*time.Hour + 36*time.Minute, 103*time.Hour + 35*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			u := steady(c.before, gi, noon, 8*24*time.Hour)
			first := u.Advise(options())
			var target, outside time.Duration // since the first of the new samples
			var i Instance
			for n := time.Minute; outside == 0; n += time.Minute {
				i.Add(u, sample(c.after, gi, noon.Add(8*24*time.Hour+n)))
				a := u.Advise(options())
				since := n - time.Minute
				if target == 0 && a.Target[CPU] != first.Target[CPU] {
					target = since
				}
				if first.Target[CPU] < a.Lower[CPU] || first.Target[CPU] > a.Upper[CPU] {
					outside = since
				}
			}
			if target != c.target || outside != c.outside {
				t.Errorf("the target moves after %s, and the request is outside after %s; want %s and %s", target, outside, c.target, c.outside)
			}
		})
	}
}

func TestAdviseFleet(t *testing.T) {
	day := 24 * time.Hour
	east, west := Part{Cluster: "east", Use: steady(200, gi, noon, day)}, Part{Cluster: "west", Use: steady(2000, 4*gi, noon, day)}
	silent := func(p Part) Part { p.Silent = true; return p }
	high, low := Advice{Amounts{9000, 90 * gi}, Amounts{8000, 80 * gi}, Amounts{10000, 100 * gi}},
		Advice{Amounts{1, 1}, Amounts{1, 1}, Amounts{1, 1}}
	both := AdviseFleet([]Part{east, west}, options(), noAdvice())
	if alone := west.Use.Advise(options()); both.Target != alone.Target || both.Lower[CPU] >= alone.Lower[CPU] {
		t.Errorf("advice %v: want the target of west, %v, and a lower bound of east", both, alone)
	}
	for name, c := range map[string]struct {
		parts []Part
		last  Advice
		want  Advice
	}{
		"all are in sight: what was is over":       {[]Part{east, west}, high, both},
		"in another order":                         {[]Part{west, east}, high, both},
		"one is silent: nothing becomes less":      {[]Part{east, silent(west)}, high, high},
		"whichever it is":                          {[]Part{silent(east), west}, high, high},
		"one is silent: it may become more":        {[]Part{east, silent(west)}, low, both},
		"one is silent, and nothing was said yet":  {[]Part{east, silent(west)}, noAdvice(), both},
		"nobody is there":                          {nil, high, noAdvice()},
		"one is silent that has never been heard":  {[]Part{east, {Cluster: "north", Use: new(Use), Silent: true}}, high, high},
		"one has nothing to tell, and does say so": {[]Part{east, west, {Cluster: "north", Use: new(Use)}}, high, both},
	} {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "advice", c.want, AdviseFleet(c.parts, options(), c.last))
		})
	}
}

func TestAdviseCluster(t *testing.T) {
	part := Part{Cluster: "east", Use: steady(200, gi, noon, 24*time.Hour)}
	own := part.Use.Advise(options())
	fleet := Advice{Amounts{500, 5 * gi}, Amounts{400, 4 * gi}, Amounts{600, 6 * gi}}
	last := Advice{Amounts{1000, mi}, Amounts{1, mi}, Amounts{2000, mi}}
	held := Advice{Amounts{1000, own.Target[Memory]}, own.Lower, Amounts{2000, own.Upper[Memory]}}
	for name, c := range map[string]struct {
		part Part
		want Advice
	}{
		"its own":                {part, own},
		"while it is silent":     {Part{"east", part.Use, true}, held},
		"nothing is known of it": {Part{"east", new(Use), false}, fleet},
		"nor will be now": {Part{"east", new(Use), true},
			Advice{Amounts{1000, 5 * gi}, fleet.Lower, Amounts{2000, 6 * gi}}},
	} {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "advice", c.want, AdviseCluster(c.part, options(), fleet, last))
		})
	}
}

// random is a fleet of which each cluster has its own load and history.
func random(r *rand.Rand) []Part {
	parts := make([]Part, 1+r.IntN(5))
	for n := range parts {
		var u Use
		instances := make([]Instance, 1+r.IntN(4))
		at := noon.Add(time.Duration(r.IntN(30)) * 24 * time.Hour)
		for range r.IntN(200) {
			at = at.Add(time.Duration(1+r.IntN(200)) * time.Minute)
			i := &instances[r.IntN(len(instances))]
			if r.IntN(20) == 0 {
				i.OOM(&u, r.Int64N(8*gi), at)
			}
			i.Add(&u, sample(r.Int64N(4000), 1+r.Int64N(8*gi), at))
		}
		parts[n] = Part{Cluster: string(rune('a' + n)), Use: &u, Silent: r.IntN(4) == 0}
	}
	return parts
}

func TestAdviceProperties(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		parts := random(r)
		o := Options{
			Percentile: [2]int{50 + r.IntN(50), 50 + r.IntN(50)}, Margin: r.IntN(100),
			PodMinimum: Amounts{r.Int64N(100), r.Int64N(gi)}, Containers: 1 + r.IntN(4),
		}
		last := AdviseFleet(random(r), o, noAdvice())
		a := AdviseFleet(parts, o, last)
		for k := range a.Target {
			if a.Lower[k] > a.Target[k] || a.Target[k] > a.Upper[k] {
				t.Errorf("seed %d: the target of %v lies outside its bounds", seed, a)
			}
		}
		silent := slices.ContainsFunc(parts, func(p Part) bool { return p.Silent })
		if held := a.hold(last); silent && held != a {
			t.Errorf("seed %d: a cluster is silent, and %v became %v", seed, last, a)
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		if again := AdviseFleet(parts, o, last); again != a {
			t.Errorf("seed %d: in another order %v became %v", seed, a, again)
		}
		higher := o
		higher.Percentile[CPU]++
		higher.Margin++
		if more := AdviseFleet(parts, higher, last); more.Target[CPU] < a.Target[CPU] || more.Target[Memory] < a.Target[Memory] {
			t.Errorf("seed %d: a higher percentile and a larger margin turn %v into %v", seed, a, more)
		}
	}
}
