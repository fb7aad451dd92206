// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"strings"
)

// Header is the coverage for machines, as the value of [CoverageHeader]:
//
//	answered=east,north;absent=north;silent=west:Timeout;covered=west
//
// A part that is empty is left out; names are in order. Details stay out: they
// are for people. The empty Coverage is the empty string.
func (c Coverage) Header() string {
	var parts []string
	if len(c.Answered) > 0 {
		parts = append(parts, "answered="+strings.Join(c.Answered, ","))
	}
	if len(c.Absent) > 0 {
		parts = append(parts, "absent="+strings.Join(c.Absent, ","))
	}
	if len(c.Silent) > 0 {
		silent := make([]string, 0, len(c.Silent))
		for _, s := range c.Silent {
			silent = append(silent, s.Cluster+":"+string(s.Reason))
		}
		parts = append(parts, "silent="+strings.Join(silent, ","))
	}
	if len(c.Drained) > 0 {
		parts = append(parts, "drained="+strings.Join(c.Drained, ","))
	}
	if len(c.Covered) > 0 {
		parts = append(parts, "covered="+strings.Join(c.Covered, ","))
	}
	return strings.Join(parts, ";")
}

// ParseCoverage reads what [Coverage.Header] wrote. Anything else is an error:
// an answer whose coverage cannot be read must not be taken for a whole one.
func ParseCoverage(header string) (Coverage, error) {
	var c Coverage
	if header == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(header, ";") {
		key, list, _ := strings.Cut(part, "=")
		names := strings.Split(list, ",")
		if slices.Contains(names, "") {
			return Coverage{}, fmt.Errorf("parsing coverage %q: %q is not of the form key=name,…", header, part)
		}
		if err := c.parsePart(key, names); err != nil {
			return Coverage{}, fmt.Errorf("parsing coverage %q: %w", header, err)
		}
	}
	return c, nil
}

func (c *Coverage) parsePart(key string, names []string) error {
	switch key {
	case "answered":
		c.Answered = names
	case "absent":
		c.Absent = names
	case "covered":
		c.Covered = names
	case "drained":
		c.Drained = names
	case "silent":
		for _, name := range names {
			cluster, reason, _ := strings.Cut(name, ":")
			if cluster == "" || reason == "" {
				return fmt.Errorf("%q is not of the form cluster:Reason", name)
			}
			c.Silent = append(c.Silent, SilentMember{Cluster: cluster, Silence: Silence{Reason: Reason(reason)}})
		}
	default:
		return fmt.Errorf("unknown part %q; known are answered, absent, silent, covered and drained", key)
	}
	return nil
}
