// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"time"

	"github.com/fleetscale/fleetscale/pkg/replay"
)

// report is what programs get, and what the text is made of.
type report struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Decisions int       `json:"decisions"`
	// Differences are decisions that are not as they were recorded, by the same spec.
	Differences int `json:"differences"`
	// Torn: the end of the record could not be read.
	Torn bool `json:"torn,omitempty"`
	// Changed: Would is by another spec.
	Changed bool `json:"changed"`
	// Above is the bound of the use, in percent; of what Pods request, or of the targets as they were.
	Above      int64 `json:"above"`
	OfRequests bool  `json:"ofRequests"`
	Was        sums  `json:"was"`
	Would      sums  `json:"would"`
	// Seconds is for how long decisions were recorded, and Unknown for how long of that the load is not known, by the reason.
	Seconds float64                    `json:"seconds"`
	Unknown map[replay.Unknown]float64 `json:"unknownSeconds,omitempty"`
	Points  []replay.Point             `json:"points"`
}

// sums have their times in seconds.
type sums struct {
	replay.Sums

	AboveSeconds float64 `json:"aboveSeconds"`
	AtMaxSeconds float64 `json:"atMaxSeconds"`
	HeldSeconds  float64 `json:"heldSeconds"`
}

func newSums(s replay.Sums) sums {
	return sums{s, s.Above.Seconds(), s.AtMax.Seconds(), s.Held.Seconds()}
}

func newReport(l *loaded, result *replay.Result, above int64, changed bool) *report {
	above = bound(above, result.OfRequests)
	s := result.Summarize(above)
	r := &report{
		Namespace: l.Namespace, Name: l.Name, Decisions: len(result.Points), Differences: result.Differences, Torn: l.torn, Changed: changed,
		From: result.Points[0].At, To: result.Points[len(result.Points)-1].At,
		Above: above, OfRequests: result.OfRequests, Was: newSums(s.Was), Would: newSums(s.Would), Seconds: s.Lasts.Seconds(),
		Unknown: map[replay.Unknown]float64{}, Points: result.Points,
	}
	for reason, lasts := range s.Unknown {
		r.Unknown[reason] = lasts.Seconds()
	}
	return r
}

// bound is that of the use.
func bound(above int64, ofRequests bool) int64 {
	switch {
	case above > 0:
		return above
	case ofRequests:
		return usualOfRequests
	}
	return usualOfTarget
}
