// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard"
)

// Options are the program's command-line options.
// NewOptions sets the defaults; Validate reports every fault.
type Options struct {
	Kubeconfig        string
	BindAddress       string
	SecurePort        int
	CertFile, KeyFile string
	MostPages         int
	Logging           *logs.Options
}

// NewOptions returns the defaults. They are stated nowhere else.
func NewOptions() *Options {
	return &Options{SecurePort: 8443, MostPages: dashboard.DefaultMostPages, Logging: logs.NewOptions()}
}

// Flags binds the options to flags, in the sections of --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	sets.FlagSet("hub").StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Kubeconfig with the address of the hub and the authority of its certificate. Credentials in it are not used.")
	fs := sets.FlagSet("serving")
	fs.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP address to serve on. Empty: all addresses.")
	fs.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "Port to serve on, over TLS: the page, and /healthz and /readyz without reasons.")
	fs.StringVar(&o.CertFile, "tls-cert-file", o.CertFile, "Certificate (PEM, followed by intermediate ones), reloaded when it changes.")
	fs.StringVar(&o.KeyFile, "tls-private-key-file", o.KeyFile, "Key (PEM) of --tls-cert-file.")
	fs.IntVar(&o.MostPages, "max-pages", o.MostPages, "How many pages are kept at a time: one for each token and namespace that is shown. "+
		"A reader has 4 at most.")
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

// Validate returns all faults at once, each prefixed with its flag.
func (o *Options) Validate() error {
	return errors.Join(
		command.When(o.Kubeconfig == "", "--kubeconfig: must name a file with the address of the hub and the authority of its certificate"),
		command.When(o.BindAddress != "" && net.ParseIP(o.BindAddress) == nil, "--bind-address: must be an IP address, got %q", o.BindAddress),
		command.When(o.SecurePort < 1 || o.SecurePort > 65535, "--secure-port: must be from 1 to 65535, got %d", o.SecurePort),
		command.When(o.CertFile == "" || o.KeyFile == "",
			"--tls-cert-file and --tls-private-key-file: set both: readers send tokens, and must know to whom"),
		command.When(o.MostPages < 1, "--max-pages: must be above 0, got %d", o.MostPages),
	)
}
