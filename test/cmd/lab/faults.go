// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/lab"
)

// fault is something to do to one cluster's API server.
type fault struct {
	name, help string
	act        func(context.Context, *lab.Cluster) error
}

func faults() []fault {
	return []fault{{
		"freeze", "Make a cluster's API server stand still: it answers nothing and keeps its connections",
		func(_ context.Context, c *lab.Cluster) error { return c.Freeze() },
	}, {
		"thaw", "Let a frozen API server go on",
		func(_ context.Context, c *lab.Cluster) error { return c.Thaw() },
	}, {
		"stop", "End a cluster's API server: connections break and new ones are refused",
		func(_ context.Context, c *lab.Cluster) error { return c.Stop() },
	}, {
		"start", "Start a stopped API server again, on the same port and with the same data",
		func(ctx context.Context, c *lab.Cluster) error { return c.Start(ctx) },
	}}
}

func newFaultCommand(dir *string, f fault) *cobra.Command {
	return &cobra.Command{
		Use:   f.name + " NAME",
		Short: f.help,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster(*dir, args[0])
			if err != nil {
				return err
			}
			return f.act(cmd.Context(), c)
		},
	}
}

func cluster(dir, name string) (*lab.Cluster, error) {
	l, err := lab.Load(dir)
	if err != nil {
		return nil, err
	}
	return l.Cluster(name)
}
