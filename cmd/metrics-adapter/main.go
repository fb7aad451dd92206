// SPDX-License-Identifier: Apache-2.0

// Command metrics-adapter serves metrics.k8s.io on the hub, answered from
// every member cluster.
package main

import (
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	_ "k8s.io/component-base/logs/json/register"

	"github.com/fleetscale/fleetscale/cmd/metrics-adapter/app"
	"github.com/fleetscale/fleetscale/pkg/command"
)

func main() {
	os.Exit(command.Run(app.NewCommand(genericapiserver.SetupSignalContext())))
}
