// SPDX-License-Identifier: Apache-2.0

// Command controller-manager acts on FederatedHPAs and CronFederatedHPAs.
package main

import (
	"os"
	_ "time/tzdata" // time zones of rules, wherever this runs

	genericapiserver "k8s.io/apiserver/pkg/server"
	_ "k8s.io/component-base/logs/json/register"

	"github.com/fleetscale/fleetscale/cmd/controller-manager/app"
	"github.com/fleetscale/fleetscale/pkg/command"
)

func main() {
	os.Exit(command.Run(app.NewCommand(genericapiserver.SetupSignalContext())))
}
