// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// wrongCount is the answer to more or fewer than five fields. Other crons have
// seconds before the five and a year behind them.
func wrongCount(fields []string) error {
	var extra, cut string
	switch n := len(fields); {
	case n == 6 && isYear(fields[5]):
		extra, cut = "a year", strings.Join(fields[:5], " ")
	case n == 6:
		extra, cut = "seconds", strings.Join(fields[1:], " ")
	case n == 7:
		extra, cut = "seconds or a year", strings.Join(fields[1:6], " ")
	}
	if _, err := parse(cut); err != nil {
		return fmt.Errorf("must have five fields, %s, got %d: write, for example, %s", layout, len(fields), example)
	}
	return fmt.Errorf("must have five fields, %s, got %d: there is no place for %s, write %q", layout, len(fields), extra, cut)
}

func isYear(field string) bool {
	year, err := strconv.Atoi(field)
	return err == nil && year >= 1970
}
