// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/lab"
)

const longHelp = `lab runs a real fleet on this machine: a hub and member clusters, each with its own
kube-apiserver, on loopback and without containers. Members have fake nodes and
pods (kwok) whose usage you set, metrics-server, and an adapter for custom and
external metrics.

The programs are built from Go modules the first time, which takes about 8 minutes
on 2 cores, and are kept in the user's cache; from then on a lab is up in half a minute.

All that a lab has lies in one folder, --dir: kubeconfig (contexts hub, member1, ...),
clusters/NAME/kubeconfig, logs/*.log, bin/kubectl. Two labs in two folders do not meet.`

const example = `  lab up --members 2
  lab kubectl -- --context member1 create deployment web --image web --replicas 3
  lab load member1 --namespace default --selector app=web --cpu 400m --memory 100Mi
  lab kubectl -- --context member1 top pods
  lab freeze member1
  lab thaw member1
  lab down`

func newCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:           "lab",
		Short:         "Run a hub and member clusters on this machine",
		Long:          longHelp,
		Example:       example,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", ".lab", "Folder of the lab: its state, logs and kubeconfigs.")
	cmd.AddCommand(
		newUpCommand(&dir), newDownCommand(&dir), newStatusCommand(&dir), newAddCommand(&dir),
		newKubectlCommand(&dir), newLoadCommand(&dir), newBuildCommand(),
	)
	for _, fault := range faults() {
		cmd.AddCommand(newFaultCommand(&dir, fault))
	}
	return cmd
}

func newDownCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "End the lab: every process that it started, and no other",
		Long:  "End the lab: every process that it started, and no other. Logs and kubeconfigs stay. Where no lab is up this does nothing.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return lab.Down(*dir) },
	}
}
