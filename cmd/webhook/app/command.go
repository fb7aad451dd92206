// SPDX-License-Identifier: Apache-2.0

// Package app makes the webhook out of its parts.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command"
)

const help = `The webhook completes FederatedHPAs and CronFederatedHPAs by their defaults, and refuses those that cannot work,
with what to write instead. The hub's API server asks it before it stores one, as a MutatingWebhookConfiguration
and a ValidatingWebhookConfiguration say. It keeps nothing, and several replicas need no leader.`

// NewCommand is the program. ctx ends it.
func NewCommand(ctx context.Context) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{Use: "webhook", Short: "Complete and judge FederatedHPAs and CronFederatedHPAs", Long: help}
	return command.Complete(cmd, o, o.Logging, func() error { return run(ctx, o) })
}
