// SPDX-License-Identifier: Apache-2.0

// Command test-adapter serves custom.metrics.k8s.io and external.metrics.k8s.io
// with values that are set over HTTP. It stands on the library on which
// prometheus-adapter, KEDA and the adapters of clouds stand.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/metrics/legacyregistry"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(newCommand(server.SetupSignalContext())))
}

func newCommand(ctx context.Context) *cobra.Command {
	base := &adapter.AdapterBase{Name: "test-adapter"}
	var valuesAddress string
	cmd := &cobra.Command{
		Use:   "test-adapter",
		Short: "Serve custom and external metrics whose values are set over HTTP",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return run(ctx, base, valuesAddress)
		},
	}
	cmd.Flags().AddFlagSet(base.Flags())
	cmd.Flags().StringVar(&valuesAddress, "values-address", "127.0.0.1:8080", "Address at which values are set, by plain HTTP.")
	return cmd
}

func run(ctx context.Context, base *adapter.AdapterBase, valuesAddress string) error {
	client, err := base.DynamicClient()
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	mapper, err := base.RESTMapper()
	if err != nil {
		return fmt.Errorf("discovering resources: %w", err)
	}
	custom, external := newCustom(client, mapper), newExternal()
	base.WithCustomMetrics(custom)
	base.WithExternalMetrics(external)
	if err := metrics.RegisterMetrics(legacyregistry.Register); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	failed := make(chan error, 2)
	go func() { failed <- serveValues(valuesAddress, custom, external) }()
	go func() { failed <- base.Run(ctx) }()
	return <-failed
}
