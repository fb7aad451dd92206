// SPDX-License-Identifier: Apache-2.0

package build

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// builder runs the Go compiler in one module and tells people how it goes.
type builder struct {
	module string
	first  string // how long it takes where nothing is in Go's cache
	log    io.Writer
}

// product is what comes of packages.
type product struct {
	command []string // of go, that makes it
	list    []string // command of go that lists what is compiled for it
}

var (
	ofPrograms = product{command: []string{"build", "-v"}, list: []string{"list", "-deps"}}
	ofTests    = product{command: []string{"test", "-c"}, list: []string{"list", "-deps", "-test"}}
)

func (b builder) runAll(ctx context.Context, steps []step, dir string, p product) error {
	for _, s := range steps {
		if err := b.run(ctx, s, dir, p); err != nil {
			return err
		}
	}
	return nil
}

// run builds one step into dir.
func (b builder) run(ctx context.Context, s step, dir string, of product) error {
	total, err := b.count(ctx, s, of)
	if err != nil {
		return err
	}
	args := slices.Concat(of.command, []string{"-o", dir + "/"}, s.flags)
	cmd := b.command(ctx, append(args, s.packages...)...)
	output, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("building programs: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return explain(err)
	}
	p := newProgress(b.log, s.programs, b.first, total)
	said := follow(output, p)
	err = cmd.Wait()
	p.finish(err == nil)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("building %s: %w", strings.Join(s.programs, ", "), context.Cause(ctx))
		}
		return fmt.Errorf("building %s: %w; the compiler said:\n%s", strings.Join(s.programs, ", "), err, said)
	}
	return link(dir, s.links)
}

// count returns of how many packages a step is made.
func (b builder) count(ctx context.Context, s step, of product) (int, error) {
	args := slices.Concat(of.list, s.flags) // their tags decide
	cmd := b.command(ctx, append(args, s.packages...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	fmt.Fprintf(b.log, "reading the sources of %s (downloaded the first time)\n", strings.Join(s.programs, ", "))
	list, err := cmd.Output()
	if err != nil {
		return 0, errors.Join(explain(err), errors.New(strings.TrimSpace(stderr.String())))
	}
	return bytes.Count(list, []byte("\n")), nil
}

// command is the go command in a process group of its own, which ends with ctx
// as a whole: compilers are grandchildren.
func (b builder) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.module
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func explain(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("building programs: there is no go command on PATH; install Go from https://go.dev/dl")
	}
	return fmt.Errorf("building programs: %w", err)
}

// follow reads what "go build -v" prints until it ends, shows how far it is,
// and returns the lines that are not names of packages: faults.
func follow(output io.Reader, p *progress) (said string) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	var others []string
	ticker := time.NewTicker(p.interval())
	defer ticker.Stop()
	p.show()
	for {
		select {
		case line, more := <-lines:
			switch {
			case !more:
				return strings.Join(others, "\n")
			case isPackage(line):
				p.compiled++
			case !strings.HasPrefix(line, "go: downloading"):
				others = append(others, line)
			}
		case <-ticker.C:
			p.show()
		}
	}
}

// isPackage tells an import path from a message of the compiler.
func isPackage(line string) bool {
	return line != "" && !strings.ContainsAny(line, " :#\t")
}
