// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var topLevel = regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|const|let|class) (\w+|\w+(?:, \w+)+|\w+ = [^;\n]*, \w+ = .*)`)

// Modules of the page share one scope in a file: no name may stand twice.
func TestModulesCanBeOne(t *testing.T) {
	for entry, least := range map[string]int{"main.js": 40, "replaymain.js": 20} {
		text, err := bundle(Files(), entry)
		if err != nil {
			t.Fatal(err)
		}
		isOne(t, text, least)
	}
}

func isOne(t *testing.T, text []byte, least int) {
	t.Helper()
	seen := map[string]bool{}
	for _, found := range topLevel.FindAllSubmatch(text, -1) {
		name := strings.Fields(string(found[1]))[0]
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
	if len(seen) < least {
		t.Errorf("%d names; is the pattern still right?", len(seen))
	}
	if bytes.Contains(text, []byte("import ")) || bytes.Contains(text, []byte("\nexport ")) {
		t.Error("something is still imported or exported")
	}
}

// Text becomes elements in no way but one.
func TestNoTextBecomesElements(t *testing.T) {
	files, err := filepath.Glob("files/*.js")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function`).Find(text)
		if found != nil {
			t.Errorf("%s uses %s", file, found)
		}
	}
}

// What is there for who runs no scripts is text, too.
func TestWithoutScripts(t *testing.T) {
	const evil = `</pre></title><script>alert(1)</script>`
	text, err := Page{Of: "replay", Title: "cart" + evil, Picture: "<svg>", Text: "as it was" + evil, Data: evil}.OneFile()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "<script"); got != 2 {
		t.Errorf("%d scripts, want 2", got)
	}
	for _, want := range []string{"<title>cart&lt;/pre&gt;", `src="data:image/svg+xml;base64,PHN2Zz4="`, "<pre>as it was&lt;/pre&gt;"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s", want)
		}
	}
	if _, err := (Page{Of: "other"}).OneFile(); err == nil {
		t.Error("there is a page of no file")
	}
}
