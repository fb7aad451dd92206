// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// mostAtOnce bounds the clusters that are changed at one time.
const mostAtOnce = 8

// teller prints lines of several clusters: results to out, what is under way to progress.
type teller struct {
	mu            sync.Mutex
	out, progress io.Writer
}

func newTeller(streams genericiooptions.IOStreams) *teller {
	return &teller{out: streams.Out, progress: streams.ErrOut}
}

func (t *teller) result(format string, args ...any) { t.line(t.out, format, args...) }

func (t *teller) say(format string, args ...any) { t.line(t.progress, format, args...) }

// longestLine bounds a line, in characters.
const longestLine = 4 << 10

// line prints one, whatever a cluster said that is in it: it cannot make lines of its own, as of another cluster that has joined.
func (t *teller) line(to io.Writer, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(to, fleet.PrintableLine(fmt.Sprintf(format, args...), longestLine))
}

// action changes one cluster. What it returns waits until the hub has noticed; nil: there is nothing to wait for.
type action func(context.Context, Target) (await func(context.Context) error, err error)

// forEach acts on all targets, on [mostAtOnce] at a time, and then waits for all of those at once: a cluster that does not become
// Ready keeps no other from being changed. One that fails stops no other. The errors are in the order of the targets.
func forEach(ctx context.Context, targets []Target, act action) error {
	errs := make([]error, len(targets))
	slots := make(chan struct{}, mostAtOnce)
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() {
			if errs[i] = each(ctx, slots, t, act); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", t.Name, errs[i])
			}
		})
	}
	all.Wait()
	return summary(errs)
}

func each(ctx context.Context, slots chan struct{}, t Target, act action) error {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	await, err := act(ctx, t)
	<-slots
	if err == nil && await != nil {
		err = await(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("cut off, run it again to continue (%w)", err)
	}
	return err
}

// summary is one error of those that there are.
func summary(errs []error) error {
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	if failed > 0 && len(errs) > 1 {
		errs = append([]error{fmt.Errorf("%d of %d clusters failed", failed, len(errs))}, errs...)
	}
	return errors.Join(errs...)
}

// Confirm asks the person, until the context ends; yes has given the answer before.
func Confirm(ctx context.Context, streams genericiooptions.IOStreams, yes bool, question string) error {
	if yes {
		return nil
	}
	fmt.Fprintf(streams.ErrOut, "%s [y/N] ", question)
	type line struct {
		text string
		err  error
	}
	given := make(chan line, 1) // reading cannot be ended: who stops waiting leaves it to the end of the program
	go func() {
		text, err := bufio.NewReader(streams.In).ReadString('\n')
		given <- line{text, err}
	}()
	var answer line
	select {
	case <-ctx.Done():
		fmt.Fprintln(streams.ErrOut)
		return fmt.Errorf("nothing was changed: %w", ctx.Err())
	case answer = <-given:
	}
	switch strings.ToLower(strings.TrimSpace(answer.text)) {
	case "y", "yes":
		return nil
	}
	if answer.err != nil {
		fmt.Fprintln(streams.ErrOut)
		return errors.New("nothing was changed: nobody answers; give --yes where no terminal is attached")
	}
	return errors.New("nothing was changed")
}
