// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/crontab"
)

const cronNextHelp = `Tell when the rules of CronFederatedHPAs run next, in their time zones and in yours, and what they set then.

By default the next run of each rule is shown; with --days all runs of so many days, and with --count so many runs of each
rule. Rules that are suspended, or that cannot be read, come last. A note says where clocks are set forward or back.`

const cronNextExample = `  kubectl fleetscale cron next -n shop

  # A week of one CronFederatedHPA.
  kubectl fleetscale cron next office -n shop --days 7

  # The next three runs of each rule, in all namespaces, for a script.
  kubectl fleetscale cron next -A --count 3 -o json`

// mostRuns bounds what is shown of a rule that runs each minute for weeks.
const mostRuns = 1000

func newCronCommand(caller *plugin.Caller) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cron", Short: "Tell when rules of CronFederatedHPAs run", Long: "Commands for CronFederatedHPAs.", Args: cobra.NoArgs,
	}
	cmd.AddCommand(newCronNextCommand(caller))
	return cmd
}

func newCronNextCommand(caller *plugin.Caller) *cobra.Command {
	var output plugin.Output
	var everywhere bool
	var days, count int
	cmd := &cobra.Command{
		Use:     "next [NAME...]",
		Short:   "Tell when each rule runs next, and what it sets then",
		Long:    cronNextHelp,
		Example: cronNextExample,
		RunE: func(cmd *cobra.Command, names []string) error {
			span, err := spanOf(time.Now(), days, count)
			if err := errors.Join(output.Validate(), err); err != nil {
				return err
			}
			if everywhere && len(names) > 0 {
				return errors.New("--all-namespaces: a name needs a namespace: give --namespace instead")
			}
			hub, namespace, err := dynamicHub(caller, everywhere)
			if err != nil {
				return err
			}
			objects, err := crontab.List(cmd.Context(), hub, namespace, names...)
			if err != nil {
				return err
			}
			runs := crontab.Upcoming(objects, span)
			if len(runs) == 0 {
				fmt.Fprintln(caller.ErrOut, "No runs found.")
			}
			return output.Print(caller.Out, crontab.Table(runs, span.Now, everywhere), runs)
		},
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeNames(caller, "cronfederatedhpas"),
	}
	output.AddFlag(cmd)
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "Those of all namespaces.")
	cmd.Flags().IntVar(&days, "days", 0, "Show the runs of so many days from now. 0: however late.")
	cmd.Flags().IntVar(&count, "count", 0, fmt.Sprintf("Show at most so many runs of each rule. 0: one, or with --days at most %d.", mostRuns))
	return cmd
}

func spanOf(now time.Time, days, count int) (crontab.Span, error) {
	span := crontab.Span{Now: now, Local: time.Local, Count: count}
	switch {
	case days < 0 || days > 3660:
		return span, fmt.Errorf("--days: must be from 0 to 3660, got %d", days)
	case count < 0 || count > mostRuns:
		return span, fmt.Errorf("--count: must be from 0 to %d, got %d", mostRuns, count)
	}
	if days > 0 {
		span.Until = now.AddDate(0, 0, days)
	}
	if count == 0 {
		span.Count = 1
		if days > 0 {
			span.Count = mostRuns
		}
	}
	return span, nil
}

// dynamicHub returns a client of the hub, and the namespace to ask for; "" is all.
func dynamicHub(caller *plugin.Caller, everywhere bool) (hub dynamic.Interface, namespace string, err error) {
	config, err := caller.Hub()
	if err != nil {
		return nil, "", err
	}
	if hub, err = dynamic.NewForConfig(config); err != nil || everywhere {
		return hub, "", err
	}
	namespace, err = caller.Namespace()
	return hub, namespace, err
}
