// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"github.com/fleetscale/fleetscale/pkg/metricsadapter/apiservice"
)

const takeoverHelp = `Point the hub's metrics.k8s.io at the metrics adapter, and keep what stood there before.

For a hub that has a metrics-server (or another server of metrics.k8s.io) already: its APIService is rewritten to
lead to our Service, and its former content is kept in the annotation ` + apiservice.FormerAnnotation + `.
` + "`metrics-adapter restore`" + ` puts it back. What is already as it should be is left as it is, so the command may be repeated.

An administrator runs this with rights of his own (get, create and update apiservices). The adapter has none of them.
Begin when the adapter is ready: from then on all questions for metrics on this hub reach it.`

const takeoverExample = `  # The adapter signs its own certificate, so there is no authority to verify it with.
  metrics-adapter takeover --insecure-skip-tls-verify

  # The adapter's certificate is signed by the authority in ca.crt.
  metrics-adapter takeover --kubeconfig hub.kubeconfig --ca-file ca.crt`

const restoreHelp = `Undo ` + "`metrics-adapter takeover`" + `: put back the APIServices that stood there before, and delete those that it created.

What was not taken over is left alone. What somebody else has pointed elsewhere since is left alone too, and is an error.
An administrator runs this with rights of his own (get, update and delete apiservices). It needs no running adapter.`

const restoreExample = `  metrics-adapter restore --kubeconfig hub.kubeconfig`

func newTakeoverCommand() *cobra.Command {
	var kubeconfig, caFile string
	o := apiservice.Options{Port: 443}
	o.Service.Namespace, o.Service.Name = "fleetscale-system", "metrics-adapter"
	cmd := &cobra.Command{
		Use:     "takeover",
		Short:   "Point the hub's metrics.k8s.io at the metrics adapter",
		Long:    takeoverHelp,
		Example: takeoverExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.CABundle, err = readAuthorities(caFile); err != nil {
				return err
			}
			client, err := hubAPIServices(kubeconfig)
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
	fs.StringVar(&o.Service.Namespace, "service-namespace", o.Service.Namespace, "Namespace of the adapter's Service on the hub.")
	fs.StringVar(&o.Service.Name, "service-name", o.Service.Name, "Name of the adapter's Service on the hub.")
	fs.Int32Var(&o.Port, "service-port", o.Port, "Port of the adapter's Service on the hub.")
	fs.StringVar(&caFile, "ca-file", caFile, "PEM file with the certificate authorities that the hub verifies the adapter's certificate with.")
	fs.BoolVar(&o.InsecureSkipTLSVerify, "insecure-skip-tls-verify", o.InsecureSkipTLSVerify, "The hub does not verify the adapter's certificate.")
	cmd.MarkFlagsMutuallyExclusive("ca-file", "insecure-skip-tls-verify")
	cmd.MarkFlagsOneRequired("ca-file", "insecure-skip-tls-verify")
	return cmd
}

func newRestoreCommand() *cobra.Command {
	var kubeconfig string
	cmd := &cobra.Command{
		Use:     "restore",
		Short:   "Undo a takeover of the hub's metrics.k8s.io",
		Long:    restoreHelp,
		Example: restoreExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := hubAPIServices(kubeconfig)
			if err != nil {
				return err
			}
			steps, err := apiservice.Restore(cmd.Context(), client)
			printSteps(cmd.OutOrStdout(), steps)
			return err
		},
	}
	addKubeconfigFlag(cmd.Flags(), &kubeconfig)
	return cmd
}

func addKubeconfigFlag(fs *pflag.FlagSet, kubeconfig *string) {
	fs.StringVar(kubeconfig, "kubeconfig", *kubeconfig, "Kubeconfig of an administrator of the hub. Empty: what kubectl would use.")
}

func hubAPIServices(kubeconfig string) (aggregator.Interface, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	return aggregator.NewForConfig(config)
}

// readAuthorities returns nil if there is no file to read.
func readAuthorities(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
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
