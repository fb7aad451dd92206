// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/apiservice"
)

// Options is what a person may set on the command line, and nothing else.
// NewOptions gives every field its default; Validate reports every fault.
type Options struct {
	Hub     HubOptions
	Members command.MemberOptions
	Usage   UsageOptions
	Relay   RelayOptions
	Serving ServingOptions
	// SelfSigning is off while its Secret has no name.
	SelfSigning certs.Settings
	Logging     *logs.Options
}

// HubOptions say how the hub is reached, by which Service it reaches us, and for what.
type HubOptions struct {
	APIs                  []string
	Kubeconfig            string
	ServiceNamespace      string
	ServiceName           string
	APIServiceCheckPeriod time.Duration
	LocalUsers            []string

	MetricsServer                      string
	MetricsServerCAFile                string
	MetricsServerInsecureSkipTLSVerify bool
}

// UsageOptions say what is kept in memory, and for how long.
type UsageOptions struct {
	ScrapePeriod, MaxAge, IdleAfter time.Duration
	MaxHotNamespaces                int
	MaxAnswerBytes                  resource.QuantityValue
}

// RelayOptions say how the members' custom and external metrics are asked for.
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

// NewOptions returns the defaults. They are stated here and in no other place.
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
		SelfSigning: certs.NewSettings(""),
		Logging:     logs.NewOptions(),
	}
	o.Serving.Secure.ServerCert.CertDirectory = "" // self-signed in memory unless files are named
	o.Serving.Secure.ServerCert.PairName = "metrics-adapter"
	return o
}

// Flags binds the options to flags, in the sections that --help shows.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Hub.addFlags(&sets)
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
	fs.StringSliceVar(&o.APIs, "apis", o.APIs, "API groups to serve. Leave one out if the hub has another server for it.")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "File that says how to reach the hub. Empty: this runs in a pod of the hub.")
	fs.StringVar(&o.ServiceNamespace, "service-namespace", o.ServiceNamespace,
		"Namespace of the Service that the hub's APIServices should lead to.")
	fs.StringVar(&o.ServiceName, "service-name", o.ServiceName,
		"Name of that Service. When an APIService leads elsewhere, a log line, an Event and a metric say so.")
	fs.DurationVar(&o.APIServiceCheckPeriod, "apiservice-check-period", o.APIServiceCheckPeriod,
		"Time between two looks at the hub's APIServices.")
	fs.StringSliceVar(&o.LocalUsers, "local-users", o.LocalUsers, "Users who get only the hub's own pods and nodes, if the hub is a member "+
		"of its own fleet: controllers that decide for workloads of the hub alone.")
	fs.StringVar(&o.MetricsServer, "hub-metrics-server", o.MetricsServer, "URL of the hub's own metrics-server, as "+
		"https://metrics-server.kube-system.svc. Needed if the hub is a member of its own fleet: asked through its API server it would ask us.")
	fs.StringVar(&o.MetricsServerCAFile, "hub-metrics-server-ca-file", o.MetricsServerCAFile,
		"Certificate authority (PEM) of the hub's own metrics-server. Empty: the system's.")
	fs.BoolVar(&o.MetricsServerInsecureSkipTLSVerify, "hub-metrics-server-insecure-skip-tls-verify", o.MetricsServerInsecureSkipTLSVerify,
		"Do not verify the certificate of the hub's own metrics-server, to which our token is sent.")
}

func (o *UsageOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("usage")
	fs.DurationVar(&o.ScrapePeriod, "scrape-period", o.ScrapePeriod,
		"Time between two questions to a member for the same namespace. Best as long as the resolution of the members' metrics-servers.")
	fs.DurationVar(&o.MaxAge, "max-age", o.MaxAge,
		"Age past which what a member said is not served. For a member that measures more slowly, twice its own period.")
	fs.DurationVar(&o.IdleAfter, "idle-after", o.IdleAfter,
		"Time after which members are no longer asked for a namespace that nobody asks for.")
	fs.IntVar(&o.MaxHotNamespaces, "max-hot-namespaces", o.MaxHotNamespaces, "Namespaces that members are asked for each period, at most.")
	fs.Var(&o.MaxAnswerBytes, "max-answer-bytes", "Memory for answers that are being written; beyond it askers are told to come back (429).")
}

func (o *RelayOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("custom and external metrics")
	fs.DurationVar(&o.AnswerTTL, "answer-ttl", o.AnswerTTL,
		"Time for which a member's answer to a question for a custom or external metric serves the same question again.")
	fs.DurationVar(&o.Grace, "member-grace", o.Grace, "Silence after which a member is left out of sums, averages and the like, with a "+
		"warning. Until then there is no answer (503) where its part would be missing, unless the asker allows partial ones.")
	fs.DurationVar(&o.DiscoveryPeriod, "metric-discovery-period", o.DiscoveryPeriod,
		"Time between two looks at what custom and external metrics a member has.")
}

// Validate returns every fault at once, each led by the flag that mends it.
func (o *Options) Validate() error {
	var errs []error
	for _, period := range []struct {
		flag  string
		value time.Duration
	}{
		{"--apiservice-check-period", o.Hub.APIServiceCheckPeriod},
		{"--scrape-period", o.Usage.ScrapePeriod},
		{"--answer-ttl", o.Relay.AnswerTTL},
		{"--member-grace", o.Relay.Grace},
		{"--metric-discovery-period", o.Relay.DiscoveryPeriod},
	} {
		if period.value <= 0 {
			errs = append(errs, fmt.Errorf("%s: must be above 0, got %v", period.flag, period.value))
		}
	}
	if o.Relay.AnswerTTL > o.Usage.MaxAge {
		errs = append(errs, fmt.Errorf("--answer-ttl: must be --max-age (%v) or less, got %v", o.Usage.MaxAge, o.Relay.AnswerTTL))
	}
	errs = append(errs, o.Usage.validate()...)
	errs = append(errs, o.Hub.validate()...)
	errs = append(errs, o.Members.Validate()...)
	errs = append(errs, o.validateSelfSigning()...)
	errs = append(errs, o.Serving.validate()...)
	return errors.Join(errs...)
}

func (o *Options) validateSelfSigning() []error {
	if o.SelfSigning.Secret == "" {
		return nil
	}
	errs := o.SelfSigning.Validate()
	if o.Serving.Secure.ServerCert.CertKey.CertFile != "" {
		errs = append(errs, errors.New("--self-signed-secret: may not be set together with --tls-cert-file"))
	}
	return errs
}

func (o *UsageOptions) validate() []error {
	var errs []error
	if o.MaxAge < 2*o.ScrapePeriod {
		errs = append(errs, fmt.Errorf("--max-age: must be twice --scrape-period (%v) or more, got %v", o.ScrapePeriod, o.MaxAge))
	}
	if o.IdleAfter < o.ScrapePeriod {
		errs = append(errs, fmt.Errorf("--idle-after: must be --scrape-period (%v) or more, got %v", o.ScrapePeriod, o.IdleAfter))
	}
	if o.MaxHotNamespaces < 1 {
		errs = append(errs, fmt.Errorf("--max-hot-namespaces: must be 1 or more, got %d", o.MaxHotNamespaces))
	}
	if o.MaxAnswerBytes.Value() < 1<<20 {
		errs = append(errs, fmt.Errorf("--max-answer-bytes: must be 1Mi or more, got %s", o.MaxAnswerBytes.String()))
	}
	return errs
}

func (o *HubOptions) validate() []error {
	var errs []error
	if err := apiservice.CheckGroups(o.APIs); err != nil {
		errs = append(errs, fmt.Errorf("--apis: %w", err))
	}
	if o.MetricsServer != "" {
		switch u, err := url.Parse(o.MetricsServer); {
		case err != nil || u.Scheme != "https" || u.Hostname() == "":
			errs = append(errs, fmt.Errorf("--hub-metrics-server: must be an https URL such as https://metrics-server.kube-system.svc, got %q",
				o.MetricsServer))
		case u.User != nil:
			errs = append(errs, errors.New("--hub-metrics-server: must hold no user and password: the credentials for the hub are used"))
		}
		if o.MetricsServerInsecureSkipTLSVerify && o.MetricsServerCAFile != "" {
			errs = append(errs, errors.New("--hub-metrics-server-ca-file and --hub-metrics-server-insecure-skip-tls-verify exclude each other"))
		}
	}
	return errs
}

func (o *ServingOptions) validate() []error {
	var errs []error
	errs = append(errs, o.Secure.Validate()...)
	errs = append(errs, o.Authentication.Validate()...)
	errs = append(errs, o.Authorization.Validate()...)
	return append(errs, o.Audit.Validate()...)
}
