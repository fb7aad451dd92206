// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/test/bench/adapter"
	"github.com/fleetscale/fleetscale/test/bench/controller"
	"github.com/fleetscale/fleetscale/test/bench/experiment"
	"github.com/fleetscale/fleetscale/test/bench/faults"
	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/bench/webhook"
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

const help = `Measures the programs of this checkout over simulated members, beside what is
used without them. With --kubeconfig it measures lists of any other server of
metrics.k8s.io instead, and starts nothing.

Each experiment has a page of its own in the report; those that are not done now
stay as they are.

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
	fs.BoolVar(&o.quick, "quick", o.quick, "Measure less, and for a shorter time: about a quarter of an hour.")
	fs.StringSliceVar(&o.only, "only", o.only, "Experiments to do. Empty: all.")
	fs.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig,
		"File that says how to reach a server of metrics.k8s.io that runs already: an adapter, a metrics-server, or an API server before it.")
	fs.StringSliceVar(&o.namespaces, "namespace", o.namespaces, "Namespaces to list there.")
	fs.IntVar(&o.pid, "pid", o.pid, "Its process, if it runs on this machine; its CPU is told then.")
	return cmd
}

// experiments are all, in the order of the report.
func experiments() []experiment.Experiment {
	return slices.Concat(adapter.Experiments(), controller.Experiments(), webhook.Experiments(), faults.Experiments())
}

func names() []string {
	var all []string
	for _, e := range experiments() {
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

func (o *options) size() experiment.Size {
	if o.quick {
		return experiment.Quick
	}
	return experiment.Full
}

func (o *options) run(ctx context.Context, log io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	var err error
	if o.kubeconfig != "" {
		err = o.target(ctx, log)
	} else {
		err = o.ours(ctx, log)
	}
	return errors.Join(err, report.Index(o.out, []string{preface}, append(names(), targetName)))
}

const targetName = "target"

const preface = "How these are made, and how to make them again: [docs/benchmarks.md](../docs/benchmarks.md). Times depend on the " +
	"machine; compare the ratios."

// keep writes a section as soon as it is measured: what comes later may fail.
func (o *options) keep(s report.Section, since beginning) error {
	s.About = []string{fmt.Sprintf("%s, %s, %s; %s, took %s.", since.at.UTC().Format(time.DateOnly), revision(), since.machine,
		o.size(), time.Since(since.at).Round(time.Second))}
	return s.Write(o.out)
}

func (o *options) target(ctx context.Context, log io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reading --kubeconfig: %w", err)
	}
	server, err := stage.NewServer(config, measure.Process(o.pid))
	if err != nil {
		return err
	}
	begin := begins()
	section, err := adapter.Target(ctx, server, o.namespaces, o.size(), log)
	if err != nil {
		return err
	}
	return o.keep(section, begin)
}

// ours sets the stage, and clears it away unless something went wrong.
func (o *options) ours(ctx context.Context, log io.Writer) error {
	dir, err := os.MkdirTemp("", "fleetscale-bench-")
	if err != nil {
		return fmt.Errorf("making a folder for the hub: %w", err)
	}
	s, err := stage.Up(ctx, dir, log)
	if err != nil {
		return fmt.Errorf("setting up in %s: %w", dir, err)
	}
	err = o.measure(ctx, s, log)
	if err := errors.Join(err, s.Down()); err != nil {
		return fmt.Errorf("measuring (the logs are in %s): %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clearing away: %w", err)
	}
	return nil
}

func (o *options) measure(ctx context.Context, s *stage.Stage, log io.Writer) error {
	for _, e := range experiments() {
		if len(o.only) > 0 && !slices.Contains(o.only, e.Name) {
			continue
		}
		begin := begins()
		section, err := e.Run(ctx, s, o.size(), log)
		if err == nil {
			err = o.keep(section, begin)
		}
		if err != nil {
			return fmt.Errorf("experiment %s: %w", e.Name, err)
		}
	}
	return nil
}
