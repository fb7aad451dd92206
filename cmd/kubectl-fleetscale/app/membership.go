// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/membership"
)

// hubFlags are of the commands in which --context leads to a member.
type hubFlags struct {
	caller  *plugin.Caller
	context string
	places  membership.Places
}

func newHubFlags(cmd *cobra.Command, caller *plugin.Caller) *hubFlags {
	h := &hubFlags{caller: caller}
	fs := cmd.Flags()
	fs.StringVar(&h.context, "hub-context", "", "Context of the kubeconfig that leads to the hub. (default the current context)")
	fs.StringVar(&h.places.Registrations, "cluster-namespace", "fleetscale-clusters",
		"Namespace of the hub in which clusters are registered, as the programs' flag of this name says.")
	fs.StringVar(&h.places.Writers, "write-namespace", "fleetscale-clusters-write",
		"Namespace of the hub with the credentials that write, as the controller-manager's flag of this name says.")
	fs.StringVar(&h.places.Identities, "identities-namespace", "fleetscale-system",
		"Namespace of the ConfigMap fleetscale-identities, as the programs' flag of this name says.")
	completeContexts(cmd, caller, "hub-context")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return refuseConnection(cmd.Root().PersistentFlags()) }
	return h
}

// inContexts are flags of kubectl that would hold for the hub or for members, which nobody could tell. Contexts say it of each.
var inContexts = map[string]string{
	"namespace":                "the hub's are --cluster-namespace and --write-namespace, and members' those of join --namespaces",
	"server":                   "give --hub-context, and --context for the cluster",
	"cluster":                  "give --hub-context, and --context for the cluster",
	"user":                     "give contexts of that user with --hub-context and --context",
	"token":                    "give contexts of a user with that token with --hub-context and --context",
	"client-certificate":       "give contexts of a user with that certificate with --hub-context and --context",
	"client-key":               "give contexts of a user with that key with --hub-context and --context",
	"certificate-authority":    "give contexts of clusters with that authority with --hub-context and --context",
	"insecure-skip-tls-verify": "give contexts of such clusters with --hub-context and --context",
	"tls-server-name":          "give contexts of clusters with that name with --hub-context and --context",
}

// refuseConnection returns an error for flags that would be ignored.
func refuseConnection(kubectls *pflag.FlagSet) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(inContexts)) {
		if f := kubectls.Lookup(name); f != nil && f.Changed {
			errs = append(errs, fmt.Errorf("--%s: has no meaning here: %s", name, inContexts[name]))
		}
	}
	return errors.Join(errs...)
}

func (h *hubFlags) connect(ctx context.Context) (*membership.Hub, error) {
	config, err := h.config()
	if err != nil {
		return nil, err
	}
	return membership.NewHub(ctx, config, h.places)
}

func (h *hubFlags) config() (*rest.Config, error) {
	if h.context != "" {
		return h.caller.Context(h.context)
	}
	return h.caller.Hub()
}

// targets are the clusters that a person chose.
func (h *hubFlags) targets(choice membership.Choice) ([]membership.Target, error) {
	contexts, current, err := h.caller.Contexts()
	if err != nil {
		return nil, err
	}
	if h.context != "" {
		current = h.context
	}
	return choice.Targets(contexts, current)
}

// completeContexts offers the contexts of the kubeconfig.
func completeContexts(cmd *cobra.Command, caller *plugin.Caller, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		contexts, _, err := caller.Contexts()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return contexts, cobra.ShellCompDirectiveNoFileComp
	})
}

// members offers the names of registered clusters.
func (h *hubFlags) members(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	hub, err := h.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := slices.DeleteFunc(hub.Names(), func(name string) bool { return slices.Contains(args, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}
