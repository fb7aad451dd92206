// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/pkg/version"
)

// Caller is the person who runs a command: with the terminal, the kubeconfig, and
// so the rights, that are the person's own.
type Caller struct {
	genericiooptions.IOStreams
	flags *genericclioptions.ConfigFlags
}

// NewCaller returns the caller at these streams.
func NewCaller(streams genericiooptions.IOStreams) *Caller {
	return &Caller{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true)}
}

// AddFlags adds kubectl's own: --kubeconfig, --context, --namespace and so on.
func (c *Caller) AddFlags(fs *pflag.FlagSet) { c.flags.AddFlags(fs) }

// Hub returns how the hub is reached: the current context, unless flags choose another.
func (c *Caller) Hub() (*rest.Config, error) {
	config, err := c.flags.ToRESTConfig()
	if err != nil {
		return nil, explained(err)
	}
	if err := c.chosen(config); err != nil {
		return nil, err
	}
	return c.named(config, nil)
}

// chosen returns an error where nobody named a cluster, for which the library takes one on this machine.
func (c *Caller) chosen(config *rest.Config) error {
	if config.Host != "http://localhost:8080" || *c.flags.APIServer != "" {
		return nil
	}
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	switch {
	case err != nil:
		return explained(err)
	case clientcmdapi.IsConfigEmpty(&raw):
		return errNoKubeconfig
	case raw.CurrentContext == "" && *c.flags.Context == "" && *c.flags.ClusterName == "":
		return errors.New("the kubeconfig has no current context: give --context; `kubectl config get-contexts` lists them")
	}
	return nil
}

var errNoKubeconfig = errors.New("no kubeconfig found: give --kubeconfig FILE, or set KUBECONFIG")

// Context returns how the cluster of another context of the same kubeconfig is reached: as whom flags impersonate, and within their
// time. What else flags say of the connection is of the current context.
func (c *Caller) Context(name string) (*rest.Config, error) {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, explained(err)
	}
	if _, known := raw.Contexts[name]; !known {
		return nil, fmt.Errorf("the kubeconfig has no context %q; `kubectl config get-contexts` lists them", name)
	}
	overrides := &clientcmd.ConfigOverrides{Timeout: *c.flags.Timeout}
	overrides.AuthInfo.Impersonate, overrides.AuthInfo.ImpersonateUID = *c.flags.Impersonate, *c.flags.ImpersonateUID
	overrides.AuthInfo.ImpersonateGroups = *c.flags.ImpersonateGroup
	return c.named(clientcmd.NewNonInteractiveClientConfig(raw, name, overrides, nil).ClientConfig())
}

// Contexts returns the names of those of the kubeconfig, in order, and of the current one.
func (c *Caller) Contexts() (names []string, current string, err error) {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, "", explained(err)
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), raw.CurrentContext, nil
}

// Namespace returns the one that flags or the context name, or "default".
func (c *Caller) Namespace() (string, error) {
	namespace, _, err := c.flags.ToRawKubeConfigLoader().Namespace()
	return namespace, explained(err)
}

// named has a cluster told who asks, and the person what it warns of.
func (c *Caller) named(config *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NewWarningWriter(printable{c.ErrOut}, rest.WarningWriterOptions{Deduplicate: true})
	config.UserAgent = "kubectl-fleetscale/" + version.Get().Version
	return config, nil
}

// explained says what to give where the library names a variable of long ago.
func explained(err error) error {
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, clientcmd.ErrEmptyCluster) {
		return errNoKubeconfig
	}
	return err
}
