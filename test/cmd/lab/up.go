// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/test/lab"
)

func newUpCommand(dir *string) *cobra.Command {
	var members int
	var realNodes, karmada bool
	options := lab.Options{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a lab, and leave it running until \"lab down\"",
		Long: `Start a lab. When this returns, all of it answers: every API server, every metrics
API, and metrics of every node. The lab then runs in the background until "lab down".
Ctrl-C meanwhile ends what was started.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if members < 0 {
				return fmt.Errorf("--members: must be 0 or more, got %d", members)
			}
			options.Dir, options.Members, options.Log = *dir, lab.Members(members), cmd.ErrOrStderr()
			if realNodes {
				for i := range options.Members {
					options.Members[i].RealNodes = 1
				}
			}
			if karmada {
				options.Karmada = &lab.Karmada{}
				if last := members - 1; last > 0 {
					options.Members[last].Pull = true
				}
			}
			return up(cmd, options)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&members, "members", 2, "Member clusters to start: member1, member2, ...")
	flags.BoolVar(&realNodes, "real-nodes", false,
		"Give each member, in place of fake nodes, one with a kubelet and containerd, in namespaces of its own. Needs root and containerd.")
	flags.BoolVar(&karmada, "karmada", false,
		"Make the hub a Karmada control plane that all members join: the last of several in Pull mode, the others in Push mode.")
	flags.BoolVar(&options.Hub.Workloads, "hub-workloads", false,
		"Give the hub nodes, pods, all controllers and a metrics-server of its own. Without it the hub holds templates only.")
	flags.StringArrayVar(&options.Hub.ControllerManagerArgs, "hub-controller-manager-arg", nil,
		"Further argument of the hub's kube-controller-manager. May be repeated.")
	flags.DurationVar(&options.MetricResolution, "metric-resolution", 15*time.Second, "Period of every metrics-server, 10s or more.")
	return cmd
}

func up(cmd *cobra.Command, options lab.Options) error {
	l, err := lab.Up(cmd.Context(), options)
	if err != nil {
		return err
	}
	if err := l.Release(); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "export KUBECONFIG=%s\n", l.Kubeconfig())
	return nil
}

func newAddCommand(dir *string) *cobra.Command {
	var member lab.Member
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Start one more member in a lab that is up",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lab.Load(*dir)
			if err != nil {
				return err
			}
			member.Name = args[0]
			_, err = l.AddMember(cmd.Context(), member, cmd.ErrOrStderr())
			return err
		},
	}
	cmd.Flags().IntVar(&member.Nodes, "nodes", 0,
		"Nodes of the member that are played: 2 by default, none with --real-nodes. One holds 5000 pods.")
	cmd.Flags().IntVar(&member.RealNodes, "real-nodes", 0, "Nodes of the member with a kubelet and containerd. Needs root and containerd.")
	cmd.Flags().BoolVar(&member.WithoutMetricsServer, "without-metrics-server", false, "Leave metrics.k8s.io unserved.")
	cmd.Flags().BoolVar(&member.WithoutTestAdapter, "without-test-adapter", false, "Leave custom and external metrics unserved.")
	return cmd
}

func newBuildCommand() *cobra.Command {
	var realNodes, karmada bool
	var kubernetes []string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the lab's programs, if they are not in the cache yet, and print their folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			programs, err := lab.Build(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), programs)
			if karmada {
				if programs, err = lab.BuildKarmada(cmd.Context(), cmd.ErrOrStderr()); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), programs)
			}
			for _, minor := range kubernetes {
				if programs, err = lab.BuildKubernetes(cmd.Context(), minor, cmd.ErrOrStderr()); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), programs)
			}
			if !realNodes {
				return nil
			}
			if reason := lab.RealNodesPossible(); reason != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "this machine can have no real nodes, and their programs are not built: %s\n", reason)
				return nil
			}
			if programs, err = lab.BuildNodes(cmd.Context(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), programs)
			return nil
		},
	}
	cmd.Flags().BoolVar(&karmada, "karmada", false, "Build those of a Karmada control plane too.")
	cmd.Flags().StringSliceVar(&kubernetes, "kubernetes", nil, "Build those of control planes of other minor versions too, such as 1.36.")
	cmd.Flags().BoolVar(&realNodes, "real-nodes", false, "Build those of real nodes too, where this machine can have some.")
	return cmd
}
