// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a module of one package; its tests check one of two functions.
func fixture(t *testing.T, test string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/p\n\ngo 1.26\n",
		"p.go": `package p

func checked(a, b int) bool { return a < b }

func unchecked(a bool) bool { return !a }

func typed() (err int) {
	switch a := any(err).(type) {
	case int:
		return a
	}
	return err
}

func ends(n int) (last int) {
	for n > 0 {
		n--
		last = n
	}
	return last
}
`,
		"p_test.go": test,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const someTests = `package p

import "testing"

func Test(t *testing.T) {
	if !checked(1, 2) || checked(2, 2) || checked(2, 1) || ends(2) != 0 || typed() != 0 {
		t.Fatal()
	}
}
`

func TestRun(t *testing.T) {
	dir := fixture(t, someTests)
	told := &strings.Builder{}
	err := run(t.Context(), []string{"-C", dir, "-seed", "7", "-timeout", "2s", "-survivors", "0", "."}, told)
	if err == nil || !strings.HasSuffix(err.Error(), "mutants survive, more than 0: write tests that they break") {
		t.Errorf("error %v", err)
	}
	lines := strings.Split(strings.TrimSpace(told.String()), "\n")
	for _, want := range []string{
		"killed            p.go:3  func checked(a, b int) bool { return a [-<-]{+<=+} b }",
		"survived          p.go:5  func unchecked(a bool) bool { return [-!-]a }",
		"does not compile  p.go:9  [-case int: …-]",
		"timed out         p.go:17  [-n---]",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("not told: %s\nbut\n%s", want, told)
		}
	}
	if lines[0] != "18 of 18 mutants, seed 7" || !strings.HasSuffix(told.String(), "% of those that compile are found (seed 7)\n") {
		t.Errorf("begins or ends with something else:\n%s", told)
	}
	again := &strings.Builder{}
	if err := run(t.Context(), []string{"-C", dir, "-seed", "7", "-n", "2", "-timeout", "2s", "."}, again); err != nil {
		t.Error(err)
	}
	if drawn := strings.Split(again.String(), "\n"); !slices.Equal(drawn[1:3], lines[1:3]) {
		t.Errorf("the same seed draws otherwise: %s", again)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "p_test.go")); err != nil || string(text) != someTests {
		t.Errorf("the tree has changed: %v", err)
	}
}

func TestNoJudge(t *testing.T) {
	for test, want := range map[string]string{
		"package p\n": "has no tests",
		"package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { t.Fatal() }\n": "without any mutant",
	} {
		dir := fixture(t, test)
		if want == "has no tests" {
			if err := os.Remove(filepath.Join(dir, "p_test.go")); err != nil {
				t.Fatal(err)
			}
		}
		if err := run(t.Context(), []string{"-C", dir, "."}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// What the tests of a package miss, those above it may find.
func TestThePackageAbove(t *testing.T) {
	dir := fixture(t, someTests)
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(below, "below.go"): "package below\n\nfunc Less(a, b int) bool { return a < b }\n",
		filepath.Join(dir, "uses.go"):    "package p\n\nimport \"example.org/p/below\"\n\nfunc less(a int) bool { return below.Less(a, a) }\n",
		filepath.Join(dir, "uses_test.go"): `package p

import "testing"

func TestLess(t *testing.T) {
	if less(1) {
		t.Fatal()
	}
}
`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := &strings.Builder{}
	if err := run(t.Context(), []string{"-C", dir, "-seed", "7", "-timeout", "2s", "./below"}, told); err != nil {
		t.Fatal(err)
	}
	want := "killed            below/below.go:3  func Less(a, b int) bool { return a [-<-]{+<=+} b }"
	if !strings.Contains(told.String(), want) {
		t.Errorf("not told: %s\nbut\n%s", want, told)
	}
}
