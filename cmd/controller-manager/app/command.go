// SPDX-License-Identifier: Apache-2.0

// Package app makes the controller-manager out of its parts.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The controller-manager sets replicas, or the bounds of FederatedHPAs, at the times that CronFederatedHPAs give. It
watches the hub and writes to it. Of several replicas one works, and the others wait to take its place; what
must be remembered is in the status of the objects.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "controller-manager", Short: "Act on FederatedHPAs and CronFederatedHPAs", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
