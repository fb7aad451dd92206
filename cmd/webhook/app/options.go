// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
)

// Options are the program's command-line options.
// NewOptions sets the defaults; Validate reports every fault.
type Options struct {
	Hub         HubOptions
	Namespaces  command.NamespaceOptions
	Serving     ServingOptions
	SelfSigning certs.Settings // without certificate files
	Logging     *logs.Options
}

// HubOptions say how to reach the hub, and by which objects it reaches us.
type HubOptions struct {
	Kubeconfig                     string
	ServiceNamespace, ServiceName  string
	MutatingWebhookConfiguration   string
	ValidatingWebhookConfiguration string
	// CreateWorkloads: the controllers create workloads in members, so their authors are asked.
	CreateWorkloads bool
}

// ServingOptions say on which addresses and with which certificate to serve.
type ServingOptions struct {
	BindAddress             string
	SecurePort              int
	CertFile, KeyFile       string
	MetricsBindAddress      string
	HealthProbesBindAddress string
	ShutdownDelay           time.Duration
}

// NewOptions returns the defaults. They are stated nowhere else.
func NewOptions() *Options {
	return &Options{
		Hub: HubOptions{
			ServiceNamespace:               "fleetscale-system",
			ServiceName:                    "webhook",
			MutatingWebhookConfiguration:   "fleetscale",
			ValidatingWebhookConfiguration: "fleetscale",
		},
		Serving: ServingOptions{
			SecurePort:              9443,
			MetricsBindAddress:      ":8443",
			HealthProbesBindAddress: ":8081",
			ShutdownDelay:           5 * time.Second,
		},
		SelfSigning: certs.NewSettings("webhook-self-signed"),
		Logging:     logs.NewOptions(),
	}
}

// Flags binds the options to flags, in the sections of --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Hub.addFlags(&sets)
	o.Namespaces.AddFlags(sets.FlagSet("hub"))
	o.Serving.addFlags(&sets)
	o.SelfSigning.AddFlags(sets.FlagSet("self-signed certificate"))
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

func (o *HubOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("hub")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Kubeconfig of the hub. Empty: the in-cluster configuration.")
	fs.StringVar(&o.ServiceNamespace, "service-namespace", o.ServiceNamespace, "Namespace of the Service by which the hub reaches us.")
	fs.StringVar(&o.ServiceName, "service-name", o.ServiceName, "Name of that Service.")
	fs.StringVar(&o.MutatingWebhookConfiguration, "mutating-webhook-configuration", o.MutatingWebhookConfiguration,
		"Name of the MutatingWebhookConfiguration into whose caBundle the self-signed authority is written.")
	fs.StringVar(&o.ValidatingWebhookConfiguration, "validating-webhook-configuration", o.ValidatingWebhookConfiguration,
		"Name of the ValidatingWebhookConfiguration into whose caBundle the self-signed authority is written.")
	fs.BoolVar(&o.CreateWorkloads, "create-workloads", o.CreateWorkloads, "The controller-manager runs with this flag: refuse a "+
		"FederatedHPA in distributed mode whose author may not create its workload on the hub.")
}

func (o *ServingOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("serving")
	fs.StringVar(&o.BindAddress, "bind-address", o.BindAddress, "IP address to serve admission requests on. Empty: all addresses.")
	fs.IntVar(&o.SecurePort, "secure-port", o.SecurePort, "Port to serve admission requests on, over TLS.")
	fs.StringVar(&o.CertFile, "tls-cert-file", o.CertFile, "Certificate (PEM, followed by intermediate ones) for NAME.NAMESPACE.svc of the "+
		"Service, reloaded when it changes. Empty: a self-signed certificate.")
	fs.StringVar(&o.KeyFile, "tls-private-key-file", o.KeyFile, "Key (PEM) of --tls-cert-file.")
	fs.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, command.MetricsAddressHelp)
	fs.StringVar(&o.HealthProbesBindAddress, "health-probe-bind-address", o.HealthProbesBindAddress,
		"Address on which /healthz and /readyz are served over plain HTTP, without reasons. 0 disables them.")
	fs.DurationVar(&o.ShutdownDelay, "shutdown-delay-duration", o.ShutdownDelay,
		"How long requests are still served after the signal to terminate, while connections drain to other replicas.")
}

// Validate returns all faults at once, each prefixed with its flag.
func (o *Options) Validate() error {
	const unset = "%s: must be set"
	return errors.Join(
		o.Serving.validate(),
		o.Namespaces.Validate(),
		errors.Join(o.SelfSigning.Validate()...),
		command.When(o.Hub.ServiceNamespace == "", unset, "--service-namespace"),
		command.When(o.Hub.ServiceName == "", unset, "--service-name"),
		command.When(o.Hub.MutatingWebhookConfiguration == "", unset, "--mutating-webhook-configuration"),
		command.When(o.Hub.ValidatingWebhookConfiguration == "", unset, "--validating-webhook-configuration"),
		command.When(o.SelfSigning.Secret == "", unset, "--self-signed-secret"),
	)
}

func (o *ServingOptions) validate() error {
	return errors.Join(
		command.When(o.BindAddress != "" && net.ParseIP(o.BindAddress) == nil, "--bind-address: must be an IP address, got %q", o.BindAddress),
		command.When(o.SecurePort < 1 || o.SecurePort > 65535, "--secure-port: must be from 1 to 65535, got %d", o.SecurePort),
		command.When(o.ShutdownDelay < 0, "--shutdown-delay-duration: must be 0 or more, got %v", o.ShutdownDelay),
		command.When((o.CertFile == "") != (o.KeyFile == ""),
			"--tls-cert-file and --tls-private-key-file: set both, or none to have us sign our own certificate"),
	)
}
