// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestBetween(t *testing.T) {
	at := func(text string) time.Time { return instant(t, text) }
	for name, tc := range map[string]struct {
		expression   string
		after, until string
		limit        int
		want         Runs
	}{
		"none": {"0 11 * * *", "2026-05-04T09:00:00Z", "2026-05-04T10:59:59Z", 5, Runs{}},
		"one, at the end": {"0 11 * * *", "2026-05-04T09:00:00Z", "2026-05-04T11:00:00Z", 5,
			Runs{at("2026-05-04T11:00:00Z"), at("2026-05-04T11:00:00Z"), 1, false}},
		"not the one at the beginning": {"0 11 * * *", "2026-05-04T11:00:00Z", "2026-05-05T10:00:00Z", 5, Runs{}},
		"no more than the limit": {"0 * * * *", "2026-05-04T09:00:00Z", "2026-05-04T12:30:00Z", 3,
			Runs{at("2026-05-04T10:00:00Z"), at("2026-05-04T12:00:00Z"), 3, false}},
		"one more than the limit": {"0 * * * *", "2026-05-04T09:00:00Z", "2026-05-04T13:00:00Z", 3,
			Runs{at("2026-05-04T10:00:00Z"), at("2026-05-04T13:00:00Z"), 3, true}},
		"the last just before the end": {"0 * * * *", "2026-05-04T09:00:00Z", "2026-05-04T13:59:59.9Z", 1,
			Runs{at("2026-05-04T10:00:00Z"), at("2026-05-04T13:00:00Z"), 1, true}},
		"a year of minutes": {"* * * * *", "2025-05-04T09:00:30Z", "2026-05-04T09:00:30Z", 100,
			Runs{at("2025-05-04T09:01:00Z"), at("2026-05-04T09:00:00Z"), 100, true}},
		"long after the last": {"0-2 0 1 1 *", "2025-12-31T00:00:00Z", "2026-12-31T00:00:00Z", 2,
			Runs{at("2026-01-01T00:00:00Z"), at("2026-01-01T00:02:00Z"), 2, true}},
		"many years": {"0 0 29 2 *", "1990-01-01T00:00:00Z", "2099-01-01T00:00:00Z", 3,
			Runs{at("1992-02-29T00:00:00Z"), at("2096-02-29T00:00:00Z"), 3, true}},
		"an end before the beginning":  {"* * * * *", "2026-05-04T09:00:00Z", "2026-05-04T08:00:00Z", 5, Runs{}},
		"an end that is the beginning": {"* * * * *", "2026-05-04T09:00:00Z", "2026-05-04T09:00:00Z", 5, Runs{}},
		"fractions of a second at both": {"* * * * *", "2026-05-04T09:00:00.7Z", "2026-05-04T09:03:00.2Z", 1,
			Runs{at("2026-05-04T09:01:00Z"), at("2026-05-04T09:03:00Z"), 1, true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := parsed(t, tc.expression, time.UTC).Between(at(tc.after), at(tc.until), tc.limit)
			fleettest.Same(t, fmt.Sprintf("Between(%s, %s, %d) of %q", tc.after, tc.until, tc.limit, tc.expression), tc.want, got)
		})
	}
}

func BenchmarkBetweenOverAYear(b *testing.B) {
	s := parsed(b, "* * * * *", located(b, "America/New_York"))
	from, to := instant(b, "2025-05-04T09:00:00Z"), instant(b, "2026-05-04T09:00:00Z")
	b.ReportAllocs()
	for b.Loop() {
		s.Between(from, to, 100)
	}
}
