// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
)

const dashboardHelp = `Serve a page about the fleet on this machine: each member's state, and each autoscaler with its past, what limits it, why, and what will
set it next. It changes as the fleet does, and changes nothing itself.

The page is read with your rights, and nothing is installed for it; it needs no internet. What you may not list it says. Without the right
to list autoscalers in all namespaces it shows those of yours (--namespace). Open the address that is printed: it has a secret, so that
other users of the machine, and other pages in your browser, cannot read the page.

The page of a FederatedHPA has what the controller-manager recorded of it, too: why each decision was what it was, two moments beside each
other, and what the decisions would have been by another spec. The hub is asked for that, unless --record gives a file that kubectl
fleetscale record has written.

With --once the same is written into one file instead, with all that a browser needs: for a ticket, or to keep. Of more than 200
autoscalers the file has the pages of those that are worst off, and the others are listed.`

func newDashboardCommand(caller *plugin.Caller) *cobra.Command {
	o := dashboard.Options{}
	cmd := &cobra.Command{
		Use: "dashboard", Short: "Show the fleet and its autoscalers on a page in your browser", Long: dashboardHelp,
		Example: `  kubectl fleetscale dashboard

  # With a past that the hub may no longer have.
  kubectl fleetscale record -n shop $(kubectl get fhpa -n shop -o name) --since 168h --file shop.fsr
  kubectl fleetscale dashboard --record shop.fsr

  # A file for a ticket.
  kubectl fleetscale dashboard --once fleet.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			switch {
			case o.Port < 0 || o.Port > 65535:
				return fmt.Errorf("--port: must be 0 to 65535, got %d", o.Port)
			case o.Once != "" && cmd.Flags().Changed("port"):
				return errors.New("--port and --once: give one of them")
			}
			if o.Hub, err = caller.Hub(); err != nil {
				return err
			}
			if o.Namespace, err = caller.Namespace(); err != nil {
				return err
			}
			o.Out = caller.Out
			return dashboard.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().IntVar(&o.Port, "port", 0, "Port of 127.0.0.1 to serve the page at. 0: one that is free.")
	cmd.Flags().StringVar(&o.Record, "record", "", "File with the record of decisions, of which the past is shown. Empty: the hub is asked.")
	cmd.Flags().StringVar(&o.Once, "once", "", "Write the page into this file, with all that it shows, and end.")
	return cmd
}
