// SPDX-License-Identifier: Apache-2.0

// Command dashboard serves the page of kubectl fleetscale dashboard to many readers, each with the rights of a token of theirs.
package main

import (
	"os"
	_ "time/tzdata" // time zones of rules, wherever this runs

	genericapiserver "k8s.io/apiserver/pkg/server"
	_ "k8s.io/component-base/logs/json/register"

	"github.com/fleetscale/fleetscale/cmd/dashboard/app"
	"github.com/fleetscale/fleetscale/pkg/command"
)

func main() {
	os.Exit(command.Run(app.NewCommand(genericapiserver.SetupSignalContext())))
}
