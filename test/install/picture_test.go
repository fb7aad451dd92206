// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/test/install/terminal"
)

var record = flag.Bool("record", false, "write the recordings and pictures of the documentation again")

// shows holds the recording of a page to what its commands have printed just now: these are the commands, their tables have these
// columns, and what is expected of their output is to be seen. Numbers, names of Pods and times are other ones each time.
func (p *page) shows(name, title string) {
	p.t.Helper()
	p.recorded.Title = title
	file := filepath.Join(p.e.Repository, "docs", "pictures", name)
	if *record {
		p.records(file)
		return
	}
	cast, err := os.ReadFile(file + ".cast")
	if err != nil {
		p.t.Fatal(err)
	}
	shown, err := terminal.Read(cast)
	if err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(outline(p.recorded), outline(shown)); diff != "" {
		p.t.Errorf("run make pictures: %s.cast is not what the page's commands print (-printed +recorded):\n%s", file, diff)
		return
	}
	for i, s := range p.seen {
		for _, want := range s.want {
			if !regexp.MustCompile(want).MatchString(shown.Steps[i].Output) {
				p.t.Errorf("run make pictures: %q is not in what %s.cast has %s print:\n%s", want, file, s.command, shown.Steps[i].Output)
			}
		}
	}
}

func (p *page) records(file string) {
	p.t.Helper()
	cast, err := p.recorded.Cast()
	if err != nil {
		p.t.Fatal(err)
	}
	for kind, data := range map[string]string{".cast": string(cast), ".svg": p.recorded.SVG()} {
		if err := os.WriteFile(file+kind, []byte(data), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// heads of tables are words in capital letters.
var heads = regexp.MustCompile(`(?m)^ *[A-Z][A-Z()a-z-]*(  +[A-Z][A-Z()a-z-]*)+ *$`)

// outline is what does not change from one time to the next: the title, the commands, and the columns of tables.
func outline(r terminal.Recording) terminal.Recording {
	all := terminal.Recording{Title: r.Title}
	for _, s := range r.Steps {
		var columns []string
		for _, line := range heads.FindAllString(s.Output, -1) {
			columns = append(columns, strings.Join(strings.Fields(line), " "))
		}
		all.Steps = append(all.Steps, terminal.Step{Command: s.Command, Output: strings.Join(columns, "\n")})
	}
	return all
}

func TestOutline(t *testing.T) {
	of := func(output string) string {
		return outline(terminal.Recording{Steps: []terminal.Step{{Command: "c", Output: output}}}).Steps[0].Output
	}
	const table = "NAME    CPU(cores)   REASON\nweb-0   120m         \n\n2 members: 2 ready\nWarning: west\n  CLUSTER   USED\n  east      1\n"
	if got, want := of(table), "NAME CPU(cores) REASON\nCLUSTER USED"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	if same := of("NAME   CPU(cores)      REASON\nweb-17  7m\n CLUSTER USED\n"); same != "NAME CPU(cores) REASON" {
		t.Errorf("it is %q: words apart by one space are no columns", same)
	}
}
