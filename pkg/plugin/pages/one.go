// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

//go:embed files replay.html
var embedded embed.FS

// Files are what a browser loads of the dashboard.
func Files() fs.FS {
	below, err := fs.Sub(embedded, "files")
	if err != nil {
		panic("files/ is embedded: " + err.Error())
	}
	return below
}

// Page is one that is a file by itself.
type Page struct {
	// Of is the name of its HTML: index or replay.
	Of string
	// Data is what it shows.
	Data any
	// Title, Picture (an SVG) and Text are there for who runs no scripts, if the page has a place for them.
	Title, Picture, Text string
}

var (
	styleLink  = regexp.MustCompile(`<link rel="stylesheet" href="style\.css">`)
	scriptLink = regexp.MustCompile(`<script type="module" src="([a-z]+\.js)"></script>`)
	iconLink   = regexp.MustCompile(`<link rel="icon"[^>]*>`)
	stillPlace = regexp.MustCompile(`<!-- still -->`)
	titlePlace = regexp.MustCompile(`<!-- title -->`)
	importLine = regexp.MustCompile(`(?m)^import \{[^}]*\} from "\./([a-z]+\.js)";\n`)
	exported   = regexp.MustCompile(`(?m)^export `)
)

// OneFile is the page as one file: what it loads stands in it, and so does what it shows.
func (p Page) OneFile() ([]byte, error) {
	markup, err := p.markup()
	if err != nil {
		return nil, err
	}
	style, err := fs.ReadFile(Files(), "style.css")
	if err != nil {
		return nil, err
	}
	entry := scriptLink.FindSubmatch(markup)
	if entry == nil {
		return nil, errors.New(p.Of + ".html has no script")
	}
	script, err := bundle(Files(), string(entry[1]))
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(p.Data) // which writes < as an escape, so that no text ends the element
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; `+
		`img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`, digest(script),
		digest(style))
	for _, change := range []struct {
		of *regexp.Regexp
		to []byte
	}{
		{iconLink, []byte(head)},
		{styleLink, slices.Concat([]byte("<style>"), style, []byte("</style>"))},
		{scriptLink, slices.Concat([]byte(`<script type="application/json" id="data">`), value,
			[]byte("</script>\n<script type=\"module\">"), script, []byte("</script>"))},
	} {
		if !change.of.Match(markup) {
			return nil, fmt.Errorf("%s.html has no %s", p.Of, change.of)
		}
		markup = change.of.ReplaceAllLiteral(markup, change.to)
	}
	return markup, nil
}

// markup is the HTML, with what is there without scripts.
func (p Page) markup() ([]byte, error) {
	text, err := fs.ReadFile(embedded, p.Of+".html")
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(Files(), p.Of+".html")
	}
	if err != nil {
		return nil, err
	}
	still := fmt.Sprintf(`<h1>%s</h1><p><img class="still" alt="%s" src="data:image/svg+xml;base64,%s"></p><pre>%s</pre>`,
		html.EscapeString(p.Title), html.EscapeString(p.Title), base64.StdEncoding.EncodeToString([]byte(p.Picture)), html.EscapeString(p.Text))
	text = titlePlace.ReplaceAllLiteral(text, []byte(html.EscapeString(p.Title)))
	return stillPlace.ReplaceAllLiteral(text, []byte(still)), nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// bundle makes one module of ours of many: those that one imports stand before it, and all share one scope.
func bundle(from fs.FS, entry string) ([]byte, error) {
	var out bytes.Buffer
	done := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		text, err := fs.ReadFile(from, path.Clean(name))
		if err != nil {
			return err
		}
		for _, imported := range importLine.FindAllSubmatch(text, -1) {
			if err := add(string(imported[1])); err != nil {
				return err
			}
		}
		out.Write(exported.ReplaceAll(importLine.ReplaceAll(text, nil), nil))
		return nil
	}
	err := add(entry)
	return out.Bytes(), err
}
