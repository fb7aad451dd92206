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
	return named(config, explained(err))
}

// Context returns how the cluster of another context of the same kubeconfig is reached.
func (c *Caller) Context(name string) (*rest.Config, error) {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, explained(err)
	}
	if _, known := raw.Contexts[name]; !known {
		return nil, fmt.Errorf("the kubeconfig has no context %q; `kubectl config get-contexts` lists them", name)
	}
	return named(clientcmd.NewNonInteractiveClientConfig(raw, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig())
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

func named(config *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	config.UserAgent = "kubectl-fleetscale/" + version.Get().Version
	return config, nil
}

// explained says what to give where the library names a variable of long ago.
func explained(err error) error {
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, clientcmd.ErrEmptyCluster) {
		return errors.New("no kubeconfig found: give --kubeconfig FILE, or set KUBECONFIG")
	}
	return err
}
