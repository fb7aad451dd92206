// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// randomTemplate is a Pod of some containers, with what is advised for them, and what that comes from.
func randomTemplate(r *rand.Rand) (*sizes.Template, map[string]sizes.Grounds) {
	t := &sizes.Template{Guaranteed: r.IntN(8) == 0}
	grounds := map[string]sizes.Grounds{}
	amounts := func(scale int64) sizes.Amounts {
		a := sizes.Amounts{sizes.None, sizes.None}
		for i := range a {
			if r.IntN(3) == 0 {
				a[i] = r.Int64N(scale << (20 * i))
			}
		}
		return a
	}
	count := 1 + r.IntN(3)
	for n := range count {
		c := sizes.Container{
			Name: fmt.Sprintf("c%d", n), Resources: sizes.Resources{Requests: amounts(2000), Limits: amounts(4000)},
			MinAllowed: amounts(1000), MaxAllowed: amounts(3000), GoalFloor: amounts(1000), GoalLimit: amounts(1000),
			LimitsFollow: [2]bool{r.IntN(2) == 0, r.IntN(2) == 0},
		}
		var parts []sizes.Part
		for k := range 1 + r.IntN(2) {
			var u sizes.Use
			var i sizes.Instance
			for minute := range 1 + r.IntN(50) {
				at := start.Add(time.Duration(minute) * time.Minute)
				i.Add(&u, sizes.Sample{Amounts: sizes.Amounts{r.Int64N(3000), r.Int64N(4 << 30)}, At: at, Measured: at})
			}
			parts = append(parts, sizes.Part{Cluster: fmt.Sprint(k), Use: &u, Silent: r.IntN(5) == 0})
		}
		o := sizes.Options{Percentile: [2]int{50 + r.IntN(50), 50 + r.IntN(50)}, Margin: r.IntN(60), PodMinimum: sizes.Amounts{25, 250 << 20},
			Containers: count}
		last := sizes.Advice{}
		if r.IntN(2) == 0 {
			last.Target = sizes.Amounts{r.Int64N(4000), r.Int64N(5 << 30)}
		}
		c.Advice, _ = sizes.GroundedAdvice(parts, o, last)
		_, grounds[c.Name] = sizes.GroundedAdvice(parts, o, last)
		if r.IntN(8) == 0 {
			c.Advice.Target[sizes.CPU] = sizes.None // it is not sized
		}
		t.Containers = append(t.Containers, c)
	}
	return t, grounds
}

// 5,000 random Pods, or 1,000 with -short: what is printed re-evaluates to the size of each container, line by line, and each line
// takes up the one before.
func TestSizesCanBeRedone(t *testing.T) {
	seen := map[string]int{}
	for seed := range fleettest.Rounds(5000, 5) {
		template, grounds := randomTemplate(rand.New(rand.NewPCG(seed, 8)))
		e := OfSizes(template, grounds, start)
		var want []string
		for n, size := range sizes.CapAll(*template, sizes.Unlimited()) {
			for r := range resourceNames {
				if template.Containers[n].Advice.Target[r] >= 0 {
					want = append(want, fmt.Sprint(size.Target[r]))
				}
			}
		}
		if got := redoSizes(t, e); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("seed %d: %v is printed of %v:\n%s", seed, got, want, SizesText(e))
		}
		for i := range e.Sizes {
			seen[e.Sizes[i].LimitedBy]++
		}
	}
	t.Log(seen)
	often := []string{LimitUse, LimitBefore, "GoalFloor", "MaxAllowed", "GoalLimit", "Limit", "GoalHiddenByLimit"}
	if !testing.Short() {
		often = append(often, LimitPodMinimum, "MinAllowed", "NothingLegal")
	}
	for _, want := range often {
		if seen[want] == 0 {
			t.Errorf("nothing is limited by %s", want)
		}
	}
}

// redoSizes does the arithmetic again, and returns the targets; -1 where there is none.
func redoSizes(t *testing.T, e *v1alpha1.SizesExplanation) (targets []string) {
	t.Helper()
	if e == nil {
		return nil
	}
	text, before := SizesText(e), ""
	for _, written := range strings.Split(text, "\n") {
		if strings.Contains(written, "it stays as the template has it") {
			targets = append(targets, "-1")
		}
		is := line.FindStringSubmatch(written)
		if is == nil {
			continue
		}
		value, _, err := evaluate(is[2])
		if err != nil || value.String() != is[4] {
			t.Fatalf("%s\ncomes to %s, %v, in\n%s", written, value, err, text)
		}
		switch strings.TrimSpace(is[1]) {
		case "bound", "target":
			if !strings.Contains(is[2], before) {
				t.Fatalf("%s\ndoes not go on with %s in\n%s", written, before, text)
			}
		}
		if before = is[4]; strings.TrimSpace(is[1]) == "target" {
			targets = append(targets, before)
		}
	}
	return targets
}

// However many containers a Pod has, and however long their names are, the explanation has at most 8 KiB.
func TestBytesOfSizes(t *testing.T) {
	template, grounds := randomTemplate(rand.New(rand.NewPCG(3, 8)))
	for _, containers := range []int{1, 2, 5, 100} {
		many := &sizes.Template{}
		for n := range containers {
			c := template.Containers[n%len(template.Containers)]
			g := grounds[c.Name]
			c.Name = fmt.Sprintf("%s-%03d", strings.Repeat("c", min(50, containers)), n)
			grounds[c.Name] = g
			many.Containers = append(many.Containers, c)
		}
		e := OfSizes(many, grounds, start)
		encoded, err := json.Marshal(e)
		if err != nil || len(encoded) > mostBytes || len(e.Sizes)+int(e.Omitted) == 0 {
			t.Errorf("%d containers: %d bytes, %v", containers, len(encoded), err)
		}
		t.Logf("%3d containers: %d bytes, %d sizes are left out", containers, len(encoded), e.Omitted)
	}
}

// A target, in whole, as a person reads it.
func TestSizesText(t *testing.T) {
	e := &v1alpha1.SizesExplanation{Sizes: []v1alpha1.SizeExplanation{{
		ContainerName: "app", Resource: corev1.ResourceMemory, Percentile: 90, Usage: 1077095457, MarginPercent: 15, PodMinimum: 250 << 20,
		Containers: 1, ByUse: 1238659775, Target: new(int64(1 << 30)), LimitedBy: "MaxAllowed",
		Bounds: []v1alpha1.SizeBound{{Reason: "MaxAllowed", Amount: 1 << 30, Size: 1 << 30}},
	}}}
	const want = `  container app, memory, in bytes: 90 of 100 daily peaks are below 1077095457
    need       1077095457 + trunc(1077095457 * (15 / 100)) = 1238659775  with a margin of 15 %
    least      trunc(262144000 * (1 / 1)) = 262144000         the least of a Pod, divided among its containers
    by use     max(1238659775, 262144000) = 1238659775
    bound      min(1238659775, 1073741824) = 1073741824       MaxAllowed
    target     1073741824 = 1073741824
`
	if got := SizesText(e); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
