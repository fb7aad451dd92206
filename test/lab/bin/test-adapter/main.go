// SPDX-License-Identifier: Apache-2.0

// Command test-adapter serves custom.metrics.k8s.io and external.metrics.k8s.io
// with values that are set over HTTP. It is the test adapter of
// sigs.k8s.io/custom-metrics-apiserver, used as a library for two reasons:
// several of them run on one machine, so the port for setting values is a flag,
// and external metrics can be set as well.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/metrics/legacyregistry"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver/metrics"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
	"sigs.k8s.io/custom-metrics-apiserver/test-adapter/provider"
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
	custom, writeMetrics := provider.NewFakeProvider(client, mapper)
	external := newExternal(custom)
	base.WithCustomMetrics(custom)
	base.WithExternalMetrics(external)
	if err := metrics.RegisterMetrics(legacyregistry.Register); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	failed := make(chan error, 2)
	go func() { failed <- serveValues(valuesAddress, writeMetrics, external) }()
	go func() { failed <- base.Run(ctx) }()
	return <-failed
}

func serveValues(address string, custom *restful.WebService, external *external) error {
	container := restful.NewContainer().Add(custom)
	mux := http.NewServeMux()
	mux.Handle("/write-metrics/", container)
	external.install(mux)
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 3 * time.Second}
	return fmt.Errorf("serving values: %w", server.ListenAndServe())
}
