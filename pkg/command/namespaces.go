// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// NamespaceOptions say in which namespaces a program acts.
type NamespaceOptions struct{ Names []string }

// AddFlags binds the options to flags.
func (o *NamespaceOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Names, strings.TrimPrefix(tenancy.NamespacesFlag, "--"), o.Names,
		"Act in these namespaces only, on the hub and in members, and ask for nothing of others, so that Roles there suffice. If given "+
			"several times, all count. Empty: all namespaces. The same for all programs.")
}

// Validate returns every fault, each led by the flag that fixes it.
func (o *NamespaceOptions) Validate() error {
	if _, err := tenancy.NewScope(o.Names); err != nil {
		return fmt.Errorf("%s: %s", tenancy.NamespacesFlag, strings.ReplaceAll(err.Error(), "\n", "\n"+tenancy.NamespacesFlag+": "))
	}
	return nil
}

// Scope is what these options, which are valid, say.
func (o *NamespaceOptions) Scope() tenancy.Scope {
	scope, _ := tenancy.NewScope(o.Names)
	return scope
}

// Cache returns c with the namespaces of these options: it lists and watches each by itself.
func (o *NamespaceOptions) Cache(c cache.Options) cache.Options {
	for _, namespace := range o.Scope().Names() {
		if c.DefaultNamespaces == nil {
			c.DefaultNamespaces = map[string]cache.Config{}
		}
		c.DefaultNamespaces[namespace] = cache.Config{}
	}
	return c
}
