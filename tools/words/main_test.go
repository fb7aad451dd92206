// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go":            "// It waits whilst\n// others read, and while they write. Whilst?\n",
		"b.md":            "hence is one word\n\nfrom hence is two\n",
		"c.bin":           "whilst",
		"zz_generated.go": "// whilst\n",
		"words/d.go":      "whilst",
		".git/e.md":       "whilst",
		"sub/Makefile":    "# from hence on\n",
		"sub/cannot.go":   "// american nothing\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	err := run(&out, "# a comment\n\nwhilst => while\nfrom hence => from here\n", []string{dir})
	if err == nil || err.Error() != "4 to be replaced" {
		t.Errorf("error %v, want 4 to be replaced", err)
	}
	want := strings.ReplaceAll(`DIR/a.go:1: "whilst": write while
DIR/a.go:2: "Whilst": write while
DIR/b.md:3: "from hence": write from here
DIR/sub/Makefile:1: "from hence": write from here
`, "DIR", dir)
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if err := run(&out, "whilst => while", []string{filepath.Join(dir, "words")}); err == nil {
		t.Error("a folder that is named is skipped")
	}
}

func TestListsThatCannotBeRead(t *testing.T) {
	for _, list := range []string{"whilst", "( => x"} {
		if err := run(&strings.Builder{}, list, nil); err == nil {
			t.Errorf("%q is a list", list)
		}
	}
	if _, err := parse(list); err != nil {
		t.Error(err)
	}
}
