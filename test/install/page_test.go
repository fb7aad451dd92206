// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/install/terminal"
)

// special is a command of a page that the lab cannot run as it is written, or whose output is of interest. All others run as they are
// written.
type special struct {
	command string // a whole line
	lacks   string // what the lab does not have, so that it is not run as written
	run     string // what is run in its place; nothing, if that is empty
	do      func() error
	want    []string // expressions of what comes out, at last
	seen    bool     // by whoever sees the recording of the page
}

// page is one of docs/ whose commands are typed, in a shell of their own.
type page struct {
	t        *testing.T
	e        *env
	home     string   // the kubeconfig of who types
	dir      string   // where they type; that of env by default
	skip     []string // a block with one of these is of another machine
	specials []special
	steps    int

	seen     []special // those of the recording, in its order
	recorded terminal.Recording
}

var shBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```\n")

// commands are the blocks of a section of a page; of a whole page without one.
func (e *env) commands(t *testing.T, name, section string) []string {
	t.Helper()
	return commandsIn(t, filepath.Join(e.Repository, "docs", name), section)
}

func commandsIn(t *testing.T, file, section string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if section != "" {
		_, rest, found := strings.Cut(text, "\n## "+section+"\n")
		if !found {
			t.Fatalf("%s has no section %s", file, section)
		}
		text, _, _ = strings.Cut(rest, "\n## ")
	}
	var blocks []string
	for _, block := range shBlock.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// newPage has a kubeconfig of its own, as pages change it.
func (e *env) newPage(t *testing.T, specials ...special) *page {
	t.Helper()
	p := &page{t: t, e: e, home: t.TempDir(), specials: specials}
	config, err := os.ReadFile(e.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.kubeconfig(), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(e.helm, filepath.Join(p.home, "helm")); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *page) kubeconfig() string { return filepath.Join(p.home, "config") }

// types has all blocks run, and every special command found.
func (p *page) types(blocks []string) {
	p.t.Helper()
	skipped := map[string]bool{}
	for _, block := range blocks {
		if i := slices.IndexFunc(p.skip, func(word string) bool { return strings.Contains(block, word) }); i >= 0 {
			skipped[p.skip[i]] = true
			continue
		}
		p.block(block)
	}
	for _, s := range p.specials {
		p.t.Errorf("the page has no command %s", s.command)
	}
	for _, word := range p.skip {
		if !skipped[word] {
			p.t.Errorf("the page has no block with %q", word)
		}
	}
}

// block runs the commands between special ones together: some have several lines.
func (p *page) block(block string) {
	p.t.Helper()
	var plain []string
	flush := func() {
		if len(plain) > 0 {
			script := strings.Join(plain, "\n")
			out, err := p.run(p.t.Context(), script)
			if err != nil {
				p.t.Fatal(err)
			}
			p.t.Logf("$ %s\n%s", script, out)
			plain = nil
		}
	}
	for line := range strings.SplitSeq(block, "\n") {
		i := slices.IndexFunc(p.specials, func(s special) bool { return s.command == line })
		if i < 0 {
			plain = append(plain, line)
			continue
		}
		flush()
		s := p.specials[i]
		p.specials = slices.Delete(p.specials, i, i+1)
		p.special(s)
	}
	flush()
}

func (p *page) special(s special) {
	p.t.Helper()
	if s.do != nil {
		if err := s.do(); err != nil {
			p.t.Fatalf("%s: %v", s.command, err)
		}
	}
	command := s.command
	if s.lacks != "" {
		p.t.Logf("not run, as there is no %s: %s", s.lacks, s.command)
		if command = s.run; command == "" {
			return
		}
	}
	last := ""
	err := fixture.Await(p.t.Context(), patience, func(ctx context.Context) error {
		out, err := p.run(ctx, command)
		for _, want := range s.want {
			if err == nil && !regexp.MustCompile(want).MatchString(out) {
				err = fmt.Errorf("%q is not in what %s prints:\n%s", want, command, out)
			}
		}
		last = out
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Logf("$ %s\n%s", command, last)
	if s.seen {
		p.seen = append(p.seen, s)
		typed, _, _ := strings.Cut(s.command, "  ") // a comment
		p.recorded.Steps = append(p.recorded.Steps, terminal.Step{Command: typed, Output: last})
	}
}

// run has a shell execute a script that stops at the first command that fails, in the state that the former one left.
func (p *page) run(ctx context.Context, script string) (string, error) {
	p.steps++
	file := filepath.Join(p.home, fmt.Sprintf("step-%d", p.steps))
	if err := os.WriteFile(file, []byte(script+"\n"), 0o600); err != nil {
		return "", err
	}
	state := filepath.Join(p.home, "state")
	sh := exec.CommandContext(ctx, "sh", "-ec", `if [ -e "$2" ]; then . "$2"; fi; . "$1"; export -p >"$2"`, "sh", file, state)
	sh.Dir = cmp.Or(p.dir, p.e.dir)
	sh.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig(), "HOME="+p.home, "HELM_CACHE_HOME="+p.home,
		"PATH="+strings.Join([]string{p.home, filepath.Join(p.e.Dir(), "bin"), os.Getenv("PATH")}, string(os.PathListSeparator)))
	out, err := sh.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return string(out), err
}
