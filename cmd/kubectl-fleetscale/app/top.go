// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/top"
)

const topPodsHelp = `Show what Pods of the whole fleet use, with the cluster of each: cpu and memory, as ` + "`kubectl top pods`" + `
has them.

The hub's metrics.k8s.io is asked. A warning names the members that did not answer, whose Pods are missing. The selector may
name clusters: fleetscale.io/cluster is a label of each Pod here.`

const topPodsExample = `  kubectl fleetscale top pods -n shop -l app=web

  # Sums of clusters, the largest first.
  kubectl fleetscale top pods -A --by-cluster --sort-by memory

  # Containers of two clusters.
  kubectl fleetscale top pods -n shop --containers -l 'fleetscale.io/cluster in (east,west)'`

const topNodesHelp = `Show what the nodes of the whole fleet use, with the cluster of each: cpu and memory, as ` + "`kubectl top nodes`" + `
has them.

The hub's metrics.k8s.io is asked. A warning names the members that did not answer, whose nodes are missing. The selector may name
clusters: fleetscale.io/cluster is a label of each node here.`

const topNodesExample = `  kubectl fleetscale top nodes

  kubectl fleetscale top nodes --by-cluster --sort-by cpu`

// topOptions are the flags of both commands.
type topOptions struct {
	output            plugin.Output
	selector, sortBy  string
	byCluster         bool
	everywhere, parts bool // of Pods only
}

func newTopCommand(caller *plugin.Caller) *cobra.Command {
	cmd := &cobra.Command{
		Use: "top", Short: "Show what Pods and nodes use, by clusters", Long: "Commands for what is used.", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { // as kubectl's: help, and it is an error
			cmd.SetOut(caller.ErrOut)
			return errors.Join(cmd.Help(), &plugin.ExitError{Code: 1})
		},
	}
	cmd.AddCommand(newTopPodsCommand(caller), newTopNodesCommand(caller))
	return cmd
}

func newTopPodsCommand(caller *plugin.Caller) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use: "pods", Aliases: []string{"pod", "po"}, Short: "Show what Pods use, with the cluster of each",
		Long: topPodsHelp, Example: topPodsExample, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			columns := top.Columns{Of: "Pods", Summed: o.byCluster, Namespaces: o.everywhere, Containers: o.parts}
			return o.run(cmd.Context(), caller, columns, podsOf(caller, &o))
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "Those of all namespaces.")
	cmd.Flags().BoolVar(&o.parts, "containers", false, "Show containers.")
	cmd.MarkFlagsMutuallyExclusive("containers", "by-cluster")
	return cmd
}

func newTopNodesCommand(caller *plugin.Caller) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use: "nodes", Aliases: []string{"node", "no"}, Short: "Show what nodes use, with the cluster of each",
		Long: topNodesHelp, Example: topNodesExample, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), caller, top.Columns{Of: "Nodes", Summed: o.byCluster}, nodes)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *topOptions) addFlags(cmd *cobra.Command) {
	o.output.AddFlag(cmd)
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Those with these labels, as kubectl's; fleetscale.io/cluster is one.")
	cmd.Flags().StringVar(&o.sortBy, "sort-by", "", "Show the largest first: "+strings.Join(top.Orders(), ", ")+". Empty: by name.")
	cmd.Flags().BoolVar(&o.byCluster, "by-cluster", false, "Show sums of clusters.")
	_ = cmd.RegisterFlagCompletionFunc("sort-by", cobra.FixedCompletions(top.Orders(), cobra.ShellCompDirectiveNoFileComp))
}

func (o *topOptions) validate() error {
	var errs []error
	if _, err := labels.Parse(o.selector); err != nil {
		errs = append(errs, fmt.Errorf("--selector: %w", err))
	}
	if !slices.Contains(append(top.Orders(), ""), o.sortBy) {
		errs = append(errs, fmt.Errorf("--sort-by: must be one of %s, got %q", strings.Join(top.Orders(), ", "), o.sortBy))
	}
	return errors.Join(append(errs, o.output.Validate())...)
}

// asked lists what a command shows.
type asked func(ctx context.Context, hub metricsclient.MetricsV1beta1Interface, list metav1.ListOptions) ([]top.Usage, error)

func podsOf(caller *plugin.Caller, o *topOptions) asked {
	return func(ctx context.Context, hub metricsclient.MetricsV1beta1Interface, options metav1.ListOptions) ([]top.Usage, error) {
		namespace := metav1.NamespaceAll
		if !o.everywhere {
			var err error
			if namespace, err = caller.Namespace(); err != nil {
				return nil, err
			}
		}
		list, err := hub.PodMetricses(namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing Pods of metrics.k8s.io: %w", err)
		}
		return top.Pods(list, o.parts), nil
	}
}

func nodes(ctx context.Context, hub metricsclient.MetricsV1beta1Interface, options metav1.ListOptions) ([]top.Usage, error) {
	list, err := hub.NodeMetricses().List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing nodes of metrics.k8s.io: %w", err)
	}
	return top.Nodes(list), nil
}

func (o *topOptions) run(ctx context.Context, caller *plugin.Caller, columns top.Columns, ask asked) error {
	if err := o.validate(); err != nil {
		return err
	}
	config, err := caller.Hub()
	if err != nil {
		return err
	}
	hub, err := metricsclient.NewForConfig(config)
	if err != nil {
		return err
	}
	rows, err := ask(ctx, hub, metav1.ListOptions{LabelSelector: o.selector})
	if err != nil {
		return err
	}
	switch {
	case len(rows) == 0:
		fmt.Fprintf(caller.ErrOut, "No %s found.\n", strings.ToLower(columns.Of))
		if !o.output.Machine() {
			return nil
		}
	case slices.ContainsFunc(rows, func(u top.Usage) bool { return u.Cluster == "" }):
		fmt.Fprintln(caller.ErrOut, "Warning: this hub's metrics.k8s.io does not say clusters: fleetscale does not serve it; "+
			"see kubectl fleetscale takeover")
	}
	if o.byCluster {
		rows = top.Sum(rows)
	}
	top.Sort(rows, o.sortBy)
	return o.output.Print(caller.Out, top.Table(rows, columns), rows)
}
