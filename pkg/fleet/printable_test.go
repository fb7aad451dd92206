// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"v1.36.2":              "v1.36.2",
		"12345678":             "12345678",
		"123456789":            "1234567…",
		"\x1b[31m":             "\ufffd[31m",
		"a\nb\tc":              "a\ufffdb\ufffdc",
		"\xff":                 "\ufffd",
		"\u202eabc":            "\ufffdabc",
		"ÄÖÜäöüß€":             "ÄÖÜäöüß€",
		"\x00\x00\x00\x00\x00": "\ufffd\ufffd\ufffd\ufffd\ufffd",
	} {
		if got := Printable(text, 8); got != want {
			t.Errorf("Printable(%q, 8) = %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("v1.36.2", uint8(3))
	f.Add("\x1b]0;title\x07", uint8(200))
	f.Fuzz(func(t *testing.T, text string, most uint8) {
		limit := int(most) + 1
		got := Printable(text, limit)
		if utf8.RuneCountInString(got) > limit {
			t.Errorf("%d characters, want at most %d", utf8.RuneCountInString(got), limit)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q has %U", got, r)
			}
		}
		if again := Printable(got, limit); again != got {
			t.Errorf("a second time %q becomes %q", got, again)
		}
	})
}
