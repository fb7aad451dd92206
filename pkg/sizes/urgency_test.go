// SPDX-License-Identifier: Apache-2.0

package sizes

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// names are those of the Pods, in their order.
func names(all []Candidate) (names []string) {
	for _, c := range all {
		names = append(names, c.Pod.Name)
	}
	return names
}

func TestCandidates(t *testing.T) {
	old := func(p Running) Running { p.Started = noon.Add(-lifetime); return p }
	wide := func(p Running) Running { // within the bounds
		p.Containers[0].Size.Lower, p.Containers[0].Size.Upper = Amounts{}, Amounts{most, most}
		return p
	}
	oom := func(p Running) Running { p.Containers[0].QuickOOM = true; return p }
	with := func(p Running, change func(*RunningContainer)) Running { change(&p.Containers[0]); return p }
	for name, c := range map[string]struct {
		pods []Running
		want []string
	}{
		"as it should be":    {[]Running{old(running("a"))}, nil},
		"outside the bounds": {[]Running{wanting("a", 101, 1000)}, []string{"a"}},
		"above them":         {[]Running{wanting("a", 100, 999)}, []string{"a"}},
		"not asked for anything": {
			[]Running{with(wide(running("a")), func(c *RunningContainer) { c.Requests[CPU] = None })}, []string{"a"},
		},
		"within, young": {[]Running{wide(wanting("a", 200, 1000))}, nil},
		"within, old":   {[]Running{old(wide(wanting("a", 200, 1000)))}, []string{"a"}},
		"a moment too young": {
			[]Running{func() Running { p := wide(wanting("a", 200, 1000)); p.Started = noon.Add(-lifetime + 1); return p }()}, nil,
		},
		"within, a tenth":                    {[]Running{old(wide(wanting("a", 110, 1000)))}, []string{"a"}},
		"within, less than a tenth":          {[]Running{old(wide(wanting("a", 109, 1000)))}, nil},
		"both together are a tenth":          {[]Running{old(wide(wanting("a", 105, 1050)))}, []string{"a"}},
		"killed":                             {[]Running{oom(wide(wanting("a", 101, 1000)))}, []string{"a"}},
		"killed, but nothing helps":          {[]Running{oom(wide(running("a")))}, nil},
		"killed, nothing helps, and outside": {[]Running{with(oom(running("a")), func(c *RunningContainer) { c.Size.Lower[CPU] = 101 })}, nil},
		"growing first": {
			[]Running{old(wide(wanting("a", 10, 1000))), old(wide(wanting("b", 120, 1000)))}, []string{"b", "a"},
		},
		"then by difference": {
			[]Running{old(wide(wanting("a", 120, 1000))), old(wide(wanting("b", 150, 1000))), old(wide(wanting("c", 100, 1300)))},
			[]string{"b", "c", "a"}},
		"then by name": {[]Running{wanting("b", 150, 1000), wanting("c", 150, 1000), wanting("a", 150, 1000)}, []string{"a", "b", "c"}},
		"killed, within the bounds, and a bit more would help": {
			[]Running{with(wide(wanting("a", 100, 1001)), func(c *RunningContainer) { c.OOM = true })}, []string{"a"}},
		"killed, and less is wanted": {[]Running{with(wide(wanting("a", 100, 999)), func(c *RunningContainer) { c.OOM = true })}, nil},
		"killed, and what it lacks another has": {
			[]Running{with(wide(wanting("a", 100, 1100)), func(c *RunningContainer) { c.OOM, c.QuickOOM, c.Size.Target[CPU] = true, true, 100 })},
			[]string{"a"}},
		"pressed, and wants more": {
			[]Running{with(wide(wanting("a", 101, 1000)), func(c *RunningContainer) { c.Pressed[CPU] = true })}, []string{"a"}},
		"pressed, and wants less": {[]Running{with(wide(wanting("a", 99, 1000)), func(c *RunningContainer) { c.Pressed[CPU] = true })}, nil},
		"pressed, and has what a new one has": {[]Running{with(running("a"), func(c *RunningContainer) {
			c.Pressed[CPU], c.New.Requests[CPU], c.Size.Target[CPU], c.Size.Upper[CPU] = true, 100, 50, 60
		})}, nil},
		"one is not sized": {[]Running{old(with(running("a"), func(c *RunningContainer) { c.Size.Advice = noAdvice() }))}, nil},
		"no upper bound":   {[]Running{with(running("a"), func(c *RunningContainer) { c.Size.Upper = none() })}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(Candidates(c.pods, noon)); !slices.Equal(got, c.want) {
				t.Errorf("candidates %v, want %v", got, c.want)
			}
		})
	}
}

// The difference is that of sums: what one container has too much another may lack.
func TestDifferenceOfAPod(t *testing.T) {
	p := wanting("a", 150, 1000)
	p.Containers = append(p.Containers, wanting("a", 50, 3000).Containers[0])
	c := candidateOf(&p)
	if c.Difference != 1 || !c.Grows || !c.Outside {
		t.Errorf("difference %g (grows: %t, outside: %t), want 1, of memory alone", c.Difference, c.Grows, c.Outside)
	}
	p.Containers[0].Requests, p.Containers[1].Requests = none(), none()
	if c := candidateOf(&p); c.Difference != 199+3999999 || !c.Grows {
		t.Errorf("difference %g to nothing, want 4000198", c.Difference)
	}
}

func TestCandidatesInAnyOrder(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		pods := randomPods(r, noon)
		want := names(Candidates(pods, noon))
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		if got := names(Candidates(pods, noon)); !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, in another order %v", seed, want, got)
		}
	}
}

// randomPods are some that have what they should, and others that do not.
func randomPods(r *rand.Rand, now time.Time) []Running {
	pods := make([]Running, r.IntN(12))
	for n := range pods {
		p := wanting(string(rune('a'+n)), 50+50*r.Int64N(4), 500+500*r.Int64N(4))
		c := &p.Containers[0]
		p.Started, p.Ready, p.Scheduled, p.Resizable = now.Add(-time.Duration(r.IntN(24))*time.Hour), r.IntN(5) > 0, r.IntN(8) > 0, r.IntN(4) > 0
		p.Resize, p.ResizeSince = ResizeState(max(0, r.IntN(10)-5)), now.Add(-time.Duration(r.IntN(120))*time.Minute)
		c.Restarts, c.QuickOOM = [2]bool{r.IntN(3) == 0, r.IntN(3) == 0}, r.IntN(8) == 0
		if p.Resize != ResizeNone {
			c.Actual.Requests = Amounts{50, 500}
		}
		if r.IntN(3) == 0 {
			c.Size.Lower, c.Size.Upper = Amounts{}, Amounts{most, most}
		}
		pods[n] = p
	}
	return pods
}
