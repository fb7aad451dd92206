// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"unicode"
)

// Printable returns text of others so that it can stand on a terminal: what is not printable becomes a replacement character, and text
// of more than so many characters ends with an ellipsis.
func Printable(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
