// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/apiservice"
)

const takeoverHelp = `Point the hub's metrics APIs at the metrics adapter, and save the former APIServices.

For a hub that has a metrics-server (or another server of these APIs) already: its APIService is rewritten to
point at our Service, and its former content is saved in the annotation ` + apiservice.FormerAnnotation + `.
` + "`metrics-adapter restore`" + ` restores it. Where there is no APIService, one is created. What is already as it
should be is left unchanged, so the command is idempotent.

The APIService of members.fleetscale.io, which no other server has, is given the certificate authority too.
Only metrics.k8s.io is taken over unless --apis names others. After a takeover of custom.metrics.k8s.io or
external.metrics.k8s.io the hub's own server of it (prometheus-adapter, KEDA) gets no more requests, even if the hub
is a member of its own fleet: workloads of the hub that scale by its metrics stop scaling.

Run it as an administrator of the hub (get, create and update apiservices, and get the Secret of --self-signed-secret);
the adapter itself may only keep the authority current in APIServices that lead to it already.
Run it once the adapter is ready and serves these APIs: from then on it gets all requests for their metrics on this hub.`

const takeoverExample = `  # The adapter signs its own certificate: the authority is read from its Secret.
  metrics-adapter takeover --kubeconfig hub.kubeconfig

  # All three APIs, on a hub that has no other server of custom and external metrics.
  metrics-adapter takeover --apis=metrics.k8s.io,custom.metrics.k8s.io,external.metrics.k8s.io --kubeconfig hub.kubeconfig

  # The adapter's certificate is signed by the authority in ca.crt, for example that of cert-manager.
  metrics-adapter takeover --kubeconfig hub.kubeconfig --ca-file ca.crt`

const restoreHelp = `Undo ` + "`metrics-adapter takeover`" +
	`: restore the former APIServices, and delete those that it created.

APIServices that were not taken over are left unchanged. So are those that have been pointed elsewhere since, which is an error.
Run it as an administrator of the hub (get, update and delete apiservices). It needs no running adapter.`

const restoreExample = `  metrics-adapter restore --kubeconfig hub.kubeconfig

  # Give external.metrics.k8s.io back to KEDA, and keep the others.
  metrics-adapter restore --apis=external.metrics.k8s.io --kubeconfig hub.kubeconfig`

func newTakeoverCommand() *cobra.Command {
	var kubeconfig, caFile string
	secret := selfSignedSecret
	o := apiservice.Options{APIs: []string{metrics.GroupName}, Port: 443}
	o.Service.Namespace, o.Service.Name = "fleetscale-system", "metrics-adapter"
	cmd := &cobra.Command{
		Use:     "takeover",
		Short:   "Point the hub's metrics APIs at the metrics adapter",
		Long:    takeoverHelp,
		Example: takeoverExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := checkAPIs(o.APIs); err != nil {
				return err
			}
			config, err := administratorConfig(kubeconfig)
			if err != nil {
				return err
			}
			client, err := aggregator.NewForConfig(config)
			if err != nil {
				return err
			}
			if caFile != "" {
				o.CABundle, err = readAuthorities(caFile)
			} else {
				o.CABundle, err = selfSignedAuthorities(cmd.Context(), config, types.NamespacedName{Namespace: o.Service.Namespace, Name: secret})
			}
			if err != nil {
				return err
			}
			steps, err := apiservice.Takeover(cmd.Context(), client, o)
			printSteps(cmd.OutOrStdout(), steps)
			return err
		},
	}
	fs := cmd.Flags()
	addKubeconfigFlag(fs, &kubeconfig)
	fs.StringSliceVar(&o.APIs, "apis", o.APIs, "API groups to take over, of "+strings.Join(apiservice.Groups(), ", ")+
		". The adapter must serve them.")
	fs.StringVar(&o.Service.Namespace, "service-namespace", o.Service.Namespace, "Namespace of the adapter's Service on the hub.")
	fs.StringVar(&o.Service.Name, "service-name", o.Service.Name, "Name of the adapter's Service on the hub.")
	fs.Int32Var(&o.Port, "service-port", o.Port, "Port of the adapter's Service on the hub.")
	fs.StringVar(&caFile, "ca-file", caFile, "PEM file with the certificate authorities by which the hub verifies the adapter's certificate. "+
		"Empty: those of the certificate that the adapter signs itself.")
	fs.StringVar(&secret, "self-signed-secret", secret, "Secret in --service-namespace of the hub that holds that certificate.")
	cmd.MarkFlagsMutuallyExclusive("ca-file", "self-signed-secret")
	return cmd
}

func newRestoreCommand() *cobra.Command {
	var kubeconfig string
	apis := apiservice.Groups()
	cmd := &cobra.Command{
		Use:     "restore",
		Short:   "Undo a takeover of the hub's metrics APIs",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAPIs(apis); err != nil {
				return err
			}
			config, err := administratorConfig(kubeconfig)
			if err != nil {
				return err
			}
			client, err := aggregator.NewForConfig(config)
			if err != nil {
				return err
			}
			steps, err := apiservice.Restore(cmd.Context(), client, apis)
			printSteps(cmd.OutOrStdout(), steps)
			return err
		},
	}
	addKubeconfigFlag(cmd.Flags(), &kubeconfig)
	cmd.Flags().StringSliceVar(&apis, "apis", apis, "API groups to restore. Those that were not taken over are left unchanged.")
	return cmd
}

func checkAPIs(groups []string) error {
	if err := apiservice.CheckGroups(groups); err != nil {
		return fmt.Errorf("--apis: %w", err)
	}
	return nil
}

func addKubeconfigFlag(fs *pflag.FlagSet, kubeconfig *string) {
	fs.StringVar(kubeconfig, "kubeconfig", *kubeconfig, "Kubeconfig of an administrator of the hub. Empty: the one that kubectl would use.")
}

func administratorConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = command.UserAgent(program)
	return config, nil
}

// selfSignedAuthorities returns those of the certificate that the adapter signs itself.
func selfSignedAuthorities(ctx context.Context, config *rest.Config, secret types.NamespacedName) ([]byte, error) {
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pem, err := certs.Authorities(ctx, core, secret)
	if err != nil {
		return nil, fmt.Errorf("finding out how the hub verifies the adapter's certificate: %w; where it comes from elsewhere, set --ca-file",
			err)
	}
	return pem, nil
}

func readAuthorities(file string) ([]byte, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	if _, err := cert.ParseCertsPEM(pem); err != nil {
		return nil, fmt.Errorf("--ca-file: reading %s: %w", file, err)
	}
	return pem, nil
}

func printSteps(w io.Writer, steps []apiservice.Step) {
	for _, step := range steps {
		fmt.Fprintf(w, "%s: %s\n", step.APIService, step.Done)
	}
}
