// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// FuzzParse holds Parse to the library: what it accepts the library accepts
// too, and runs; what it refuses the library refuses too, except for the named
// reasons.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"30 8 * * *", "@daily", "@every -5m", "@reboot", "TZ=UTC * * * * *", "CRON_TZ=Asia/Tokyo", "TZ=", "0 0 31 2 *", "0 0 29 2 *", ", * * * *",
		"1,,2 * * * *",
		"*-5 * * * *", "*/0 * * * *", "*/99999999999999999999 * * * *", "0/9223372036854775807 * * * *", "0 0 * * 7", "0 0 L * *", "0 22-2 * * *",
		"? ? ? ? ?", "0 0 * * mon-sun",
		"0 0 ſun * *", "0 0 * * ſun", "0 0 * jan-ſep *", "0 0 * * \xffab", "\x00", "+5 * * * *", "0 0 1 */1 5", "* * * * * *", "0 0 * * fri-7/2",
		"@daily,@daily * * * *",
	} {
		f.Add(seed, int64(1_777_777_777))
	}
	for seed := range uint64(500) {
		f.Add(mangled(rand.New(rand.NewPCG(seed, 0))), int64(seed)*10_000_000)
	}
	f.Fuzz(func(t *testing.T, expression string, unix int64) {
		s, err := Parse(expression, time.UTC)
		if err != nil {
			checkRefusal(t, expression, err)
			return
		}
		if _, err := cron.ParseStandard(strings.TrimSpace(expression)); err != nil {
			t.Errorf("Parse(%q) accepts what the library refuses: %v", expression, err)
		}
		after := time.Unix(unix%(1<<36), 0) // from the year -208 to 4147
		next := s.Next(after)
		if !next.After(after) || next.Sub(after) > (8*366)*day || next.Second() != 0 {
			t.Errorf("Next of %q after %s is %s", expression, after, next)
		}
		if period := s.Period(); period < time.Minute || period%time.Minute != 0 {
			t.Errorf("Period of %q is %s", expression, period)
		}
	})
}

func checkRefusal(t *testing.T, expression string, refusal error) {
	t.Helper()
	if text := refusal.Error(); text == "" || strings.ContainsAny(text, "\n\t") {
		t.Errorf("Parse(%q) error %q is not one line", expression, text)
	}
	for _, ours := range []string{"100 characters", "zone has a field", "@every", "never runs", "empty item", "a range begins"} {
		if strings.Contains(refusal.Error(), ours) {
			return
		}
	}
	if _, err := cron.ParseStandard(expression); err == nil {
		t.Errorf("Parse(%q) refuses what the library accepts: %v", expression, refusal)
	}
}

// mangled is an expression of random parts, about as often good as bad.
func mangled(r *rand.Rand) string {
	parts := []string{"*", "?", "0", "1", "7", "5-7", "22-2", "*/15", "1-5/2", "mon", "Jan", "L", "15W", "5#2", "31", "60", "1,15", "30", "2",
		"", "-", "*/0"}
	fields := make([]string, 5)
	for i := range fields {
		fields[i] = parts[r.IntN(4)]
		if r.IntN(8) == 0 {
			fields[i] = parts[r.IntN(len(parts))]
		}
		if r.IntN(10) == 0 {
			fields[i] += [...]string{",", "/", "-", " "}[r.IntN(4)] + parts[r.IntN(len(parts))]
		}
	}
	return strings.Join(fields, " ")
}

// FuzzNext holds Next to the walk, for random rules, zones and moments.
func FuzzNext(f *testing.F) {
	for seed := range fleettest.Rounds(500, 5) {
		f.Add(seed)
	}
	names := []string{
		"Africa/Cairo", "Africa/Casablanca", "America/Havana", "America/New_York", "America/Sao_Paulo", "Antarctica/Troll", "Asia/Gaza",
		"Asia/Kolkata", "Asia/Pyongyang",
		"Asia/Tehran", "Australia/Lord_Howe", "Europe/Dublin", "Europe/London", "Europe/Volgograd", "Pacific/Apia", "Pacific/Chatham",
		"Pacific/Kiritimati", "Pacific/Kwajalein",
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		zone := located(t, names[r.IntN(len(names))])
		from := nearTransition(zone, time.Unix(100_000_000+r.Int64N(4_000_000_000), 0).Truncate(time.Minute), r)
		checkWalk(t, zone, from, from.Add(5*day), []rule{randomRule(r)})
	})
}

// nearTransition moves at to the days before the next change of the clock, if
// there is one within two years.
func nearTransition(zone *time.Location, at time.Time, r *rand.Rand) time.Time {
	const step = 6 * time.Hour
	for next := at; next.Before(at.Add(2 * 365 * day)); next = next.Add(step) {
		if shown(zone, next.Add(step).Unix())-shown(zone, next.Unix()) != int64(step/time.Second) {
			return next.Add(-time.Duration(r.IntN(2000)) * time.Minute)
		}
	}
	return at
}

func randomRule(r *rand.Rand) rule {
	minute, hour, span := r.IntN(60), r.IntN(24), r.IntN(4)
	weekday, date := time.Weekday(r.IntN(7)), 1+r.IntN(31)
	until := min(hour+span, 23)
	times := func(h, m int) bool { return m == minute && h >= hour && h <= until }
	written := fmt.Sprintf("%d %d-%d", minute, hour, until)
	switch r.IntN(4) {
	case 0:
		return rule{written + " * * *", times, nil}
	case 1:
		return rule{fmt.Sprintf("%s * * %d", written, weekday), times, func(d time.Time) bool { return d.Weekday() == weekday }}
	case 2:
		return rule{fmt.Sprintf("%s %d * *", written, date), times, func(d time.Time) bool { return d.Day() == date }}
	}
	return rule{fmt.Sprintf("%s %d * %d", written, date, weekday), times,
		func(d time.Time) bool { return d.Day() == date || d.Weekday() == weekday }}
}

// FuzzLoadZone holds that a name is known or answered with one line.
func FuzzLoadZone(f *testing.F) {
	for _, seed := range []string{"Asia/Tokyo", "", "Local", "PST", "UTC+8", "+", "GMT", "UTCGMT+1", "right/UTC", "..", "/", "\xff",
		"new york", "ǆ/ß", "Etc/GMT-14", "-", "UTC+99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := LoadZone(name)
		switch {
		case err == nil && zone.String() != name:
			t.Errorf("LoadZone(%q) = %s", name, zone)
		case err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\t")):
			t.Errorf("LoadZone(%q) error %q is not one line", name, err)
		}
	})
}
