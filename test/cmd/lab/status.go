// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/lab"
)

func newStatusCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the clusters and the processes of the lab",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := lab.Load(*dir)
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			if err := printStatus(out, l); err != nil {
				return err
			}
			return out.Flush()
		},
	}
}

func printStatus(out *tabwriter.Writer, l *lab.Lab) error {
	fmt.Fprintf(out, "export KUBECONFIG=%s\n\nCLUSTER\tURL\tKUBECONFIG\n", l.Kubeconfig())
	for _, c := range append([]*lab.Cluster{l.Hub()}, l.Members()...) {
		fmt.Fprintf(out, "%s\t%s\t%s\n", c.Name, c.URL, c.Kubeconfig)
	}
	processes, err := l.Processes()
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\nPROCESS\tSTATE\tPID\tLOG\n")
	for _, p := range processes {
		state, pid, err := p.State()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\n", p.Name, state, pid, p.Log)
	}
	return nil
}
