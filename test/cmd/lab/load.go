// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/test/lab"
)

// loadFlags are a usage as people write it.
type loadFlags struct {
	namespace, selector, cpu, memory string
}

func newLoadCommand(dir *string) *cobra.Command {
	var given loadFlags
	cmd := &cobra.Command{
		Use:   "load NAME",
		Short: "Set what the pods of a cluster use, all or those of one workload",
		Long: `Set what each container of a cluster's pods uses: of all pods, of one namespace, or of
those with certain labels; of those that run and of those to come. The last setting
that fits a pod holds. Metrics show it within two metric resolutions.`,
		Example: `  lab load member1 --cpu 250m
  lab load member1 --namespace shop --selector app=web --cpu 400m --memory 100Mi`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			usage, err := given.parse()
			if err != nil {
				return err
			}
			c, err := cluster(*dir, args[0])
			if err != nil {
				return err
			}
			return c.SetUsage(cmd.Context(), usage)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&given.namespace, "namespace", "n", "", "Namespace of the pods; without it all.")
	flags.StringVarP(&given.selector, "selector", "l", "", "Labels of the pods, such as app=web,tier=front; without it all.")
	flags.StringVar(&given.cpu, "cpu", "", "CPU of each container, such as 400m.")
	flags.StringVar(&given.memory, "memory", "", "Memory of each container, such as 100Mi.")
	cmd.MarkFlagsOneRequired("cpu", "memory")
	return cmd
}

func (f loadFlags) parse() (lab.Usage, error) {
	usage := lab.Usage{Namespace: f.namespace}
	var err error
	if usage.Labels, err = labels.ConvertSelectorToLabelsMap(f.selector); err != nil {
		return usage, fmt.Errorf("--selector: must be labels such as app=web,tier=front: %w", err)
	}
	if usage.CPU, err = parseQuantity(f.cpu); err != nil {
		return usage, fmt.Errorf("--cpu: must be a quantity such as 400m or 2, got %q", f.cpu)
	}
	if usage.Memory, err = parseQuantity(f.memory); err != nil {
		return usage, fmt.Errorf("--memory: must be a quantity such as 100Mi, got %q", f.memory)
	}
	return usage, nil
}

func parseQuantity(s string) (*resource.Quantity, error) {
	if s == "" {
		return nil, nil
	}
	quantity, err := resource.ParseQuantity(s)
	return &quantity, err
}
