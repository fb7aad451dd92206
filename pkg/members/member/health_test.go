// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// TestHealthAfter tells stories of probes in words: "ok", or a reason, with "+"
// for a request of somebody else that succeeded meanwhile, and "!" for the
// first probe over a new connection. Told back is, after each: ready, or the reason.
func TestHealthAfter(t *testing.T) {
	tests := map[string]struct{ probes, want string }{
		"first contact":                                    {"ok!", "ready"},
		"first contact fails":                              {"Unreachable!", "Unreachable"},
		"first contact fails, then works":                  {"Timeout! Unreachable Forbidden ok", "Timeout Unreachable Forbidden ready"},
		"one broken connection is no reason":               {"ok Unreachable ok", "ready ready ready"},
		"two in a row are":                                 {"ok Unreachable Unreachable", "ready ready Unreachable"},
		"two that are not in a row are none":               {"ok Unreachable ok Unreachable ok", "ready ready ready ready ready"},
		"a deadline without an answer is":                  {"ok Timeout", "ready Timeout"},
		"a deadline while others were answered is none":    {"ok Timeout+ Timeout+ Timeout", "ready ready ready Timeout"},
		"others' answers wipe out what there was":          {"ok Unreachable Unreachable+ Unreachable", "ready ready ready ready"},
		"an overloaded server gets a second chance":        {"ok ServerError RateLimited", "ready ready RateLimited"},
		"a refusal is":                                     {"ok Forbidden", "ready Forbidden"},
		"a refusal is, whatever else was answered":         {"ok Forbidden+", "ready Forbidden"},
		"a certificate is":                                 {"ok CertificateInvalid+", "ready CertificateInvalid"},
		"another hub is":                                   {"ok NestedHub+", "ready NestedHub"},
		"a new connection gets no benefit of doubt":        {"ok Unreachable!", "ready Unreachable"},
		"not ready stays so until a probe succeeds":        {"Timeout! Unreachable+ ok", "Timeout Unreachable ready"},
		"the last reason is told":                          {"Forbidden! Timeout", "Forbidden Timeout"},
		"a first doubt does not outlive the second's fall": {"ok Unreachable Forbidden ok Unreachable", "ready ready Forbidden ready ready"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var h health
			var got []string
			for word := range strings.FieldsSeq(tc.probes) {
				o := outcome{answered: strings.HasSuffix(word, "+"), fresh: strings.HasSuffix(word, "!")}
				if reason := strings.TrimRight(word, "+!"); reason != "ok" {
					o.silence = &fleet.Silence{Reason: fleet.Reason(reason)}
				}
				h = h.after(o)
				switch {
				case !h.contacted:
					got = append(got, "uncontacted")
				case h.ready != (h.silence == nil):
					t.Fatalf("ready = %v with silence %v", h.ready, h.silence)
				case h.ready:
					got = append(got, "ready")
				default:
					got = append(got, string(h.silence.Reason))
				}
			}
			fleettest.Same(t, "", tc.want, strings.Join(got, " "))
		})
	}
}

func TestHealthWait(t *testing.T) {
	tests := map[string]struct {
		failures int
		period   time.Duration
		want     time.Duration
	}{
		"healthy":              {0, 10 * time.Second, 10 * time.Second},
		"after a failure":      {1, 10 * time.Second, time.Second},
		"after the next":       {2, 10 * time.Second, 2 * time.Second},
		"and the next":         {4, 10 * time.Second, 8 * time.Second},
		"never above":          {5, 10 * time.Second, 10 * time.Second},
		"not after many":       {1000, 10 * time.Second, 10 * time.Second},
		"a short period holds": {1, time.Millisecond, time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			for range 200 {
				got := health{failures: tc.failures}.wait(tc.period)
				seen[got] = true
				if low, high := tc.want-tc.want/20, tc.want+tc.want/20; got < low || got > high {
					t.Fatalf("wait(%v) after %d failures = %v, want %v to %v", tc.period, tc.failures, got, low, high)
				}
			}
			if len(seen) < 10 {
				t.Errorf("200 waits had %d values: they are not spread", len(seen))
			}
		})
	}
}
