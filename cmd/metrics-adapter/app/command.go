// SPDX-License-Identifier: Apache-2.0

// Package app wires the metrics adapter.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The metrics adapter serves the metrics APIs on the hub of a fleet, for kubectl top and for autoscalers:

  metrics.k8s.io           cpu and memory of the pods and nodes in all member clusters
  custom.metrics.k8s.io    metrics of pods and other objects, merged from the members' own custom metrics APIs
  external.metrics.k8s.io  metrics of anything else, merged from the members' own external metrics APIs

and, always, members.fleetscale.io: the member clusters themselves, for kubectl get members; and history.fleetscale.io: what decisions of
autoscalers were told, which it asks the controller-manager for, for kubectl fleetscale replay.

It is an aggregated API server, and needs APIServices that point at it;
` + "`kubectl fleetscale takeover`" + ` sets one where another server has the API already.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "metrics-adapter", Short: "Serve the metrics APIs for a whole fleet", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
