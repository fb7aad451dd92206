// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
)

const (
	// patience is for whatever needs a few measurements, on a busy machine.
	patience = 2 * time.Minute
	// quiet is how long a wait may be before it is explained.
	quiet  = 3 * time.Second
	margin = "    "
)

// stage is where the demo is shown, and what is on it.
type stage struct {
	out   io.Writer
	dir   string
	acts  int
	begin time.Time
	fleet *fixture.Fleet // nil until the clusters are up
	// simulated is what mode sim shows; nil in others.
	simulated *simulation
	// program is the controller-manager's file, and controllers the one that runs.
	program     string
	controllers *fixture.Controllers
}

func (s *stage) title(text string) {
	s.acts++
	fmt.Fprintf(s.out, "\n%d. %s\n\n", s.acts, text)
}

// say prints a sentence.
func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// command prints what is about to run. The hub is kubectl's current context.
func (s *stage) command(args ...string) {
	line := strings.TrimPrefix(strings.Join(args, " "), "--context hub ")
	fmt.Fprintf(s.out, "\n%s$ kubectl %s\n", margin, line)
}

// print shows warnings before the table, as a terminal does.
func (s *stage) print(said fixture.Said) {
	for line := range strings.Lines(said.Stderr + said.Stdout) {
		fmt.Fprintf(s.out, "%s%s\n", margin, strings.TrimRight(line, " \n"))
	}
}

// asking runs kubectl once.
type asking func(ctx context.Context, args ...string) (fixture.Said, error)

// show runs kubectl until what it prints is as promised, and shows that.
func (s *stage) show(ctx context.Context, promised check, args ...string) error {
	return s.showBy(ctx, promised, s.fleet.Ask, args...)
}

// showBy is show by another way to run kubectl.
func (s *stage) showBy(ctx context.Context, promised check, run asking, args ...string) error {
	s.command(args...)
	var said fixture.Said
	var took time.Duration
	err := s.await(ctx, "asking until the answer is whole", func(ctx context.Context) (err error) {
		begin := time.Now()
		if said, err = run(ctx, args...); err != nil {
			return err
		}
		took = time.Since(begin)
		return promised(said)
	})
	if err != nil {
		return fmt.Errorf("kubectl %s did not show what it should: %w", strings.Join(args, " "), err)
	}
	s.print(said)
	fmt.Fprintf(s.out, "%s(%v)\n\n", margin, took.Round(10*time.Millisecond))
	return nil
}

// await polls until check finds nothing wrong. A long wait is explained, and
// marked by dots.
func (s *stage) await(ctx context.Context, why string, check func(context.Context) error) error {
	begin, last := time.Now(), time.Time{}
	err := fixture.Await(ctx, patience, func(ctx context.Context) error {
		err := check(ctx)
		switch now := time.Now(); {
		case err == nil || now.Sub(begin) < quiet:
		case last.IsZero():
			fmt.Fprintf(s.out, "%s(%s) .", margin, why)
			last = now
		case now.Sub(last) > time.Second:
			fmt.Fprint(s.out, ".")
			last = now
		}
		return err
	})
	if !last.IsZero() {
		fmt.Fprintln(s.out)
	}
	return err
}

// indented puts the margin before every line.
func indented(out io.Writer) io.Writer { return &indenter{out: out, begin: true} }

type indenter struct {
	out   io.Writer
	begin bool
}

func (i *indenter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if i.begin {
			line = margin + line
		}
		if _, err := io.WriteString(i.out, line); err != nil {
			return 0, err
		}
		i.begin = strings.HasSuffix(line, "\n")
	}
	return len(p), nil
}
