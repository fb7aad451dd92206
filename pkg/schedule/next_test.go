// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestNext(t *testing.T) {
	for name, tc := range map[string]struct {
		expression, zone string
		after            string   // in UTC if it has no offset of its own
		want             []string // one after the other
	}{
		"hourly, applied after its minute": {"3 * * * *", "Etc/UTC", "2026-05-04T09:04:00Z",
			[]string{"2026-05-04T10:03:00Z", "2026-05-04T11:03:00Z"}},
		"hourly, applied before":        {"3 * * * *", "Etc/UTC", "2026-05-04T09:01:00Z", []string{"2026-05-04T09:03:00Z"}},
		"hourly, applied at its minute": {"3 * * * *", "Etc/UTC", "2026-05-04T09:03:00Z", []string{"2026-05-04T10:03:00Z"}},
		"within the second before":      {"3 * * * *", "Etc/UTC", "2026-05-04T09:02:59.999999999Z", []string{"2026-05-04T09:03:00Z"}},
		"within the second itself":      {"3 * * * *", "Etc/UTC", "2026-05-04T09:03:00.000000001Z", []string{"2026-05-04T10:03:00Z"}},
		"after is in another zone":      {"30 7 * * *", "Asia/Shanghai", "2026-01-01T18:00:00-05:00", []string{"2026-01-02T07:30:00+08:00"}},
		"Shanghai":                      {"30 7 * * *", "Asia/Shanghai", "2026-01-01T00:00:00Z", []string{"2026-01-02T07:30:00+08:00"}},
		"Los Angeles in winter":         {"30 7 * * *", "America/Los_Angeles", "2026-01-01T00:00:00Z", []string{"2026-01-01T07:30:00-08:00"}},
		"Los Angeles in summer":         {"30 7 * * *", "America/Los_Angeles", "2026-07-01T00:00:00Z", []string{"2026-07-01T07:30:00-07:00"}},
		"the 13th or a Friday": {"0 0 13 * 5", "Etc/UTC", "2026-05-08T00:00:00Z",
			[]string{"2026-05-13T00:00:00Z", "2026-05-15T00:00:00Z"}},

		"skipped": {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		"skipped, and shown just after": {"0,30 2-3 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00"}},
		"shown twice": {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		"asked between the two":    {"30 1 * * *", "America/New_York", "2026-11-01T01:45:00-04:00", []string{"2026-11-02T01:30:00-05:00"}},
		"asked in the second pass": {"30 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00", []string{"2026-11-02T01:30:00-05:00"}},
		"hourly over the repetition": {"0 * * * *", "America/New_York", "2026-11-01T00:30:00-04:00",
			[]string{"2026-11-01T01:00:00-04:00", "2026-11-01T02:00:00-05:00"}},
		"each minute over it": {"* * * * *", "America/New_York", "2026-11-01T01:58:00-04:00",
			[]string{"2026-11-01T01:59:00-04:00", "2026-11-01T02:00:00-05:00"}},
		"midnight skipped": {"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z",
			[]string{"2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"}},
		"midnight of the week skipped": {"0 0 * * 5", "Africa/Cairo", "2026-04-23T12:00:00Z", []string{"2026-04-24T01:00:00+03:00"}},
		"midnight shown twice": {"0 0 * * *", "America/Havana", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"}},
		"half an hour back": {"0 3 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-05T03:00:00+10:30"}},
		"half an hour shown twice": {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		"half an hour skipped": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-04T02:30:00+11:00"}},
		"a day skipped": {"30 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00-10:00",
			[]string{"2011-12-29T12:30:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:30:00+14:00"}},
		"a date shown twice": {"30 12 * * *", "Pacific/Kwajalein", "1969-09-29T12:00:00+11:00",
			[]string{"1969-09-29T12:30:00+11:00", "1969-09-30T12:30:00+11:00", "1969-10-01T12:30:00-12:00"}},
		"New Year after a leap year": {"30 12 31 12 *", "Europe/Berlin", "2028-12-31T00:00:00Z",
			[]string{"2028-12-31T12:30:00+01:00", "2029-12-31T12:30:00+01:00"}},
		"the night after a leap year": {"30 0 * * *", "America/New_York", "2036-12-31T06:00:00Z", []string{"2037-01-01T00:30:00-05:00"}},
		"leap days": {"0 0 29 2 *", "Etc/UTC", "2026-01-01T00:00:00Z",
			[]string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		"leap days over 2100": {"0 0 29 2 *", "Etc/UTC", "2096-02-29T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		"an offset with seconds": {"0 12 * * *", "Africa/Monrovia", "1972-01-06T00:00:00Z",
			[]string{"1972-01-06T12:44:30Z", "1972-01-07T12:00:00Z"}},
		"skipped to the second": {"30 0 * * *", "Africa/Monrovia", "1972-01-06T20:00:00Z", []string{"1972-01-07T00:44:30Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			zone := located(t, tc.zone)
			s := parsed(t, tc.expression, zone)
			at := instant(t, tc.after)
			var got, want []string
			for _, text := range tc.want {
				at = s.Next(at)
				got = append(got, at.Format(time.RFC3339Nano))
				want = append(want, instant(t, text).In(zone).Format(time.RFC3339Nano))
			}
			fleettest.Same(t, fmt.Sprintf("Next of %q in %s after %s", tc.expression, tc.zone, tc.after), want, got)
		})
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func BenchmarkNext(b *testing.B) {
	for name, expression := range map[string]string{"daily": "30 8 * * *", "minutely": "* * * * *", "weekdays": "0 9 * * 1-5",
		"leap days": "0 0 29 2 *"} {
		for _, zone := range []string{"Etc/UTC", "America/New_York"} {
			b.Run(name+"/"+zone, func(b *testing.B) {
				s := parsed(b, expression, located(b, zone))
				at := instant(b, "2026-05-04T09:04:00Z")
				b.ReportAllocs()
				for b.Loop() {
					s.Next(at)
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parsed(b, "30 8 * * 1-5", time.UTC)
	}
}

func BenchmarkLoadZone(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := LoadZone("America/New_York"); err != nil {
			b.Fatal(err)
		}
	}
}
