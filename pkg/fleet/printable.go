// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strings"
	"unicode"
)

// Printable returns text of others so that it can stand on a terminal: what is not printable becomes a replacement character, and text
// of more than so many characters ends with an ellipsis.
func Printable(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return strings.Map(printable, text)
}

// PrintableLine is [Printable] in one line: white space becomes single spaces.
func PrintableLine(text string, most int) string {
	return Printable(strings.Join(strings.Fields(text), " "), most)
}

// PrintableLines is text, whose lines and columns are our own, without what else is not printable: newlines and tabs stay.
func PrintableLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, text)
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// Counted is a number with its word, as in "1 cluster" and "2 clusters".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
