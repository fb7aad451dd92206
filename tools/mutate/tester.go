// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome is what became of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "survived"
	broken   outcome = "does not compile"
	timedOut outcome = "timed out"
)

// tester runs the tests of packages.
type tester struct {
	dir     string
	timeout time.Duration
}

// bounded limits the memory of a test: an endless loop that allocates would take all of it before the timeout.
const bounded = `-exec=sh -c 'ulimit -v 4000000; exec "$0" "$@"'`

// fit returns why the tests of a package cannot judge mutants: there are none, or they fail without any.
func (t tester) fit(ctx context.Context, p pkg) error {
	judges := p.judges()
	if len(judges) == 0 {
		return fmt.Errorf("%s has no tests", p.ImportPath)
	}
	for _, judge := range judges {
		if text, err := t.run(ctx, judge); err != nil {
			return fmt.Errorf("testing %s without any mutant: %w\n%s", judge.ImportPath, err, text)
		}
	}
	return nil
}

// judges are the packages whose tests judge the package: its own, then those above it.
func (p pkg) judges() (all []pkg) {
	if p.tested() {
		all = append(all, p)
	}
	if p.above != nil {
		all = append(all, *p.above)
	}
	return all
}

// test runs the tests of the mutant's package on it, until one fails.
func (t tester) test(ctx context.Context, m mutant) (outcome, error) {
	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	file, overlay := filepath.Join(temp, filepath.Base(m.file)), filepath.Join(temp, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, m.changed(), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return "", err
	}
	var text string
	for _, judge := range m.judges() {
		if text, err = t.run(ctx, judge, "-overlay", overlay, "-failfast", "-count=1", "-vet=off"); err != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return survived, nil
	case strings.Contains(text, "[build failed]"):
		return broken, nil
	case strings.Contains(text, "panic: test timed out after"):
		return timedOut, nil
	default:
		return killed, nil
	}
}

func (t tester) run(ctx context.Context, p pkg, flags ...string) (string, error) {
	flags = append([]string{"test", "-short", "-timeout", t.timeout.String(), bounded}, flags...)
	command := exec.CommandContext(ctx, "go", append(flags, p.ImportPath)...)
	command.Dir = t.dir
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // so that it ends its tests
	text, err := command.CombinedOutput()
	return string(text), err
}
