// SPDX-License-Identifier: Apache-2.0

// Command webhook completes and judges FederatedHPAs and CronFederatedHPAs
// before the hub stores them.
package main

import (
	"os"
	_ "time/tzdata" // time zones of rules, wherever this runs

	genericapiserver "k8s.io/apiserver/pkg/server"
	_ "k8s.io/component-base/logs/json/register"

	"github.com/fleetscale/fleetscale/cmd/webhook/app"
	"github.com/fleetscale/fleetscale/pkg/command"
)

func main() {
	os.Exit(command.Run(app.NewCommand(genericapiserver.SetupSignalContext())))
}
