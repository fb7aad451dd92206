// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net/url"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// Options are the program's command-line options.
// NewOptions sets the defaults; Validate reports every fault.
type Options struct {
	Hub         HubOptions
	Members     command.MemberOptions
	Namespaces  command.NamespaceOptions
	Usage       UsageOptions
	Relay       RelayOptions
	Serving     ServingOptions
	SelfSigning certs.Settings // without certificate files
	Logging     *logs.Options
}

// HubOptions say how to reach the hub, by which Service it reaches us, and which APIs we serve it.
type HubOptions struct {
	APIs                  []string
	Kubeconfig            string
	ServiceNamespace      string
	ServiceName           string
	APIServiceCheckPeriod time.Duration
	LocalUsers            []string

	MetricsServer          string
	MetricsServerCAFile    string
	MetricsServerTokenFile string
}

// UsageOptions say what is scraped and kept in memory, and for how long.
type UsageOptions struct {
	ScrapePeriod, MaxAge, IdleAfter time.Duration
	MaxHotNamespaces                int
	MaxKeptBytes, MaxAnswerBytes    resource.QuantityValue
}

// RelayOptions say how custom and external metrics are requested from members.
type RelayOptions struct {
	AnswerTTL, Grace, DiscoveryPeriod time.Duration
}

// ServingOptions are the API server library's.
type ServingOptions struct {
	Secure         *genericoptions.SecureServingOptionsWithLoopback
	Authentication *genericoptions.DelegatingAuthenticationOptions
	Authorization  *genericoptions.DelegatingAuthorizationOptions
	Audit          *genericoptions.AuditOptions
}

// NewOptions returns the defaults. They are stated nowhere else.
func NewOptions() *Options {
	o := &Options{
		Hub: HubOptions{
			APIs:                  apiservice.Groups(),
			ServiceNamespace:      "fleetscale-system",
			ServiceName:           "metrics-adapter",
			APIServiceCheckPeriod: 30 * time.Second,
			LocalUsers: []string{
				"system:serviceaccount:kube-system:horizontal-pod-autoscaler", // with --use-service-account-credentials
				"system:kube-controller-manager",
			},
		},
		Members: command.NewMemberOptions(),
		Usage: UsageOptions{
			ScrapePeriod:     15 * time.Second,
			MaxAge:           time.Minute,
			IdleAfter:        5 * time.Minute,
			MaxHotNamespaces: 1000,
			MaxKeptBytes:     resource.QuantityValue{Quantity: resource.MustParse("256Mi")},
			MaxAnswerBytes:   resource.QuantityValue{Quantity: resource.MustParse("256Mi")},
		},
		Relay: RelayOptions{
			AnswerTTL:       5 * time.Second,
			Grace:           5 * time.Minute,
			DiscoveryPeriod: time.Minute,
		},
		Serving: ServingOptions{
			Secure:         genericoptions.NewSecureServingOptions().WithLoopback(),
			Authentication: genericoptions.NewDelegatingAuthenticationOptions(),
			Authorization:  genericoptions.NewDelegatingAuthorizationOptions(),
			Audit:          genericoptions.NewAuditOptions(),
		},
		SelfSigning: certs.NewSettings(selfSignedSecret),
		Logging:     logs.NewOptions(),
	}
	o.Serving.Secure.ServerCert.CertDirectory = "" // nothing is written to disk
	o.Serving.Secure.ServerCert.PairName = "metrics-adapter"
	return o
}

// Flags binds the options to flags, in the sections of --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Hub.addFlags(&sets)
	o.Namespaces.AddFlags(sets.FlagSet("hub"))
	o.Members.AddFlags(sets.FlagSet("members"))
	o.Usage.addFlags(&sets)
	o.Relay.addFlags(&sets)
	o.Serving.Secure.AddFlags(sets.FlagSet("secure serving"))
	o.SelfSigning.AddFlags(sets.FlagSet("self-signed certificate"))
	o.Serving.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Serving.Authorization.AddFlags(sets.FlagSet("authorization"))
	o.Serving.Audit.AddFlags(sets.FlagSet("audit"))
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

func (o *HubOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("hub")
	fs.StringSliceVar(&o.APIs, "apis", o.APIs, "API groups of metrics to serve. Leave one out if the hub has another server for it.")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Kubeconfig of the hub. Empty: the in-cluster configuration.")
	fs.StringVar(&o.ServiceNamespace, "service-namespace", o.ServiceNamespace,
		"Namespace of the Service that the hub's APIServices should point at.")
	fs.StringVar(&o.ServiceName, "service-name", o.ServiceName,
		"Name of that Service. An APIService that points elsewhere is reported by the log, an Event and a metric.")
	fs.DurationVar(&o.APIServiceCheckPeriod, "apiservice-check-period", o.APIServiceCheckPeriod,
		"Interval at which the hub's APIServices are checked.")
	fs.StringSliceVar(&o.LocalUsers, "local-users", o.LocalUsers, "Users who are served only the hub's own pods and nodes if the hub is a "+
		"member of its own fleet: controllers that scale workloads of the hub alone.")
	fs.StringVar(&o.MetricsServer, "hub-metrics-server", o.MetricsServer, "URL of the hub's own metrics-server, such as "+
		"https://metrics-server.kube-system.svc. Required if the hub is a member of its own fleet: its API server would lead back to us.")
	fs.StringVar(&o.MetricsServerCAFile, "hub-metrics-server-ca-file", o.MetricsServerCAFile,
		"File with the certificate authority (PEM) of the hub's own metrics-server. Empty: the system's authorities.")
	fs.StringVar(&o.MetricsServerTokenFile, "hub-metrics-server-token-file", o.MetricsServerTokenFile, "File with the token that the hub's "+
		"own metrics-server is sent, read again when it changes: of an account that may read metrics and nothing else.")
}

func (o *UsageOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("usage")
	fs.DurationVar(&o.ScrapePeriod, "scrape-period", o.ScrapePeriod,
		"Interval at which each requested namespace is scraped from a member. Best equal to the resolution of the members' metrics-servers.")
	fs.DurationVar(&o.MaxAge, "max-age", o.MaxAge,
		"Age beyond which a sample is not served. For a member that measures less often, twice its own period.")
	fs.DurationVar(&o.IdleAfter, "idle-after", o.IdleAfter,
		"Time after which a namespace that nobody requests is no longer scraped.")
	fs.IntVar(&o.MaxHotNamespaces, "max-hot-namespaces", o.MaxHotNamespaces,
		"Maximum number of namespaces that are scraped from a member in each period.")
	fs.Var(&o.MaxKeptBytes, "max-kept-bytes", "Maximum memory for what is kept of members' answers: usage, and custom and external metrics. "+
		"Beyond it the namespace with the most loses of its own.")
	fs.Var(&o.MaxAnswerBytes, "max-answer-bytes",
		"Maximum memory for responses being written; requests beyond it get status 429 with Retry-After.")
}

func (o *RelayOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("custom and external metrics")
	fs.DurationVar(&o.AnswerTTL, "answer-ttl", o.AnswerTTL,
		"How long a member's response for a custom or external metric is cached.")
	fs.DurationVar(&o.Grace, "member-grace", o.Grace, "Silence after which a member is left out of sums, averages and the like, with a "+
		"warning. Until then such requests get status 503, unless they allow partial results.")
	fs.DurationVar(&o.DiscoveryPeriod, "metric-discovery-period", o.DiscoveryPeriod,
		"Interval at which the custom and external metrics of each member are discovered.")
}

// Validate returns all faults at once, each prefixed with its flag.
func (o *Options) Validate() error {
	return errors.Join(
		positive("--apiservice-check-period", o.Hub.APIServiceCheckPeriod),
		positive("--scrape-period", o.Usage.ScrapePeriod),
		positive("--answer-ttl", o.Relay.AnswerTTL),
		positive("--member-grace", o.Relay.Grace),
		positive("--metric-discovery-period", o.Relay.DiscoveryPeriod),
		command.When(o.Relay.AnswerTTL > o.Usage.MaxAge, "--answer-ttl: must be --max-age (%v) or less, got %v", o.Usage.MaxAge,
			o.Relay.AnswerTTL),
		o.Usage.validate(),
		o.Hub.validate(),
		o.Members.Validate(),
		o.Namespaces.Validate(),
		errors.Join(o.SelfSigning.Validate()...),
		command.When(o.SelfSigning.Secret == "", "--self-signed-secret: must be set"),
		o.Serving.validate(),
	)
}

func positive(flag string, period time.Duration) error {
	return command.When(period <= 0, "%s: must be above 0, got %v", flag, period)
}

func (o *UsageOptions) validate() error {
	return errors.Join(
		command.When(o.MaxAge < 2*o.ScrapePeriod, "--max-age: must be twice --scrape-period (%v) or more, got %v", o.ScrapePeriod, o.MaxAge),
		command.When(o.IdleAfter < o.ScrapePeriod, "--idle-after: must be --scrape-period (%v) or more, got %v", o.ScrapePeriod, o.IdleAfter),
		command.When(o.MaxHotNamespaces < 1, "--max-hot-namespaces: must be 1 or more, got %d", o.MaxHotNamespaces),
		command.When(o.MaxKeptBytes.Value() < 1<<20, "--max-kept-bytes: must be 1Mi or more, got %s", &o.MaxKeptBytes),
		command.When(o.MaxAnswerBytes.Value() < 1<<20, "--max-answer-bytes: must be 1Mi or more, got %s", &o.MaxAnswerBytes),
	)
}

func (o *HubOptions) validate() error {
	groups := apiservice.CheckGroups(o.APIs)
	return errors.Join(command.When(groups != nil, "--apis: %w", groups), o.validateMetricsServer())
}

func (o *HubOptions) validateMetricsServer() error {
	if o.MetricsServer == "" {
		return nil
	}
	u, err := url.Parse(o.MetricsServer)
	usable := err == nil && u.Scheme == "https" && u.Hostname() != ""
	return errors.Join(
		command.When(!usable, "--hub-metrics-server: must be an https URL such as https://metrics-server.kube-system.svc, got %q",
			o.MetricsServer),
		command.When(usable && u.User != nil, "--hub-metrics-server: must hold no user and password: it is sent --hub-metrics-server-token-file"),
		command.When(o.MetricsServerTokenFile == "",
			"--hub-metrics-server-token-file: must be set together with --hub-metrics-server, which never gets the credentials for the hub"),
	)
}

func (o *ServingOptions) validate() error {
	return errors.Join(slices.Concat(o.Secure.Validate(), o.Authentication.Validate(), o.Authorization.Validate(), o.Audit.Validate())...)
}
