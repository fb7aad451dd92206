// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"
)

func TestEqual(t *testing.T) {
	east := time.FixedZone("east", 3600)
	tests := map[string]struct {
		a, b         string
		zoneA, zoneB *time.Location
		want         bool
	}{
		"the same":            {"30 8 * * *", "30 8 * * *", time.UTC, time.UTC, true},
		"a zero more":         {"30 8 * * *", "30 08 * * *", time.UTC, time.UTC, true},
		"a name of a day":     {"0 8 * * mon", "0 8 * * 1", time.UTC, time.UTC, true},
		"a preset":            {"@daily", "0 0 * * *", time.UTC, time.UTC, true},
		"another minute":      {"30 8 * * *", "31 8 * * *", time.UTC, time.UTC, false},
		"another hour":        {"30 8 * * *", "30 9 * * *", time.UTC, time.UTC, false},
		"another day":         {"30 8 1 * *", "30 8 2 * *", time.UTC, time.UTC, false},
		"another month":       {"30 8 1 1 *", "30 8 1 2 *", time.UTC, time.UTC, false},
		"another day of week": {"30 8 * * 1", "30 8 * * 2", time.UTC, time.UTC, false},
		"another zone":        {"30 8 * * *", "30 8 * * *", time.UTC, east, false},
	}
	for name, tc := range tests {
		a, err := Parse(tc.a, tc.zoneA)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse(tc.b, tc.zoneB)
		if err != nil {
			t.Fatal(err)
		}
		if a.Equal(b) != tc.want || b.Equal(a) != tc.want {
			t.Errorf("%s: %q and %q equal = %v, want %v", name, tc.a, tc.b, a.Equal(b), tc.want)
		}
	}
}
