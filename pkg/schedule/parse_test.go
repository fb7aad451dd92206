// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestParseAccepts(t *testing.T) {
	for name, expression := range map[string]string{
		"every minute":                        "* * * * *",
		"numbers":                             "30 8 1 1 0",
		"the upper bounds":                    "59 23 31 12 6",
		"ranges, lists and steps":             "0-30/10,45 8-18 1,15 */3 1-5",
		"names in any case":                   "0 0 * jan,Feb MON-fri",
		"a question mark for all":             "0 0 ? * 1",
		"a step beyond the range":             "*/90 * * * *",
		"white space around and between":      "  30\t8  * * * ",
		"yearly":                              "@yearly",
		"annually":                            "@annually",
		"monthly":                             "@monthly",
		"weekly":                              "@weekly",
		"daily":                               "@daily",
		"midnight":                            "@midnight",
		"hourly":                              "@hourly",
		"only leap days":                      "0 0 29 2 *",
		"a day that some named months have":   "0 0 31 2,3 *",
		"a day no month has, or any Monday":   "0 0 31 2 1",
		"as long as may be, in characters":    "0 0 * * 1" + strings.Repeat(",1", 45) + " ",
		"as long as may be, with wide spaces": "0 0 * * 1" + strings.Repeat(",1", 45) + "\u3000",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(expression, time.UTC); err != nil {
				t.Errorf("Parse(%q) error = %v, want none", expression, err)
			}
		})
	}
}

func TestParseRefusesAndSaysWhatToWriteInstead(t *testing.T) {
	const (
		five      = `five fields, minute hour day-of-month month day-of-week`
		ask       = `write five fields, minute hour day-of-month month day-of-week, such as "30 8 * * *" for 08:30 every day`
		known     = `write @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually, or five fields, minute hour day-of-month month day-of-week, such as "30 8 * * *" for 08:30 every day`
		minutes   = `write a number from 0 to 59, a range 0-59, a list of them with commas, a step */2, or * for all`
		weekdays  = `write a number from 0 to 6 or sun to sat, a range 0-6, a list of them with commas, a step */2, or * for all`
		sunday    = `0 is Sunday, and 7 is not known: `
		last      = `the last of a month cannot be said: write day of month 28, which every month has, or 1 for the day after the last`
		nearest   = `the weekday nearest to a day cannot be said: write a day of the month, or day of week 1-5`
		nth       = `the nth weekday of a month cannot be said: write a day of the week, which comes every week, or days of the month`
		never     = `never runs, for no month it names has that day: write a day from 1 to 28, which every month has, or name other months`
		ownField  = `a zone has a field of its own: write `
		somewhere = ownField + `only minute hour day-of-month month day-of-week here, and the zone in timeZone`
	)
	for name, tc := range map[string]struct{ expression, want string }{
		"nothing":               {"", `must not be empty: ` + ask},
		"only spaces":           {" \t ", `must not be empty: ` + ask},
		"too long":              {"0 0 * * 1" + strings.Repeat(",1", 46), `must be at most 100 characters, got 101`},
		"TZ":                    {"TZ=Asia/Tokyo 30 8 * * *", ownField + `"30 8 * * *" here, and "Asia/Tokyo" in timeZone`},
		"CRON_TZ":               {"CRON_TZ=Asia/Tokyo 30 8 * * *", ownField + `"30 8 * * *" here, and "Asia/Tokyo" in timeZone`},
		"CRON_TZ and no fields": {"CRON_TZ=Asia/Tokyo", somewhere},
		"TZ before bad fields":  {"TZ=Asia/Tokyo 99 8 * * *", somewhere},
		"TZ of nothing":         {"TZ= 30 8 * * *", somewhere},
		"TZ at the end":         {"30 8 * * * TZ=Asia/Tokyo", somewhere},
		"every": {"@every 1h",
			`@every counts from the controller's start and shifts with each restart: write minutes of the clock, such as "*/15 * * * *" or "0 */2 * * *"`},
		"every in capitals": {"@EVERY 1h",
			`@every counts from the controller's start and shifts with each restart: write minutes of the clock, such as "*/15 * * * *" or "0 */2 * * *"`},
		"reboot":               {"@reboot", `@reboot is no time: ` + ask},
		"an unknown preset":    {"@5minutes", `"@5minutes" is not known: ` + known},
		"a preset in capitals": {"@Daily", `"@Daily" is not known: ` + known},
		"a preset and a field": {"@daily 1", `"@daily 1" is not known: ` + known},
		"a preset in a field":  {"0,@daily * * * *", `minute "0,@daily": ` + minutes},

		"four fields":            {"30 8 * *", `must have ` + five + `, got 4: write, for example, "30 8 * * *" for 08:30 every day`},
		"seconds":                {"0 30 8 * * *", `must have ` + five + `, got 6: there is no place for seconds, write "30 8 * * *"`},
		"a year":                 {"30 8 * * * 2027", `must have ` + five + `, got 6: there is no place for a year, write "30 8 * * *"`},
		"the first of all years": {"30 8 * * * 1970", `must have ` + five + `, got 6: there is no place for a year, write "30 8 * * *"`},
		"seconds and a year": {"0 30 8 * * * 2027",
			`must have ` + five + `, got 7: there is no place for seconds or a year, write "30 8 * * *"`},
		"seconds before bad ones":  {"0 0 0 L * *", `must have ` + five + `, got 6: write, for example, "30 8 * * *" for 08:30 every day`},
		"eight fields":             {"* * * * * * * *", `must have ` + five + `, got 8: write, for example, "30 8 * * *" for 08:30 every day`},
		"seconds, and a Sunday 7":  {"0 0 0 * * 7", `must have ` + five + `, got 6: write, for example, "30 8 * * *" for 08:30 every day`},
		"a number just not a year": {"30 8 * * * 1969", `must have ` + five + `, got 6: write, for example, "30 8 * * *" for 08:30 every day`},

		"Sunday as 7":                 {"0 0 * * 7", `day of week "7": ` + sunday + `write 0`},
		"a range to Sunday":           {"0 0 * * 5-7", `day of week "5-7": ` + sunday + `write 5-6,0`},
		"a named range to Sunday":     {"0 0 * * fri-7", `day of week "fri-7": ` + sunday + `write 5-6,0`},
		"Saturday to Sunday":          {"0 0 * * 6-7", `day of week "6-7": ` + sunday + `write 6,0`},
		"the whole week by two names": {"0 0 * * 0-7", `day of week "0-7": ` + sunday + `write 1-6,0`},
		"7 in another field":          {"0 0 * 13 *", `month "13": must be 1 to 12 or jan to dec, got 13`},
		"the last day":                {"0 0 L * *", `day of month "L": ` + last},
		"the last Friday":             {"0 0 * * 5L", `day of week "5L": ` + last},
		"the last weekday":            {"0 0 LW * *", `day of month "LW": ` + last},
		"before the last day":         {"0 0 L-3 * *", `day of month "L-3": ` + last},
		"the nearest weekday":         {"0 0 15W * *", `day of month "15W": ` + nearest},
		"the second Friday":           {"0 0 * * 5#2", `day of week "5#2": ` + nth},

		"minute 60":               {"60 * * * *", `minute "60": must be 0 to 59: write 0 for the beginning of the next one`},
		"minute 61":               {"61 * * * *", `minute "61": must be 0 to 59, got 61`},
		"hour 24":                 {"0 24 * * *", `hour "24": must be 0 to 23: write 0 for the beginning of the next one`},
		"day 0":                   {"0 0 0 * *", `day of month "0": must be 1 to 31, got 0`},
		"day 32":                  {"0 0 32 * *", `day of month "32": must be 1 to 31, got 32`},
		"weekday 8":               {"0 0 * * 8", `day of week "8": must be 0 to 6 or sun to sat, got 8`},
		"a bad one late in lists": {"0 0,12,24 * * *", `hour "0,12,24": must be 0 to 23: write 0 for the beginning of the next one`},
		"a range from below":      {"0 0 0-5 * *", `day of month "0-5": must be 1 to 31, got 0`},
		"a range to above":        {"0 20-25 * * *", `hour "20-25": must be 0 to 23, got 25`},
		"a range over midnight":   {"0 22-2 * * *", `hour "22-2": a range cannot run past its end: write 22-23,0-2`},
		"a range to midnight":     {"0 23-0 * * *", `hour "23-0": a range cannot run past its end: write 23,0`},
		"a range over a weekend":  {"0 0 * * fri-mon", `day of week "fri-mon": a range cannot run past its end: write 5-6,0-1`},
		"a range from the last":   {"0 0 * * sat-mon", `day of week "sat-mon": a range cannot run past its end: write 6,0-1`},
		"a range to 7 o'clock":    {"0 22-7 * * *", `hour "22-7": a range cannot run past its end: write 22-23,0-7`},
		"a step over midnight":    {"0 22-2/2 * * *", `hour "22-2/2": a range cannot run past its end: write its values as a list`},
		"a step to Sunday":        {"0 0 * * 1-7/2", `day of week "1-7/2": a range cannot run past its end: write its values as a list`},
		"a step from a word":      {"0 0 * * x-7/2", `day of week "x-7/2": ` + weekdays},
		"a word to Sunday":        {"0 0 * * x-7", `day of week "x-7": ` + weekdays},
		"a number with a unit": {"0 012h * * *",
			`hour "012h": write a number from 0 to 23, a range 0-23, a list of them with commas, a step */2, or * for all`},
		"a range over New Year":   {"0 0 * nov-feb *", `month "nov-feb": a range cannot run past its end: write 11-12,1-2`},
		"a range of stars":        {"*-5 * * * *", `minute "*-5": a range begins with a number: write * for all, or the first number`},
		"a range of marks":        {"0 ?-x * * *", `hour "?-x": a range begins with a number: write * for all, or the first number`},
		"a range of three":        {"0-5-9 * * * *", `minute "0-5-9": ` + minutes},
		"a range without end":     {"5- * * * *", `minute "5-": ` + minutes},
		"a negative number":       {"-5 * * * *", `minute "-5": ` + minutes},
		"a step of 0":             {"*/0 * * * *", `minute "*/0": the step "0" must be a number of 1 or more, such as */2`},
		"a step without number":   {"0-30/ * * * *", `minute "0-30/": the step "" must be a number of 1 or more, such as */2`},
		"two steps":               {"*/2/2 * * * *", `minute "*/2/2": the step "2/2" must be a number of 1 or more, such as */2`},
		"a bad range with a step": {"0-60/5 * * * *", `minute "0-60/5": must be 0 to 59: write 0 for the beginning of the next one`},
		"only a comma":            {", * * * *", `minute ",": there is an empty item: take a comma out`},
		"a comma too many":        {"0 8,,9 * * *", `hour "8,,9": there is an empty item: take a comma out`},
		"a word":                  {"banana * * * *", `minute "banana": ` + minutes},
		"a name out of place":     {"mon * * * *", `minute "mon": ` + minutes},
		"an unknown name":         {"0 0 * * mo", `day of week "mo": ` + weekdays},
		"a whole name":            {"0 0 * * Monday", `day of week "Monday": write mon`},
		"a whole name in a range": {"0 0 * * mon-Friday", `day of week "mon-Friday": write fri`},
		"a whole short month":     {"0 0 * July *", `month "July": write jul`},
		"a whole month":           {"0 0 * january *", `month "january": write jan`},
		"all faults at once": {"60 8 L * 7", `minute "60": must be 0 to 59: write 0 for the beginning of the next one; day of month "L": ` +
			last + `; day of week "7": ` + sunday + `write 0`},

		"February 30":            {"0 0 30 2 *", never},
		"February 31":            {"0 0 31 2 *", never},
		"the 31st of short ones": {"0 0 31 4,6,9,11 *", never},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.expression, time.UTC)
			if err == nil || err.Error() != tc.want {
				t.Errorf("Parse(%q) error\n got %v\nwant %s", tc.expression, err, tc.want)
			}
		})
	}
}

func TestEitherDay(t *testing.T) {
	for expression, want := range map[string]bool{
		"0 0 * * *":    false,
		"0 0 13 * *":   false,
		"0 0 * * 5":    false,
		"0 0 ? * 5":    false,
		"0 0 */1 * 5":  false,
		"0 0 13 * 5":   true,
		"0 0 */2 * 5":  true, // a step restricts
		"0 0 1 * */2":  true,
		"@weekly":      false,
		"0 0 1-31 * 5": true, // every day, by either
	} {
		if got := parsed(t, expression, time.UTC).EitherDay(); got != want {
			t.Errorf("EitherDay of %q = %v, want %v", expression, got, want)
		}
	}
}

func TestPeriod(t *testing.T) {
	for expression, want := range map[string]time.Duration{
		"* * * * *":             time.Minute,
		"*/15 * * * *":          15 * time.Minute,
		"*/25 * * * *":          10 * time.Minute, // 50 to 0
		"0 8,20 * * *":          12 * time.Hour,
		"59 23 * * *":           day,
		"0 0 * * 1-5":           day,
		"0 0 1 * *":             28 * day,
		"0 0 1 1 *":             365 * day,
		"0 0 29 2 *":            (4*365 + 1) * day,
		"30 2,3 * * *":          time.Hour,
		"0 0 28 2 *":            365 * day,
		"0 0 29 2,3 *":          29 * day,         // only in a leap year
		"0 0-23/23 31,1 12,1 *": time.Hour,        // New Year, 23:00 to 0:00
		"0,7 12 1 1 *":          7 * time.Minute,  // two runs in a day
		"0 12 1 1 *":            365 * day,        // at noon
		"30 8 * * 1":            7 * day,          // weekly
		"0 9-17 * * *":          time.Hour,        // office hours
		"15,45 10,22 10,20 * *": 30 * time.Minute, // lists of all
		"0 0 1 1,12 *":          31 * day,         // December to January
		"0 0,23 29 2 1":         time.Hour,        // Monday 28 February and the leap day behind it, every 28 years
		"0 3 * * 0,6":           day,              // the weekend
	} {
		for _, zone := range []string{"Etc/UTC", "Australia/Lord_Howe"} {
			if got := parsed(t, expression, located(t, zone)).Period(); got != want {
				t.Errorf("Period of %q in %s = %v, want %v", expression, zone, got, want)
			}
		}
	}
}

func parsed(t testing.TB, expression string, zone *time.Location) Schedule {
	t.Helper()
	s, err := Parse(expression, zone)
	if err != nil {
		t.Fatalf("Parse(%q): %v", expression, err)
	}
	return s
}
