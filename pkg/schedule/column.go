// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// column is one of the five fields of an expression.
type column struct {
	name     string
	min, max int
	pattern  string // an expression with %s in the place of the field
	names    string // what may be written instead of numbers; may be empty
}

func columns() []column {
	return []column{
		{name: "minute", max: 59, pattern: "%s * * * *"},
		{name: "hour", max: 23, pattern: "* %s * * *"},
		{name: "day of month", min: 1, max: 31, pattern: "* * %s * *"},
		{name: "month", min: 1, max: 12, pattern: "* * * %s *", names: " or jan to dec"},
		{name: "day of week", max: 6, pattern: "* * * * %s", names: " or sun to sat"},
	}
}

// fault returns what is wrong with a field and what to write instead, or "".
func (c column) fault(field string) string {
	for item := range strings.SplitSeq(field, ",") {
		if fault := c.itemFault(item); fault != "" {
			return fault
		}
	}
	return ""
}

// itemFault judges one item of a comma-separated list. The library would pass
// over an empty item, and over whatever follows "*-".
func (c column) itemFault(item string) string {
	switch {
	case item == "":
		return "there is an empty item: take a comma out"
	case strings.HasPrefix(item, "*-") || strings.HasPrefix(item, "?-"):
		return "a range begins with a number: write * for all, or the first number"
	case c.takes(item):
		return ""
	}
	span, step, stepped := strings.Cut(item, "/")
	switch {
	case stepped && c.takes(span):
		return fmt.Sprintf("the step %q must be a number of 1 or more, such as */2", step)
	case strings.Contains(span, "-") && stepped && c.turns(span):
		return "a range cannot run past its end: write its values as a list"
	case strings.Contains(span, "-"):
		return c.spanFault(span)
	}
	return c.valueFault(span)
}

func (c column) takes(item string) bool {
	_, ok := read(fmt.Sprintf(c.pattern, item))
	return ok
}

// spanFault is for a range that the library refused.
func (c column) spanFault(span string) string {
	first, last, _ := strings.Cut(span, "-")
	from, isNumber := c.number(first)
	to, isNumberToo := c.number(last)
	switch {
	case !isNumber:
		return c.valueFault(first)
	case isNumberToo && c.isSunday(to) && from <= c.max:
		return fmt.Sprintf("0 is Sunday, and 7 is not known: write %s,0", written(max(from, 1), c.max))
	case !isNumberToo || !c.takes(last):
		return c.valueFault(last)
	case !c.takes(first):
		return c.valueFault(first)
	}
	return fmt.Sprintf("a range cannot run past its end: write %s,%s", written(from, c.max), written(c.min, to))
}

// turns reports whether both ends of a refused range are sound, or Sunday as 7.
// Cut in two, such a range would begin its step again.
func (c column) turns(span string) bool {
	first, last, _ := strings.Cut(span, "-")
	to, _ := c.number(last)
	return c.takes(first) && (c.takes(last) || c.isSunday(to))
}

func written(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

// valueFault is for a single value that the library refused.
func (c column) valueFault(value string) string {
	number, isNumber := c.number(value)
	switch {
	case isNumber && c.isSunday(number):
		return "0 is Sunday, and 7 is not known: write 0"
	case isNumber && number == c.max+1 && c.min == 0:
		return fmt.Sprintf("must be %d to %d: write 0 for the beginning of the next one", c.min, c.max)
	case isNumber:
		return fmt.Sprintf("must be %d to %d%s, got %s", c.min, c.max, c.names, value)
	case strings.Contains(value, "#"):
		return "the nth weekday of a month cannot be said: write a day of the week, which comes every week, or days of the month"
	case c.isLast(value):
		return "the last of a month cannot be said: write day of month 28, which every month has, or 1 for the day after the last"
	case c.isNearest(value):
		return "the weekday nearest to a day cannot be said: write a day of the month, or day of week 1-5"
	case len(value) > 3 && c.names != "" && c.takes(value[:3]):
		return fmt.Sprintf("write %s", strings.ToLower(value[:3]))
	}
	return fmt.Sprintf("write a number from %d to %d%s, a range %[1]d-%[2]d, a list of them with commas, a step */2, or * for all", c.min,
		c.max, c.names)
}

func (c column) isSunday(number int) bool { return c.name == "day of week" && number == 7 }

// isLast knows L, 5L and LW, isNearest 15W: what other crons have.
func (c column) isLast(value string) bool {
	return strings.Trim(strings.ToUpper(value), "0123456789") == "L" || strings.EqualFold(value, "LW")
}

func (c column) isNearest(value string) bool {
	return strings.Trim(strings.ToUpper(value), "0123456789") == "W"
}

// number reads a number, or a name that the library knows by asking it which
// number means the same.
func (c column) number(value string) (int, bool) {
	if number, err := strconv.Atoi(value); err == nil {
		return number, true
	}
	named, ok := read(fmt.Sprintf(c.pattern, value))
	for number := c.min; ok && number <= c.max; number++ {
		if same, _ := read(fmt.Sprintf(c.pattern, strconv.Itoa(number))); *same == *named {
			return number, true
		}
	}
	return 0, false
}
