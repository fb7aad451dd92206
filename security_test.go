// SPDX-License-Identifier: Apache-2.0

package fleetscale

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every promise of docs/security.md names tests, and these exist.
func TestSecurityPageNamesTests(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		found := holders(line)
		named += len(found)
		for _, missing := range absent(t, found) {
			t.Errorf("there is no %s", missing)
		}
		if len(cells) == 5 && !regexp.MustCompile(`held by|^[\s-]*$`).MatchString(cells[3]) && promises(string(text), line) && len(found) == 0 {
			t.Errorf("nothing holds this: %s", line)
		}
	}
	if named < 15 {
		t.Errorf("%d tests are named: is the page read as it is written?", named)
	}
}

// A tag can be moved to another commit, a hash cannot.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(".github/workflows/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d workflows, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		uses := regexp.MustCompile(`(?m)uses:.*$`).FindAllString(string(text), -1)
		if len(uses) < 2 {
			t.Fatalf("%s uses %d actions: is the file read as it is written?", file, len(uses))
		}
		for _, line := range uses {
			if !regexp.MustCompile(`^uses: [\w./-]+@[0-9a-f]{40} # v[0-9.]+$`).MatchString(line) {
				t.Errorf("%s: not pinned by a commit, with its tag in a comment: %s", file, line)
			}
		}
	}
}

// holder is a test, and the folder of its package.
type holder struct{ test, folder string }

func (h holder) String() string { return h.test + " in " + h.folder }

// holders are the tests that a line names: `TestA`, `TestB` (pkg/x), `TestC` (test/y).
func holders(line string) (all []holder) {
	group := regexp.MustCompile("((?:`(?:Test|Fuzz)\\w+`,? ?)+)\\(((?:pkg|test|cmd)/[\\w/]+|\\.)\\)")
	name := regexp.MustCompile(`(?:Test|Fuzz)\w+`)
	for _, g := range group.FindAllStringSubmatch(line, -1) {
		for _, test := range name.FindAllString(g[1], -1) {
			all = append(all, holder{test, g[2]})
		}
	}
	return all
}

func absent(t *testing.T, all []holder) (missing []holder) {
	t.Helper()
	for _, h := range all {
		files, err := filepath.Glob(filepath.Join(h.folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(code), "\nfunc "+h.test+"(")
		}
		if !found {
			missing = append(missing, h)
		}
	}
	return missing
}

// promises reports whether a line is below a heading of a table whose last column says what holds it.
func promises(text, line string) bool {
	before := text[:strings.Index(text, line)]
	return strings.LastIndex(before, "| held by |") > strings.LastIndex(before, "\n\n")
}
