// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robfig/cron/v3"
)

// maxLength is more than any schedule that a person wrote, in characters.
const maxLength = 100

const (
	layout  = "minute hour day-of-month month day-of-week"
	example = `"30 8 * * *" for 08:30 every day`
	presets = "@hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually"
)

// anyDay is set by the cron library in a day field that leaves the choice to
// the other one: * or ?.
const anyDay = 1 << 63

// Schedule is a cron expression in a time zone. It is made by [Parse], is not
// changed by its methods, and may be shared.
type Schedule struct {
	cron *cron.SpecSchedule // asked with the wall clock of zone, written as if in UTC
	zone *time.Location
}

// Parse reads five cron fields (minute, hour, day of month, month, day of
// week) or a preset such as @daily. A schedule that is accepted never stops
// running. The error is one line for the person who wrote it: every fault, each
// with what to write instead, but not the expression itself.
func Parse(expression string, zone *time.Location) (Schedule, error) {
	spec, err := parse(expression)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{cron: spec, zone: zone}
	// Every date there is comes up within eight years of any other, and the library searches five with this leap year.
	if s.cron.Next(epoch()).IsZero() {
		return Schedule{}, errors.New(
			"never runs, for no month it names has that day: write a day from 1 to 28, which every month has, or name other months")
	}
	return s, nil
}

// EitherDay reports whether both days are restricted, the day of the month and the
// day of the week. Cron then runs on days that match either, which few expect.
func (s Schedule) EitherDay() bool {
	return s.cron.Dom&anyDay == 0 && s.cron.Dow&anyDay == 0
}

func parse(expression string) (*cron.SpecSchedule, error) {
	fields := strings.Fields(expression)
	switch length := utf8.RuneCountInString(expression); {
	case length > maxLength:
		return nil, fmt.Errorf("must be at most %d characters, got %d", maxLength, length)
	case len(fields) == 0:
		return nil, fmt.Errorf("must not be empty: write five fields, %s, such as %s", layout, example)
	case strings.Contains(expression, "TZ="):
		return nil, zoneInside(fields)
	case strings.HasPrefix(fields[0], "@"):
		return parsePreset(fields)
	case len(fields) != len(columns()):
		return nil, wrongCount(fields)
	}
	return parseFields(fields)
}

func parsePreset(fields []string) (*cron.SpecSchedule, error) {
	name := fields[0]
	switch {
	case strings.EqualFold(name, "@every"):
		return nil, errors.New(`@every counts from the controller's start and shifts with each restart: write minutes of the clock, such as "*/15 * * * *" or "0 */2 * * *"`)
	case strings.EqualFold(name, "@reboot"):
		return nil, fmt.Errorf("@reboot is no time: write five fields, %s, such as %s", layout, example)
	}
	if spec, ok := read(strings.Join(fields, " ")); ok {
		return spec, nil
	}
	return nil, fmt.Errorf("%q is not known: write %s, or five fields, %s, such as %s", strings.Join(fields, " "), presets, layout, example)
}

// parseFields gives each field to the library alone, so that every fault is
// found and known by its field.
func parseFields(fields []string) (*cron.SpecSchedule, error) {
	var faults []string
	for i, column := range columns() {
		if fault := column.fault(fields[i]); fault != "" {
			faults = append(faults, fmt.Sprintf("%s %q: %s", column.name, fields[i], fault))
		}
	}
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	spec, ok := read(strings.Join(fields, " "))
	if !ok {
		return nil, fmt.Errorf("write five fields, %s, such as %s", layout, example)
	}
	return spec, nil
}

// read asks the library. Its own errors name neither the field nor a way out.
func read(expression string) (*cron.SpecSchedule, bool) {
	parsed, err := cron.ParseStandard(expression)
	spec, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil, false
	}
	return spec, true
}

func zoneInside(fields []string) error {
	_, zone, _ := strings.Cut(fields[0], "TZ=")
	rest := strings.Join(fields[1:], " ")
	if _, err := parse(rest); zone == "" || err != nil {
		return fmt.Errorf("a zone has a field of its own: write only %s here, and the zone in timeZone", layout)
	}
	return fmt.Errorf("a zone has a field of its own: write %q here, and %q in timeZone", rest, zone)
}

// Equal reports whether both are written for the same minutes of the same zone,
// however they are spelled.
func (s Schedule) Equal(other Schedule) bool {
	a, b := s.cron, other.cron
	return s.zone.String() == other.zone.String() &&
		a.Minute == b.Minute && a.Hour == b.Hour && a.Dom == b.Dom && a.Month == b.Month && a.Dow == b.Dow
}
