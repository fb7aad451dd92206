// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/takeover"
)

const takeoverHelp = `Point the hub's metrics APIs at the metrics adapter, and save the former APIServices.

For a hub that has a metrics-server (or another server of these APIs) already: its APIService is rewritten to
point at our Service, and its former content is saved in the annotation ` + takeover.FormerAnnotation + `.
` + "`kubectl fleetscale restore`" + ` restores it. Where there is no APIService, one is created. What is already as it
should be is left unchanged, so the command is idempotent.

The APIServices of members.fleetscale.io and history.fleetscale.io, which no other server has, are given the certificate authority too.
Only metrics.k8s.io is taken over unless --apis names others. After a takeover of custom.metrics.k8s.io or
external.metrics.k8s.io the hub's own server of it (prometheus-adapter, KEDA) gets no more requests, even if the hub
is a member of its own fleet: workloads of the hub that scale by its metrics stop scaling.

Run it as an administrator of the hub (get, create and update apiservices, and get the Secret of --self-signed-secret);
the adapter itself may only keep the authority current in APIServices that lead to it already.
Run it once the adapter is ready and serves these APIs: from then on it gets all requests for their metrics on this hub.`

const takeoverExample = `  # The adapter signs its own certificate: the authority is read from its Secret.
  kubectl fleetscale takeover

  # All three APIs, on a hub that has no other server of custom and external metrics.
  kubectl fleetscale takeover --apis=metrics.k8s.io,custom.metrics.k8s.io,external.metrics.k8s.io

  # What would be taken from whom.
  kubectl fleetscale takeover --dry-run=server

  # The adapter's certificate is signed by the authority in ca.crt, for example that of cert-manager.
  kubectl fleetscale takeover --ca-file ca.crt`

const restoreHelp = `Undo ` + "`kubectl fleetscale takeover`" +
	`: restore the former APIServices, and delete those that it created.

APIServices that were not taken over are left unchanged. So are those that have been pointed elsewhere since, which is an error.
Run it as an administrator of the hub (get, update and delete apiservices). It needs no running adapter.`

const restoreExample = `  kubectl fleetscale restore

  # Give external.metrics.k8s.io back to KEDA, and keep the others.
  kubectl fleetscale restore --apis=external.metrics.k8s.io`

func newTakeoverCommand(caller *plugin.Caller) *cobra.Command {
	var caFile string
	var dry dryRun
	secret := takeover.SelfSignedSecret
	o := takeover.Options{APIs: []string{metrics.GroupName}, Port: 443}
	o.Service.Namespace, o.Service.Name = "fleetscale-system", "metrics-adapter"
	cmd := &cobra.Command{
		Use:     "takeover",
		Short:   "Point the hub's metrics APIs at the metrics adapter",
		Long:    takeoverHelp,
		Example: takeoverExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := dry.validate(); err != nil {
				return err
			}
			o.DryRun = dry.server()
			config, client, err := apiServices(caller, o.APIs)
			if err != nil {
				return err
			}
			o.CABundle, err = authorities(cmd.Context(), config, caFile, types.NamespacedName{Namespace: o.Service.Namespace, Name: secret})
			if err != nil {
				return err
			}
			steps, err := takeover.Takeover(cmd.Context(), client, o)
			printSteps(caller.Out, steps, o.DryRun)
			return err
		},
	}
	dry.addFlag(cmd, "server")
	fs := cmd.Flags()
	fs.StringSliceVar(&o.APIs, "apis", o.APIs, "API groups to take over, of "+strings.Join(apiservice.Groups(), ", ")+
		". The adapter must serve them.")
	fs.StringVar(&o.Service.Namespace, "service-namespace", o.Service.Namespace, "Namespace of the adapter's Service on the hub.")
	fs.StringVar(&o.Service.Name, "service-name", o.Service.Name, "Name of the adapter's Service on the hub.")
	fs.Int32Var(&o.Port, "service-port", o.Port, "Port of the adapter's Service on the hub.")
	fs.StringVar(&caFile, "ca-file", caFile, "PEM file with the certificate authorities by which the hub verifies the adapter's certificate. "+
		"Empty: those of the certificate that the adapter signs itself.")
	fs.StringVar(&secret, "self-signed-secret", secret, "Secret in --service-namespace of the hub that holds that certificate.")
	cmd.MarkFlagsMutuallyExclusive("ca-file", "self-signed-secret")
	completeAPIs(cmd)
	return cmd
}

func newRestoreCommand(caller *plugin.Caller) *cobra.Command {
	apis := apiservice.Groups()
	var dry dryRun
	cmd := &cobra.Command{
		Use:     "restore",
		Short:   "Undo a takeover of the hub's metrics APIs",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := dry.validate(); err != nil {
				return err
			}
			_, client, err := apiServices(caller, apis)
			if err != nil {
				return err
			}
			steps, err := takeover.Restore(cmd.Context(), client, apis, dry.server())
			printSteps(caller.Out, steps, dry.server())
			return err
		},
	}
	dry.addFlag(cmd, "server")
	cmd.Flags().StringSliceVar(&apis, "apis", apis, "API groups to restore. Those that were not taken over are left unchanged.")
	completeAPIs(cmd)
	return cmd
}

func completeAPIs(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("apis", cobra.FixedCompletions(apiservice.Groups(), cobra.ShellCompDirectiveNoFileComp))
}

// apiServices returns how the hub's APIServices are reached, after a check of --apis.
func apiServices(caller *plugin.Caller, groups []string) (*rest.Config, aggregator.Interface, error) {
	if err := apiservice.CheckGroups(groups); err != nil {
		return nil, nil, fmt.Errorf("--apis: %w", err)
	}
	config, err := caller.Hub()
	if err != nil {
		return nil, nil, err
	}
	client, err := aggregator.NewForConfig(config)
	return config, client, err
}

func authorities(ctx context.Context, hub *rest.Config, caFile string, secret types.NamespacedName) ([]byte, error) {
	if caFile != "" {
		return takeover.ReadAuthorities(caFile)
	}
	core, err := kubernetes.NewForConfig(hub)
	if err != nil {
		return nil, err
	}
	return takeover.SelfSignedAuthorities(ctx, core, secret)
}

func printSteps(w io.Writer, steps []takeover.Step, dryRun []string) {
	note := ""
	if dryRun != nil {
		note = " (server dry run)"
	}
	for _, step := range steps {
		fmt.Fprintf(w, "%s: %s%s\n", step.APIService, step.Done, note)
	}
}
