// SPDX-License-Identifier: Apache-2.0

package explanation

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// line is a calculation, or a question.
var line = regexp.MustCompile(`^    (\w[\w ]{9}) (.+?) (=|\?) (-?\d+|yes|no)(  .*)?$`)

// redo does the arithmetic of a text again, and returns what it comes to at last.
func redo(t *testing.T, text string) (last string) {
	t.Helper()
	for _, written := range strings.Split(text, "\n") {
		parts := line.FindStringSubmatch(written)
		if parts == nil {
			continue
		}
		value, holds, err := evaluate(parts[2])
		got := value.String()
		if parts[3] == "?" {
			got = map[bool]string{true: "yes", false: "no"}[holds]
		}
		if err != nil || got != parts[4] {
			t.Fatalf("%s\ncomes to %s, %v, in\n%s", written, got, err, text)
		}
		if parts[3] == "=" && strings.TrimSpace(parts[1]) != "divided" {
			last = got
		}
	}
	return last
}

// 10,000 random decisions, or 1,000 with -short: what is printed re-evaluates to the decision, line by line, and each step takes up
// the number before it.
func TestTextCanBeRedone(t *testing.T) {
	outcomes, limits := map[string]int{}, map[string]int{}
	for seed := range fleettest.Rounds(10_000, 10) {
		q := randomQuestion(rand.New(rand.NewPCG(seed, 1)))
		d := decided(q)
		e := Of(d)
		text := Text(e)
		last := redo(t, text)
		limits[e.LimitedBy]++
		for _, m := range e.Metrics {
			outcomes[m.Outcome]++
		}
		switch d.Explanation.Basis {
		case replicas.BasisMetrics, replicas.BasisMin, replicas.BasisMax:
			if last != fmt.Sprint(d.Replicas) {
				t.Fatalf("seed %d: %s, and not %d, is what comes of\n%s", seed, last, d.Replicas, text)
			}
		}
		follows(t, text)
	}
	t.Logf("%v\n%v", outcomes, limits)
	for _, want := range []replicas.Outcome{replicas.OutcomeScaled, replicas.OutcomeTolerated, replicas.OutcomeTurned,
		replicas.OutcomeAgainst, replicas.OutcomeLagging, replicas.OutcomeUnproven} {
		if outcomes[string(want)] == 0 {
			t.Errorf("no metric came to %s", want)
		}
	}
	for _, want := range []string{StepHeld, StepWindow, StepPolicy, StepBounds, StepFromZero} {
		if limits[want] == 0 {
			t.Errorf("no decision was limited by %s", want)
		}
	}
}

// follows checks that each step takes the number that the one before left.
func follows(t *testing.T, text string) {
	t.Helper()
	before := ""
	for _, written := range strings.Split(text, "\n") {
		parts := line.FindStringSubmatch(written)
		if parts == nil {
			continue
		}
		switch strings.TrimSpace(parts[1]) {
		case "most asked":
			before = parts[4]
		case "held", "window", "policy", "bounds", "from zero":
			if before != "" && !takesUp(parts[2], before) {
				t.Fatalf("%s\ndoes not go on with %s in\n%s", written, before, text)
			}
			before = parts[4]
		}
	}
}

// digits are a number as a calculation has it, without its sign.
var digits = regexp.MustCompile(`\w+`)

// takesUp tells whether the number is in a calculation.
func takesUp(calculation, was string) bool {
	return slices.Contains(digits.FindAllString(calculation, -1), was)
}

// The calculator of this test finds faults.
func TestRedoFindsFaults(t *testing.T) {
	for _, wrong := range []string{"7 // 2 = 4", "ceil(64 / 50 * 7) = 8", "max(1, 2) = 1", "1 - 0.1 <= 0.89 <= 1 + 0.1 ? yes"} {
		parts := line.FindStringSubmatch("    asks       " + wrong)
		value, holds, err := evaluate(parts[2])
		if err != nil || value.String() == parts[4] || parts[3] == "?" && holds {
			t.Errorf("%s passes: %v %v %v", wrong, value, holds, err)
		}
	}
}
