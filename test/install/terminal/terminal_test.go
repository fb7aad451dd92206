// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var draw = flag.Bool("draw", false, "draw the pictures of the documentation again from their recordings")

// The pictures of the documentation are those of their recordings, which TestQuickstart holds to what the commands print.
func TestPicturesAreOfTheirRecordings(t *testing.T) {
	const picture, recording = "../../../docs/pictures/quickstart.svg", "../../../docs/pictures/quickstart.cast"
	cast, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(cast)
	if err != nil {
		t.Fatal(err)
	}
	svg := r.SVG()
	if *draw {
		if err := os.WriteFile(picture, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(svg, string(drawn)); diff != "" {
		t.Errorf("run go -C test test ./install/terminal -args -draw: %s is another picture (-want +got):\n%s", picture, diff)
	}
	const most = 100_000
	if len(drawn) > most {
		t.Errorf("the picture has %d bytes, want %d at most", len(drawn), most)
	}
	again, err := r.Cast()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(cast), string(again)); diff != "" {
		t.Errorf("the recording was not made by this program (-file +made):\n%s", diff)
	}
}

// hostile has what a terminal wraps, what XML escapes, and what HTML would.
var hostile = Recording{Title: "<T> & co", Steps: []Step{
	{Command: "cat <a>", Output: "A   B\n\n  1 & 2 — 3\n"},
	{Command: "say", Output: "Warning: west is silent\n" + strings.Repeat("é", Columns) + "rest\n" + strings.Repeat("x", Columns) + "\n"},
	{Command: "true", Output: ""},
}}

func TestRecordingIsReadAsItWasWritten(t *testing.T) {
	cast, err := hostile.Cast()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":2,"width":124,"height":10,"title":"<T> & co"}
[0,"o","$ cat <a>\r\n"]
[0.5,"o","A   B\r\n\r\n  1 & 2 — 3\r\n"]
[2.5,"o","$ say\r\n"]
`
	if !strings.HasPrefix(string(cast), want) {
		t.Errorf("it is\n%s, want\n%s...", cast, want)
	}
	got, err := Read(cast)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hostile, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for _, wrong := range []string{
		"", `{}[0,"o","$ ls"]`, `{}[0,"i","$ ls"][1,"o",""]`, `{}[0,"o","ls"][1,"o",""]`, `{}[0,"o",1][0,"o",""]`,
	} {
		if r, err := Read([]byte(wrong)); err == nil {
			t.Errorf("%q is read as %v", wrong, r)
		}
	}
}

// Every row is there, within the picture, below the former one; and it is XML.
func TestPictureHasEveryRow(t *testing.T) {
	decoder := xml.NewDecoder(strings.NewReader(hostile.SVG()))
	var rows, classes []string
	var height, last int
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "svg":
			height = number(t, attribute(start, "height"))
		case "text":
			if y := number(t, attribute(start, "y")); y < last+row || y > height-margin/2 {
				t.Errorf("a row is at %d, after %d, of %d", y, last, height)
			} else {
				last = y
			}
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			rows, classes = append(rows, text), append(classes, attribute(start, "class"))
		}
	}
	want := []string{
		"$ cat <a>", "A   B", "  1 & 2 — 3", "$ say", "Warning: west is silent", strings.Repeat("é", Columns), "rest",
		strings.Repeat("x", Columns), "$ true",
	}
	fleettest.Same(t, "the rows", want, rows)
	fleettest.Same(t, "their classes", []string{"command", "", "", "command", "warning", "", "", "", "command"}, classes)
}

func attribute(of xml.StartElement, name string) string {
	for _, a := range of.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is written can be read in the light and in the dark, also by people who need more contrast than others: 7 is level AAA of
// https://www.w3.org/TR/WCAG22/#contrast-enhanced.
func TestColoursCanBeRead(t *testing.T) {
	for name, c := range map[string]colours{"light": light, "dark": dark} {
		for what, colour := range map[string]string{"text": c.text, "command": c.command, "warning": c.warning} {
			lighter, darker := luminance(t, colour), luminance(t, c.ground)
			if contrast := (max(lighter, darker) + 0.05) / (min(lighter, darker) + 0.05); contrast < 7 {
				t.Errorf("%s: the contrast of the %s is %.1f, want 7", name, what, contrast)
			}
			if !strings.Contains(hostile.SVG(), colour) {
				t.Errorf("%s: no %s is %s", name, what, colour)
			}
		}
	}
}

// luminance is the relative one of #rrggbb.
func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		part := float64(n) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}
