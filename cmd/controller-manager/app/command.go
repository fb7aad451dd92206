// SPDX-License-Identifier: Apache-2.0

// Package app wires the controller-manager.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The controller-manager reconciles the autoscalers of a fleet:

  FederatedHPA, central mode       computes on the hub how many replicas all clusters run, and writes that to the
                                   workload on the hub or, with replicaDistribution, to the workload in each member
  FederatedHPA, distributed mode   with federatedHPAAssignment: splits the bounds among the members, each of which
                                   scales within its share by its own HorizontalPodAutoscaler
  CronFederatedHPA                 sets the replicas of a workload, or the bounds of an autoscaler, at given times

It watches the hub and the members, and writes to both. One of its replicas is the leader, the others stand by;
all state is in the status of the objects. With --observe it decides, and writes nothing anywhere.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "controller-manager", Short: "Reconcile FederatedHPAs and CronFederatedHPAs", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
