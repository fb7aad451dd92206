// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

func TestPrintableLines(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\tb":            "a\n\tb",
		"a\x1b[2J\r\u009bb": "a\ufffd[2J\ufffd\ufffdb",
	} {
		if got := PrintableLines(text); got != want {
			t.Errorf("PrintableLines(%q) = %q, want %q", text, got, want)
		}
	}
	if got := PrintableLine(" a\n\tb\x1bc ", 8); got != "a b\ufffdc" {
		t.Errorf("PrintableLine = %q", got)
	}
}

// What a member says is printable from the moment it is classified.
func TestDetailsArePrintable(t *testing.T) {
	const said = "no\x1b[2J\nwest joined"
	for name, err := range map[string]error{
		"its answer":    apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New(said)),
		"our own words": Silencef(ReasonBadAnswer, "%s", said),
		"many":          errors.New(strings.Repeat("\x1b", 2*mostDetail)),
	} {
		silence, _ := Classify(fmt.Errorf("east: %w", err))
		if PrintableLines(silence.Detail) != silence.Detail || len(silence.Detail) > mostDetail+len("…") {
			t.Errorf("%s: detail %q of %d bytes", name, silence.Detail, len(silence.Detail))
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
