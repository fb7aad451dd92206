// SPDX-License-Identifier: Apache-2.0

// Package app makes the controller-manager out of its parts.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The controller-manager acts on the autoscalers of a fleet:

  FederatedHPA, central mode       decides here how many replicas all clusters run together, and writes that to the
                                   workload on the hub or, with replicaDistribution, to the workload in each member
  FederatedHPA, distributed mode   with federatedHPAAssignment: splits the bounds among the members, each of which
                                   scales within its part by a HorizontalPodAutoscaler of its own
  CronFederatedHPA                 sets the replicas of a workload, or the bounds of an autoscaler, at given times

It watches the hub and the members, and writes to both. Of several replicas one works, and the others wait to take its
place; what must be remembered is in the status of the objects.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "controller-manager", Short: "Act on FederatedHPAs and CronFederatedHPAs", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
