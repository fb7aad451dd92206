// SPDX-License-Identifier: Apache-2.0

// Package app wires the dashboard that is served in a cluster.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The dashboard serves a page about the fleet to many readers: that of kubectl fleetscale dashboard. It has no rights on the
hub. Each reader brings a token, as Authorization: Bearer or by a form, and the hub is asked with that token for all that this reader
sees; the hub decides whose it is, and what it may read. Nothing is written. It is off by default.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "dashboard", Short: "Serve a page about the fleet, to each reader with their own rights", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
