// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// MemberOptions say where members are registered and how they are reached.
type MemberOptions struct {
	// Sources are those of registrations.
	Sources                  []string
	ClusterNamespace         string
	ClusterProfileNamespaces []string
	ClusterAPINamespaces     []string
	RancherNamespaces        []string
	ArgoCDNamespace          string
	IdentitiesNamespace      string
	Timeout, ProbePeriod     time.Duration
	QPS                      float32
	Burst                    int
	MaxAnswer                resource.QuantityValue
	AllowLocal               bool
	Policy                   registration.Policy
}

// leastMaxAnswer is enough for probes and single objects.
const leastMaxAnswer = 1 << 20

// NewMemberOptions returns the defaults of all programs.
func NewMemberOptions() MemberOptions {
	return MemberOptions{
		Sources:          registration.DefaultSources(),
		ClusterNamespace: "fleetscale-clusters", IdentitiesNamespace: "fleetscale-system", ArgoCDNamespace: "argocd",
		Timeout:     5 * time.Second,
		ProbePeriod: 10 * time.Second,
		QPS:         50,
		Burst:       100,
		MaxAnswer:   resource.QuantityValue{Quantity: *resource.NewQuantity(connection.DefaultMaxAnswer, resource.BinarySI)},
	}
}

// AddFlags binds the options to flags.
func (o *MemberOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Sources, "sources", o.Sources, "What registers members: of "+strings.Join(registration.SourceNames(), ", ")+
		". If given several times, all count. The same for all programs.")
	fs.StringVar(&o.ClusterNamespace, "cluster-namespace", o.ClusterNamespace, "Namespace of the Secrets (label "+registration.MemberLabel+
		"=true) that register members.")
	fs.StringSliceVar(&o.ClusterProfileNamespaces, "clusterprofile-namespaces", nil,
		"Namespaces of the ClusterProfiles that register members, for the source clusterprofile.")
	fs.StringSliceVar(&o.ClusterAPINamespaces, "capi-namespaces", nil,
		"Namespaces of the Clusters of Cluster API that register members, for the source capi.")
	fs.StringSliceVar(&o.RancherNamespaces, "rancher-namespaces", nil,
		"Namespaces of the Clusters of Rancher's Fleet that register members, such as fleet-default, for the source rancher.")
	fs.StringVar(&o.ArgoCDNamespace, "argocd-namespace", o.ArgoCDNamespace,
		"Namespace of the Secrets by which Argo CD knows clusters, for the source argocd.")
	fs.StringVar(&o.IdentitiesNamespace, "identities-namespace", o.IdentitiesNamespace, "Namespace of the ConfigMap "+
		member.IdentitiesName+", which records which registrations are established as which clusters, and of "+memberview.Name+
		", by which the controller-manager tells the metrics adapter what it sees of them. The same for all programs.")
	fs.DurationVar(&o.Timeout, "member-timeout", o.Timeout, "Timeout of each request to a member.")
	fs.DurationVar(&o.ProbePeriod, "member-probe-period", o.ProbePeriod, "Interval at which each member is probed.")
	fs.Float32Var(&o.QPS, "member-qps", o.QPS,
		"Sustained requests per second to each member. Scrapes, custom and external metrics, writes and "+
			"other reads have a quarter each, and what the others leave.")
	fs.IntVar(&o.Burst, "member-burst", o.Burst, "Burst of requests to each member beyond --member-qps.")
	fs.Var(&o.MaxAnswer, "max-member-answer",
		"Maximum size of a member's response after decompression. An event of a watch may have at most 16Mi.")
	fs.BoolVar(&o.AllowLocal, "allow-local-members", false,
		"Allow members, and proxies in front of them, at loopback and link-local addresses. For laboratories.")
	fs.StringSliceVar(&o.Policy.AllowedExecCommands, "allowed-exec-commands", nil,
		"Command lines of credential plugins that a registration may have run in this container: the command, and a word for each of its "+
			"arguments, in which * stands for any text without a slash: 'aws eks get-token --cluster-name *'. Words NAME=VALUE before the "+
			"command are variables that the registration may set. Default: none.")
	fs.BoolVar(&o.Policy.AllowFiles, "allow-kubeconfig-files", false,
		"Allow a registration's kubeconfig to reference files in this container.")
	fs.BoolVar(&o.Policy.AllowInsecure, "allow-insecure-member-tls", false,
		"Allow registrations that do not verify the member's certificate.")
}

// Validate returns every fault, each led by the flag that fixes it.
func (o *MemberOptions) Validate() error {
	return errors.Join(
		o.validateSources(),
		When(o.Timeout <= 0, "--member-timeout: must be above 0, got %v", o.Timeout),
		When(o.ProbePeriod <= 0, "--member-probe-period: must be above 0, got %v", o.ProbePeriod),
		When(o.QPS <= 0 || o.Burst < 1, "--member-qps and --member-burst: must be above 0, got %v and %d", o.QPS, o.Burst),
		When(o.MaxAnswer.Value() < leastMaxAnswer, "--max-member-answer: must be 1Mi or more, got %s", &o.MaxAnswer),
		When(o.IdentitiesNamespace == "", "--identities-namespace: must be set"),
		When(o.ClusterNamespace == "", "--cluster-namespace: must be set: registrations are read from one namespace only"),
		o.validatePlugins(),
	)
}

func (o *MemberOptions) validatePlugins() error {
	var errs []error
	for _, pattern := range o.Policy.AllowedExecCommands {
		if err := registration.CheckExecPattern(pattern); err != nil {
			errs = append(errs, fmt.Errorf("--allowed-exec-commands: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (o *MemberOptions) validateSources() error {
	known := registration.SourceNames()
	var unknown []string
	for _, name := range o.Sources {
		if !slices.Contains(known, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	return errors.Join(
		When(len(o.Sources) == 0, "--sources: must name at least one of %s", strings.Join(known, ", ")),
		When(len(unknown) > 0, "--sources: %s is not one of %s", strings.Join(unknown, ", "), strings.Join(known, ", ")),
		o.validateNamespaces("clusterprofile", "--clusterprofile-namespaces", o.ClusterProfileNamespaces),
		o.validateNamespaces("capi", "--capi-namespaces", o.ClusterAPINamespaces),
		o.validateNamespaces("rancher", "--rancher-namespaces", o.RancherNamespaces),
		o.validateNamespaces("argocd", "--argocd-namespace", []string{o.ArgoCDNamespace}),
	)
}

func (o *MemberOptions) validateNamespaces(source, flag string, namespaces []string) error {
	return When(slices.Contains(o.Sources, source) && (len(namespaces) == 0 || slices.Contains(namespaces, "")),
		"%s: must be set for the source %s, and no name may be empty", flag, source)
}

// Registry returns r with the settings of these options.
func (o *MemberOptions) Registry(r member.Options) member.Options {
	r.Registrations.Namespace, r.Registrations.Policy = o.ClusterNamespace, o.Policy
	r.Registrations.Sources, r.Registrations.ClusterProfileNamespaces = o.Sources, o.ClusterProfileNamespaces
	r.Registrations.ClusterAPINamespaces, r.Registrations.ArgoCDNamespace = o.ClusterAPINamespaces, o.ArgoCDNamespace
	r.Registrations.RancherNamespaces, r.Namespace = o.RancherNamespaces, o.IdentitiesNamespace
	r.Connections.QPS, r.Connections.Burst = o.QPS, o.Burst
	r.Connections.MaxAnswer, r.Connections.AllowLocal = o.MaxAnswer.Value(), o.AllowLocal
	r.Connections.Timeout, r.ProbePeriod = o.Timeout, o.ProbePeriod
	return r
}
