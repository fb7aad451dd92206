// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// progress shows how far a step is: on a terminal as one line that changes
// every second, elsewhere as a line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	width    int // of the terminal, in columns
	programs string
	first    string // how long it takes where nothing is in Go's cache
	total    int    // packages of which the programs are made
	compiled int    // packages compiled by this build; others were in Go's cache
	started  time.Time
}

func newProgress(out io.Writer, programs []string, first string, total int) *progress {
	file, isFile := out.(*os.File)
	p := &progress{
		out:      out,
		programs: strings.Join(programs, ", "),
		first:    first,
		total:    total,
		started:  time.Now(),
	}
	if isFile {
		width, _, err := term.GetSize(int(file.Fd()))
		p.terminal, p.width = err == nil, width
	}
	return p
}

func (p *progress) interval() time.Duration {
	if p.terminal {
		return time.Second
	}
	return 15 * time.Second
}

const clearLine = "\r\x1b[2K"

func (p *progress) show() {
	if p.terminal {
		fmt.Fprint(p.out, clearLine, p.fit(p.line(time.Since(p.started))))
	} else {
		fmt.Fprintln(p.out, p.line(time.Since(p.started)))
	}
}

// fit cuts a line to the terminal's width: a wrapped line is not cleared whole.
func (p *progress) fit(line string) string {
	if p.width < 1 || len(line) < p.width {
		return line
	}
	return line[:p.width-1]
}

func (p *progress) line(elapsed time.Duration) string {
	state := fmt.Sprintf("%d of at most %d packages", p.compiled, p.total)
	if p.compiled == 0 {
		state = fmt.Sprintf("a first build takes about %s on two cores", p.first)
	}
	return fmt.Sprintf("building %s: %s, %v", p.programs, state, elapsed.Round(time.Second))
}

// finish clears the terminal's line, and says what was built, if it was.
func (p *progress) finish(built bool) {
	if p.terminal {
		fmt.Fprint(p.out, clearLine)
	}
	if built {
		fmt.Fprintf(p.out, "built %s in %v\n", p.programs, time.Since(p.started).Round(time.Second))
	}
}
