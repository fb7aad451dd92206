// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"errors"
	"math"
	"os"
	"slices"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/hub/placement"
	"github.com/fleetscale/fleetscale/pkg/registration"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// Options are the program's command-line options.
// NewOptions sets the defaults; Validate reports every fault.
type Options struct {
	Hub     HubOptions
	Leader  LeaderOptions
	Members command.MemberOptions
	// Namespaces are those that are acted in.
	Namespaces command.NamespaceOptions
	// WriteNamespace has the credentials that write in members.
	WriteNamespace string
	// PlacementDecisions lets autoscalers name the decision of a scheduler.
	PlacementDecisions bool
	Autoscale          AutoscaleOptions
	Cron               CronOptions
	Multidim           MultidimOptions
	Observing          ObserveOptions
	Records            RecordOptions
	Serving            ServingOptions
	SelfSigning        certs.Settings // of the metrics, without certificate files
	Logging            *logs.Options
}

// memberTimeoutsPerReconcile is how many member timeouts one reconcile of a FederatedHPA may take: for reading scales,
// for filling caches and for writing replicas in members, and for members that the hub's placement (once) and its metrics
// APIs (twice) wait for.
const memberTimeoutsPerReconcile = 6

// HubOptions say how the hub is reached, and what leads scrapers to us.
type HubOptions struct {
	Kubeconfig                    string
	Timeout                       time.Duration
	ServiceNamespace, ServiceName string
}

// LeaderOptions configure leader election.
type LeaderOptions struct {
	Elect bool
	// Shards is in how many parts the objects are divided; 1: the leader reconciles all.
	Shards                                    int
	Namespace                                 string
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// AutoscaleOptions are those of FederatedHPAs. Where Kubernetes' HorizontalPodAutoscaler controller has the same option,
// name and default are its.
type AutoscaleOptions struct {
	Syncs      int
	SyncPeriod time.Duration
	Decision   replicas.Options
	// PropagationGrace is for central mode that writes to the hub, FailoverGrace for distributed mode.
	PropagationGrace, FailoverGrace time.Duration
	// RestAfterScaling and BestEffortStep are for distributed mode: strategy Demand, and scaleDownOrder BestEffort.
	RestAfterScaling, BestEffortStep time.Duration
	// DeletionGrace is for deletions that members do not let end, of MultidimPodAutoscalers too.
	DeletionGrace time.Duration
	// CreateWorkloads lets distributed mode create workloads in members that allow it.
	CreateWorkloads bool
}

// CronOptions are those of CronFederatedHPAs.
type CronOptions struct {
	TimeZone string
	Syncs    int
}

// ServingOptions are the addresses of metrics, health probes and profiles.
type ServingOptions struct {
	MetricsBindAddress              string
	MetricsCertFile, MetricsKeyFile string
	// MetricsPerObject is how many autoscalers of a kind have metrics of their own.
	MetricsPerObject        int
	HealthProbesBindAddress string
	ProfilingBindAddress    string
}

// NewOptions returns the defaults. They are stated nowhere else.
func NewOptions() *Options {
	return &Options{
		Hub: HubOptions{
			Timeout: 30 * time.Second, ServiceNamespace: "fleetscale-system", ServiceName: "controller-manager-metrics",
		},
		Leader: LeaderOptions{
			Elect: true, Shards: 1, Namespace: "fleetscale-system",
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		},
		Members: command.NewMemberOptions(), WriteNamespace: "fleetscale-clusters-write",
		Autoscale: AutoscaleOptions{
			Syncs: 10, SyncPeriod: 15 * time.Second, PropagationGrace: 5 * time.Minute, FailoverGrace: 5 * time.Minute,
			RestAfterScaling: 2 * time.Minute, BestEffortStep: 2 * time.Minute, DeletionGrace: time.Hour,
			Decision: replicas.Options{
				StabilizationWindow:     5 * time.Minute,
				Tolerance:               0.1,
				CPUInitializationPeriod: 5 * time.Minute,
				InitialReadinessDelay:   30 * time.Second,
			},
		},
		Cron:     CronOptions{TimeZone: cmp.Or(os.Getenv("TZ"), "UTC"), Syncs: 10},
		Multidim: newMultidimOptions(), Observing: ObserveOptions{BindAddress: "127.0.0.1:8082"}, Records: newRecordOptions(),
		Serving: ServingOptions{
			MetricsBindAddress: ":8443", MetricsPerObject: 1000, HealthProbesBindAddress: ":8081", ProfilingBindAddress: "0",
		},
		SelfSigning: certs.NewSettings("controller-manager-self-signed"), Logging: logs.NewOptions(),
	}
}

// Flags binds the options to flags, in the sections of --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Hub.addFlags(&sets)
	o.Namespaces.AddFlags(sets.FlagSet("hub"))
	o.Leader.addFlags(&sets)
	o.Members.AddFlags(sets.FlagSet("members"))
	sets.FlagSet("members").StringVar(&o.WriteNamespace, "write-namespace", o.WriteNamespace,
		"Namespace of the Secrets, each of the same name "+
			"as one in --cluster-namespace, with the credentials that write in members. If it is the same namespace, one Secret does for both.")
	sets.FlagSet("members").BoolVar(&o.PlacementDecisions, "placement-decisions", o.PlacementDecisions,
		"Read PlacementDecisions of multicluster.x-k8s.io, by which autoscalers with the annotation "+placement.DecisionAnnotation+
			" select clusters. Needs the source "+registration.ClusterProfileSource+".")
	o.Autoscale.addFlags(&sets)
	o.Cron.addFlags(&sets)
	o.Multidim.addFlags(&sets)
	o.Observing.addFlags(&sets)
	o.Records.addFlags(&sets)
	o.Serving.addFlags(&sets)
	o.SelfSigning.AddFlags(sets.FlagSet("self-signed certificate"))
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

func (o *HubOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("hub")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Kubeconfig of the hub. Empty: the in-cluster configuration.")
	fs.DurationVar(&o.Timeout, "hub-timeout", o.Timeout, "Timeout of one reconcile, after which it is retried. At least six times "+
		"--member-timeout, which bounds each of its steps.")
	fs.StringVar(&o.ServiceNamespace, "service-namespace", o.ServiceNamespace, "Namespace of the Service by which scrapers reach us.")
	fs.StringVar(&o.ServiceName, "service-name", o.ServiceName, "Name of that Service: scrapers verify NAME.NAMESPACE.svc.")
}

func (o *LeaderOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("leader election")
	fs.BoolVar(&o.Elect, "leader-elect", o.Elect,
		"Elect a leader among the replicas; only the leader reconciles, but for --shards. If false, run one replica only.")
	fs.IntVar(&o.Shards, "shards", o.Shards, "In how many shards the objects are divided, each reconciled by the replica that holds its "+
		"Lease; 64 do for up to 8 replicas. 1: the leader reconciles all. Replicas with another number than the leader's reconcile nothing.")
	fs.StringVar(&o.Namespace, "leader-elect-resource-namespace", o.Namespace,
		"Namespace of the hub that holds the Lease controller-manager.fleetscale.io.")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration,
		"Time after which another replica takes over from a leader that no longer renews its lease.")
	fs.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline,
		"Time after which a leader that cannot renew its lease steps down and exits.")
	fs.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod,
		"Interval between attempts to acquire or renew the lease.")
}

func (o *AutoscaleOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("autoscaling")
	fs.IntVar(&o.Syncs, "concurrent-federatedhpa-syncs", o.Syncs, "Number of FederatedHPAs that are reconciled concurrently.")
	fs.DurationVar(&o.SyncPeriod, "sync-period", o.SyncPeriod, "Interval at which each FederatedHPA is reconciled.")
	fs.DurationVar(&o.PropagationGrace, "propagation-grace", o.PropagationGrace, "How long members may run another number of replicas "+
		"than the workload on the hub specifies, in central mode without replicaDistribution, before the condition Propagated is False; and "+
		"none of them follow before a run of a CronFederatedHPA fails.")
	fs.DurationVar(&o.FailoverGrace, "failover-grace", o.FailoverGrace,
		"How long an unreachable cluster keeps its share of maxReplicas, in distributed mode, before other clusters get it.")
	fs.DurationVar(&o.RestAfterScaling, "rest-after-scaling", o.RestAfterScaling, "How long the bounds of a cluster, in distributed mode, "+
		"do not follow its demand after its HorizontalPodAutoscaler has scaled it.")
	fs.DurationVar(&o.BestEffortStep, "best-effort-step", o.BestEffortStep, "How much longer a cluster waits before it scales down, in "+
		"distributed mode with scaleDownOrder BestEffort, for each priority below its own. The wait is at most 1h.")
	fs.DurationVar(&o.DeletionGrace, "deletion-grace", o.DeletionGrace, "How long the deletion of a FederatedHPA or MultidimPodAutoscaler "+
		"waits for clusters that cannot be written. Then it ends, and what is left behind is removed once they are back.")
	fs.BoolVar(&o.CreateWorkloads, "create-workloads", o.CreateWorkloads, "Create the workload of a FederatedHPA, in distributed mode, from "+
		"that of the hub in clusters that lack it, where the cluster's registration allows that. Set it for the webhook too, which then asks "+
		"whether the author of the FederatedHPA may create that workload.")
	fs.DurationVar(&o.Decision.StabilizationWindow, "downscale-stabilization", o.Decision.StabilizationWindow,
		"Stabilization window for scaling down, where spec.behavior sets none.")
	fs.Float64Var(&o.Decision.Tolerance, "tolerance", o.Decision.Tolerance,
		"Fraction by which usage may differ from its target without scaling, where spec.behavior sets none.")
	fs.DurationVar(&o.Decision.CPUInitializationPeriod, "cpu-initialization-period", o.Decision.CPUInitializationPeriod,
		"Period after a Pod's start in which its CPU usage counts only if it was measured while the Pod was Ready.")
	fs.DurationVar(&o.Decision.InitialReadinessDelay, "initial-readiness-delay", o.Decision.InitialReadinessDelay,
		"Period after a Pod's start in which a Pod that became unready counts as never having been ready.")
}

func (o *CronOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("cron")
	fs.StringVar(&o.TimeZone, "time-zone", o.TimeZone,
		"Time zone of rules that set none, such as Europe/Berlin. It must be the same in "+
			"all replicas. Default: the environment variable TZ, otherwise UTC.")
	fs.IntVar(&o.Syncs, "concurrent-cronfederatedhpa-syncs", o.Syncs, "Number of CronFederatedHPAs that are reconciled concurrently.")
}

func (o *ServingOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("serving")
	fs.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, command.MetricsAddressHelp)
	fs.StringVar(&o.MetricsCertFile, "metrics-tls-cert-file", o.MetricsCertFile, "Certificate (PEM) by which scrapers verify "+
		"--metrics-bind-address, reloaded when it changes. Empty: a self-signed certificate; with --observe one that nobody can verify.")
	fs.StringVar(&o.MetricsKeyFile, "metrics-tls-private-key-file", o.MetricsKeyFile, "Key (PEM) of --metrics-tls-cert-file.")
	fs.IntVar(&o.MetricsPerObject, "metrics-per-object", o.MetricsPerObject, "How many FederatedHPAs, and how many "+
		"MultidimPodAutoscalers, have metrics of their own at most. That is some ten series for each, five for each of its clusters, and two "+
		"for each of its metrics or containers.")
	fs.StringVar(&o.HealthProbesBindAddress, "health-probe-bind-address", o.HealthProbesBindAddress,
		"Address on which /healthz and /readyz are served over plain HTTP, without reasons. 0 disables them.")
	fs.StringVar(&o.ProfilingBindAddress, "profiling-bind-address", o.ProfilingBindAddress,
		"Address on which /debug/pprof is served over plain HTTP, to anyone who can reach it. 0 disables it.")
}

// Validate returns all faults at once, each prefixed with its flag.
func (o *Options) Validate() error {
	_, zone := schedule.LoadZone(o.Cron.TimeZone)
	least := memberTimeoutsPerReconcile * o.Members.Timeout
	return errors.Join(
		o.Leader.validate(),
		command.When(o.Hub.Timeout <= 0, "--hub-timeout: must be above 0, got %v", o.Hub.Timeout),
		command.When(zone != nil, "--time-zone: %q %w", o.Cron.TimeZone, zone),
		command.When(o.Cron.Syncs < 1, "--concurrent-cronfederatedhpa-syncs: must be 1 or more, got %d", o.Cron.Syncs),
		command.When(o.Hub.Timeout > 0 && o.Hub.Timeout < least, "--hub-timeout: must be %v or more with this --member-timeout, got %v", least,
			o.Hub.Timeout),
		command.When(o.Serving.MetricsPerObject < 0, "--metrics-per-object: must be 0 or more, got %d", o.Serving.MetricsPerObject),
		command.When((o.Serving.MetricsCertFile == "") != (o.Serving.MetricsKeyFile == ""),
			"--metrics-tls-cert-file and --metrics-tls-private-key-file: set both, or none"),
		errors.Join(o.SelfSigning.Validate()...),
		command.When(o.SelfSigning.Secret == "", "--self-signed-secret: must be set"),
		command.When(o.Hub.ServiceNamespace == "", "--service-namespace: must be set"),
		command.When(o.Hub.ServiceName == "", "--service-name: must be set"),
		o.Members.Validate(),
		o.Namespaces.Validate(),
		command.When(o.WriteNamespace == "", "--write-namespace: must be set"),
		command.When(o.PlacementDecisions && !slices.Contains(o.Members.Sources, registration.ClusterProfileSource),
			"--placement-decisions: needs %s in --sources, which tells which clusters are meant", registration.ClusterProfileSource),
		o.Autoscale.validate(),
		o.Multidim.validate(),
		o.Observing.validate(),
		o.Records.validate(),
	)
}

func (o *AutoscaleOptions) validate() error {
	return errors.Join(
		command.When(o.Syncs < 1, "--concurrent-federatedhpa-syncs: must be 1 or more, got %d", o.Syncs),
		command.When(o.SyncPeriod <= 0, "--sync-period: must be above 0, got %v", o.SyncPeriod),
		command.When(o.Decision.Tolerance < 0 || math.IsNaN(o.Decision.Tolerance), "--tolerance: must be 0 or more, got %v",
			o.Decision.Tolerance),
		notNegative("--propagation-grace", o.PropagationGrace),
		notNegative("--failover-grace", o.FailoverGrace),
		notNegative("--rest-after-scaling", o.RestAfterScaling),
		command.When(o.BestEffortStep < time.Second || o.BestEffortStep > time.Hour, "--best-effort-step: must be from 1s to 1h, got %v",
			o.BestEffortStep),
		notNegative("--deletion-grace", o.DeletionGrace),
		notNegative("--downscale-stabilization", o.Decision.StabilizationWindow),
		notNegative("--cpu-initialization-period", o.Decision.CPUInitializationPeriod),
		notNegative("--initial-readiness-delay", o.Decision.InitialReadinessDelay),
	)
}

func notNegative(flag string, period time.Duration) error {
	return command.When(period < 0, "%s: must be 0 or more, got %v", flag, period)
}

// mostShards is more than the hub should renew Leases for.
const mostShards = 1024

// divides reports whether the objects are divided over the replicas.
func (o *LeaderOptions) divides() bool { return o.Shards > 1 }

func (o *LeaderOptions) validate() error {
	least := o.RetryPeriod * 6 / 5 // the library adds up to a fifth to the pause, so that not all ask at once
	return errors.Join(
		command.When(o.Shards < 1 || o.Shards > mostShards, "--shards: must be from 1 to %d, got %d", mostShards, o.Shards),
		command.When(o.divides() && !o.Elect, "--shards: needs --leader-elect"),
		command.When(o.Namespace == "", "--leader-elect-resource-namespace: must be set"),
		command.When(o.RetryPeriod <= 0, "--leader-elect-retry-period: must be above 0, got %v", o.RetryPeriod),
		command.When(o.RenewDeadline <= least, "--leader-elect-renew-deadline: must be above %v with this retry period, got %v", least,
			o.RenewDeadline),
		command.When(o.LeaseDuration <= o.RenewDeadline,
			"--leader-elect-lease-duration: must be above --leader-elect-renew-deadline (%v), got %v",
			o.RenewDeadline, o.LeaseDuration),
	)
}
