// SPDX-License-Identifier: Apache-2.0

// Command mutate finds what no test checks. It makes one small change to the code (a mutant), runs the tests of that
// package, and those of the package above it if that imports it, and reports whether one of them fails (the mutant is
// killed) or none does (it survives); then the next one.
//
//	mutate [-C directory of the module] [-n 40] [-seed 1] [-timeout 2m] [-survivors 5] <packages>
//
// Mutants are drawn at random from all that the operators (operators.go) can make; the same seed and code give the same ones.
// No file of the module is changed: the compiler gets the mutant by -overlay. The exit code is 1 if more than -survivors
// mutants survive.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	dir := flags.String("C", ".", "a directory of the module")
	n := flags.Int("n", 40, "how many mutants to make, at most")
	seed := flags.Uint64("seed", rand.Uint64N(1_000_000), "decides which mutants are made; random by default")
	timeout := flags.Duration("timeout", 2*time.Minute, "how long the tests of a package may take")
	survivors := flags.Int("survivors", -1, "how many mutants may survive; -1: any number")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name the packages, such as ./pkg/merge")
	}
	mutants, err := mutantsOf(ctx, *dir, flags.Args())
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	all := len(mutants)
	mutants = mutants[:min(max(0, *n), all)]
	fmt.Fprintf(out, "%d of %d mutants, seed %d\n", len(mutants), all, *seed)
	t, fit, counts := tester{dir: *dir, timeout: *timeout}, map[string]bool{}, map[outcome]int{}
	for _, m := range mutants {
		if !fit[m.ImportPath] {
			if err := t.fit(ctx, m.pkg); err != nil {
				return err
			}
			fit[m.ImportPath] = true
		}
		result, err := t.test(ctx, m)
		if err != nil {
			return err
		}
		counts[result]++
		fmt.Fprintf(out, "%-16s  %s\n", result, m)
	}
	found, valid := counts[killed]+counts[timedOut], len(mutants)-counts[broken]
	fmt.Fprintf(out, "%d killed, %d timed out, %d survived, %d did not compile: %d %% of those that compile are found (seed %d)\n",
		counts[killed], counts[timedOut], counts[survived], counts[broken], 100*found/max(1, valid), *seed)
	if *survivors >= 0 && counts[survived] > *survivors {
		return fmt.Errorf("%d mutants survive, more than %d: write tests that they break", counts[survived], *survivors)
	}
	return nil
}
