// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/bench/adapter"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// options are what a person may set.
type options struct {
	out   string
	quick bool
	only  []string
}

func newCommand() *cobra.Command {
	o := &options{out: "bench"}
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure, and write a report", Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		Long: "Measures the metrics adapter of this checkout over simulated members, beside a real metrics-server and Kubernetes' encoder alone.\nExperiments: " + strings.Join(names(), ", "),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.ErrOrStderr()) },
	}
	cmd.Flags().StringVar(&o.out, "out", o.out, "Folder for the report.")
	cmd.Flags().BoolVar(&o.quick, "quick", o.quick, "Measure less, and for a shorter time: ten minutes at most.")
	cmd.Flags().StringSliceVar(&o.only, "only", o.only, "Experiments to do. Empty: all.")
	return cmd
}

func names() []string {
	var all []string
	for _, e := range adapter.Experiments() {
		all = append(all, e.Name)
	}
	return all
}

func (o *options) validate() error {
	for _, name := range o.only {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("--only: there is no experiment %q, but %s", name, strings.Join(names(), ", "))
		}
	}
	return nil
}

func (o *options) run(ctx context.Context, log io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fleetscale-bench-")
	if err != nil {
		return fmt.Errorf("making a folder for the hub: %w", err)
	}
	s, err := stage.Up(ctx, dir, log)
	if err != nil {
		return fmt.Errorf("setting up in %s: %w", dir, err)
	}
	plan := adapter.Full()
	if o.quick {
		plan = adapter.Quick()
	}
	r, err := o.measure(ctx, s, plan, log)
	err = errors.Join(err, s.Down())
	if err != nil {
		return fmt.Errorf("measuring (the logs are in %s): %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clearing away: %w", err)
	}
	return r.Write(o.out)
}

func (o *options) measure(ctx context.Context, s *stage.Stage, plan adapter.Plan, log io.Writer) (report.Report, error) {
	begin := time.Now()
	r := report.Report{Title: "Figures"}
	for _, e := range adapter.Experiments() {
		if len(o.only) > 0 && !slices.Contains(o.only, e.Name) {
			continue
		}
		section, err := e.Run(ctx, s, plan, log)
		if err != nil {
			return r, fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		r.Sections = append(r.Sections, section)
	}
	r.About = []string{
		"How they are made, and how to make them again: [docs/benchmarks.md](../docs/benchmarks.md). Times depend on the machine; compare the ratios.",
		fmt.Sprintf("%s, %d cores, %s, %s/%s; %s, %d rounds, took %s.", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
			map[bool]string{false: "full", true: "quick"}[o.quick], plan.Rounds, time.Since(begin).Round(time.Second)),
	}
	return r, nil
}
