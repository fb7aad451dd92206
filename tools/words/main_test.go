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
		"a.go":            "// It can not be\n// read, and cannot be written. Can not?\n",
		"b.md":            "forever is one word\n\nfor ever is two\n",
		"c.bin":           "can not",
		"zz_generated.go": "// can not\n",
		"words/d.go":      "can not",
		".git/e.md":       "can not",
		"sub/Makefile":    "# for ever and ever\n",
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
	err := run(&out, "# a comment\n\ncan not => cannot\nfor ever => forever\n", []string{dir})
	if err == nil || err.Error() != "4 to be replaced" {
		t.Errorf("error %v, want 4 to be replaced", err)
	}
	want := strings.ReplaceAll(`DIR/a.go:1: "can not": write cannot
DIR/a.go:2: "Can not": write cannot
DIR/b.md:3: "for ever": write forever
DIR/sub/Makefile:1: "for ever": write forever
`, "DIR", dir)
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if err := run(&out, "can not => cannot", []string{filepath.Join(dir, "words")}); err == nil {
		t.Error("a folder that is named is skipped")
	}
}

func TestListsThatCannotBeRead(t *testing.T) {
	for _, list := range []string{"can not", "( => x"} {
		if err := run(&strings.Builder{}, list, nil); err == nil {
			t.Errorf("%q is a list", list)
		}
	}
	if _, err := parse(list); err != nil {
		t.Error(err)
	}
}
