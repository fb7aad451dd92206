// SPDX-License-Identifier: Apache-2.0

// Package app wires the webhook.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The webhook sets the defaults of FederatedHPAs and CronFederatedHPAs, and rejects those that cannot work,
saying what to write instead. The hub's API server calls it as a MutatingWebhookConfiguration and a
ValidatingWebhookConfiguration specify. It is stateless: replicas need no leader.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "webhook", Short: "Default and validate FederatedHPAs and CronFederatedHPAs", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
