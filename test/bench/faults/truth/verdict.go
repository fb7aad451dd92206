// SPDX-License-Identifier: Apache-2.0

package truth

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Verdict is what an answer is worth.
type Verdict string

// Verdicts, the best first.
const (
	// Right: the whole, and true.
	Right Verdict = "right"
	// Partial: true, and what is missing is named.
	Partial Verdict = "partial, and said"
	// Refused: no answer, and a reason (429, 503, 504).
	Refused Verdict = "refused"
	// Unanswered: the connection broke, or none could be made.
	Unanswered Verdict = "no answer"
	// Silent: something is missing and not named.
	Silent Verdict = "silent partial"
	// WrongValue: a value that nobody measured, or too long ago.
	WrongValue Verdict = "wrong value"
	// WrongPod: a Pod that does not exist, is there twice, or was not asked for.
	WrongPod Verdict = "wrong pod"
	// Broken: it cannot be read, or is an error without a good reason.
	Broken Verdict = "broken"
)

// Verdicts are all, the best first.
func Verdicts() []Verdict {
	return []Verdict{Right, Partial, Refused, Unanswered, Silent, WrongValue, WrongPod, Broken}
}

// Wrong reports whether an asker would be misled. A silent partial answer is counted apart.
func (v Verdict) Wrong() bool { return v == WrongValue || v == WrongPod || v == Broken }

// Judgement is a verdict, and one example of what is the matter.
type Judgement struct {
	Verdict
	Because string
}

func because(v Verdict, format string, args ...any) *Judgement {
	return &Judgement{v, fmt.Sprintf(format, args...)}
}

// Answer is what came, and when.
type Answer struct {
	// Begin is before the question was sent, End after the answer was read.
	Begin, End time.Time
	Code       int
	Header     http.Header
	Body       []byte
	// Err is why there is none.
	Err error
}

// failure is the judgement of what is no answer; nil of one.
func (a Answer) failure() *Judgement {
	switch {
	case a.Err != nil:
		return because(Unanswered, "%v", a.Err)
	case a.Code == http.StatusOK:
		return nil
	}
	honest := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	if reason := strings.TrimSpace(string(a.Body)); slices.Contains(honest, a.Code) && reason != "" {
		return because(Refused, "%d: %.300s", a.Code, reason)
	}
	return because(Broken, "%d: %.300s", a.Code, a.Body)
}

// missing are the members that an answer names as missing. All members have to be
// mentioned, and people have to be told.
func (a Answer) missing(members []string) (missing []string, fault *Judgement) {
	header := a.Header.Get(fleet.CoverageHeader)
	c, err := fleet.ParseCoverage(header)
	if err != nil {
		return nil, because(Silent, "%s cannot be read: %v", fleet.CoverageHeader, err)
	}
	for _, s := range c.Silent {
		missing = append(missing, s.Cluster)
	}
	for _, name := range members {
		if !slices.Contains(missing, name) && !slices.Contains(c.Answered, name) {
			return nil, because(Silent, "%s does not speak of %s: %.300s", fleet.CoverageHeader, name, header)
		}
	}
	if len(missing) > 0 && !a.warns() {
		return nil, because(Silent, "no warning that %s is missing", missing[0])
	}
	return missing, nil
}

func (a Answer) warns() bool {
	return slices.ContainsFunc(a.Header.Values("Warning"), func(warning string) bool {
		return strings.HasPrefix(warning, "299 "+fleet.WarningAgent)
	})
}

// whole is the judgement of an answer in which nothing else was found.
func whole(missing []string) Judgement {
	if len(missing) > 0 {
		return Judgement{Partial, strings.Join(missing, ", ")}
	}
	return Judgement{Verdict: Right}
}
