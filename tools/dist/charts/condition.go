// SPDX-License-Identifier: Apache-2.0

package charts

import "strings"

// condition is one on values, in the words of a template. It always holds if it is empty.
type condition string

func (c condition) and(other condition) condition {
	switch {
	case c == "" || c == other:
		return other
	case other == "":
		return c
	}
	return "and " + c.operand() + " " + other.operand()
}

func (c condition) or(other condition) condition {
	if c == other {
		return c
	}
	if c == "" || other == "" {
		return ""
	}
	return "or " + c.operand() + " " + other.operand()
}

func (c condition) not() condition { return "not " + c.operand() }

func (c condition) operand() condition {
	if strings.Contains(string(c), " ") {
		return "(" + c + ")"
	}
	return c
}
