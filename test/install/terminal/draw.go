// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes in pixels. Letters of fonts of a fixed width are 0.6 of their size wide, or less.
const (
	letter, row = 8, 18 // of 13px
	margin, gap = 16, 8 // around all, and between a command and what the one before has printed
)

// colours are for the ground, and for what is written on it.
type colours struct{ ground, edge, text, command, warning string }

var (
	light = colours{ground: "#f6f8fa", edge: "#d1d9e0", text: "#1f2328", command: "#0550ae", warning: "#6b4300"}
	dark  = colours{ground: "#0d1117", edge: "#3d444d", text: "#f0f6fc", command: "#79c0ff", warning: "#e3b341"}
)

func (c colours) style() string {
	return fmt.Sprintf(".ground{fill:%s;stroke:%s}text{fill:%s}.command{fill:%s}.warning{fill:%s}",
		c.ground, c.edge, c.text, c.command, c.warning)
}

// style: rows come one command after the other, and stay. Who wants nothing to move sees all of them at once, as does whoever draws
// the picture without a clock.
const style = `text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.command{font-weight:600}` +
	`g{animation:comes .01s linear backwards}@keyframes comes{from{opacity:0}}` +
	`@media (prefers-reduced-motion:reduce){g{animation:none}}`

// SVG is the picture of a recording, for light and for dark pages.
func (r Recording) SVG() string {
	var b strings.Builder
	width, height := 2*margin+letter*Columns, 2*margin+row*r.rows()+gap*(len(r.Steps)-1)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title desc">`+"\n",
		width, height)
	fmt.Fprintf(&b, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n",
		escaped(r.Title), escaped(r.text()))
	fmt.Fprintf(&b, "<style>%s%s@media (prefers-color-scheme:dark){%s}</style>\n", style, light.style(), dark.style())
	fmt.Fprintf(&b, `<rect class="ground" x=".5" y=".5" width="%d" height="%d" rx="6"/>`+"\n", width-1, height-1)
	y := margin - row/4 // of the line on which letters stand
	draw := func(after float64, class string, rows []string) {
		fmt.Fprintf(&b, `<g style="animation-delay:%.1fs">`+"\n", after)
		for _, text := range rows {
			y += row
			if text == "" {
				continue
			}
			of := class
			if strings.HasPrefix(text, "Warning:") {
				of = ` class="warning"`
			}
			fmt.Fprintf(&b, `<text x="%d" y="%d"%s xml:space="preserve">%s</text>`+"\n", margin, y, of, escaped(text))
		}
		b.WriteString("</g>\n")
	}
	for i, s := range r.Steps {
		begun := float64(i) * (answers + reads)
		draw(begun, ` class="command"`, wrapped(prompt+s.Command))
		draw(begun+answers, "", wrapped(s.Output))
		y += gap
	}
	return b.String() + "</svg>\n"
}

// text is for who does not see the picture.
func (r Recording) text() string {
	var commands []string
	for _, s := range r.Steps {
		commands = append(commands, s.Command)
	}
	return "A terminal in which these commands were typed, with what they print: " + strings.Join(commands, "; ") + "."
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
