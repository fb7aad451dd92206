// SPDX-License-Identifier: Apache-2.0

package summary

import "testing"

func TestBrief(t *testing.T) {
	for text, want := range map[string]string{
		"short":            "short",
		"a\nb":             "a\nb",
		"exactly ten":      "exactly...",
		"ten is all":       "ten is all",
		"aäääääää":         "aäää...", // cut between characters
		"äääääää":          "äää...",
		"\x1b[2J":          "\ufffd[2J",
		"\x1b\x1b\x1b\x1b": "\ufffd\ufffd...",
	} {
		if got := Brief(text, 10); got != want {
			t.Errorf("Brief(%q, 10) = %q, want %q", text, got, want)
		}
	}
}
