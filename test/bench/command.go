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
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/test/bench/adapter"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// options are what a person may set.
type options struct {
	out   string
	quick bool
	only  []string

	kubeconfig string
	namespaces []string
	pid        int
}

const help = `Measures the metrics adapter of this checkout over simulated members, beside a
real metrics-server and Kubernetes' encoder alone. With --kubeconfig it measures
lists of any other server of metrics.k8s.io instead, and starts nothing.

Experiments: `

func newCommand() *cobra.Command {
	o := &options{out: "bench", namespaces: []string{"default"}}
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure, and write a report", Long: help + strings.Join(names(), ", "),
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.ErrOrStderr()) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.out, "out", o.out, "Folder for the report.")
	fs.BoolVar(&o.quick, "quick", o.quick, "Measure less, and for a shorter time: ten minutes at most.")
	fs.StringSliceVar(&o.only, "only", o.only, "Experiments to do. Empty: all.")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "File that says how to reach a server of metrics.k8s.io that runs already: an adapter, a metrics-server, or an API server before it.")
	fs.StringSliceVar(&o.namespaces, "namespace", o.namespaces, "Namespaces to list there.")
	fs.IntVar(&o.pid, "pid", o.pid, "Its process, if it runs on this machine; its CPU is told then.")
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
	if o.kubeconfig == "" && o.pid != 0 {
		return errors.New("--pid: it is that of the server that --kubeconfig leads to, which is not set")
	}
	if o.kubeconfig != "" && len(o.only) > 0 {
		return errors.New("--only: experiments are not for a server that --kubeconfig leads to")
	}
	return nil
}

func (o *options) plan() adapter.Plan {
	if o.quick {
		return adapter.Quick()
	}
	return adapter.Full()
}

func (o *options) run(ctx context.Context, log io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	begin := time.Now()
	measureAll := o.ours
	if o.kubeconfig != "" {
		measureAll = o.target
	}
	sections, err := measureAll(ctx, log)
	if err != nil {
		return err
	}
	r := report.Report{Title: "Figures", About: o.about(time.Since(begin)), Sections: sections}
	return r.Write(o.out)
}

func (o *options) about(took time.Duration) []string {
	size := "full"
	if o.quick {
		size = "quick"
	}
	return []string{
		"How they are made, and how to make them again: [docs/benchmarks.md](../docs/benchmarks.md). Times depend on the machine; compare the ratios.",
		fmt.Sprintf("%s, %d cores, %s, %s/%s; %s, %d rounds, took %s.", time.Now().UTC().Format(time.DateOnly),
			runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, size, o.plan().Rounds, took.Round(time.Second)),
	}
}

func (o *options) target(ctx context.Context, log io.Writer) ([]report.Section, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading --kubeconfig: %w", err)
	}
	server, err := stage.NewServer(config, measure.Process(o.pid))
	if err != nil {
		return nil, err
	}
	section, err := adapter.Target(ctx, server, o.namespaces, o.plan(), log)
	return []report.Section{section}, err
}

// ours sets the stage, and clears it away unless something went wrong.
func (o *options) ours(ctx context.Context, log io.Writer) ([]report.Section, error) {
	dir, err := os.MkdirTemp("", "fleetscale-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the hub: %w", err)
	}
	s, err := stage.Up(ctx, dir, log)
	if err != nil {
		return nil, fmt.Errorf("setting up in %s: %w", dir, err)
	}
	sections, err := o.experiments(ctx, s, log)
	if err := errors.Join(err, s.Down()); err != nil {
		return nil, fmt.Errorf("measuring (the logs are in %s): %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("clearing away: %w", err)
	}
	return sections, nil
}

func (o *options) experiments(ctx context.Context, s *stage.Stage, log io.Writer) (sections []report.Section, err error) {
	for _, e := range adapter.Experiments() {
		if len(o.only) > 0 && !slices.Contains(o.only, e.Name) {
			continue
		}
		section, err := e.Run(ctx, s, o.plan(), log)
		if err != nil {
			return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		sections = append(sections, section)
	}
	return sections, nil
}
