// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/replicas"
	"github.com/fleetscale/fleetscale/pkg/schedule"
)

// Options is what a person may set on the command line, and nothing else.
// NewOptions gives every field its default; Validate reports every fault.
type Options struct {
	Hub       HubOptions
	Leader    LeaderOptions
	Members   command.MemberOptions
	Autoscale AutoscaleOptions
	Cron      CronOptions
	Serving   ServingOptions
	Logging   *logs.Options
}

// looksAtMembers is how many times as long as for one member one look at a FederatedHPA may take: members are asked for
// scales, for what they know and to take their replicas, and may be waited for by who tells the placement and, twice as
// long, the metrics.
const looksAtMembers = 6

// HubOptions say how the hub is reached.
type HubOptions struct {
	Kubeconfig string
	Timeout    time.Duration
}

// LeaderOptions say how one of several replicas comes to work.
type LeaderOptions struct {
	Elect                                     bool
	Namespace                                 string
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// AutoscaleOptions are those of FederatedHPAs. Names and defaults are those of Kubernetes'
// HorizontalPodAutoscaler controller, where it has the same.
type AutoscaleOptions struct {
	Syncs      int
	SyncPeriod time.Duration
	Decision   replicas.Options
	// PropagationGrace is that of central mode where the hub is told, FailoverGrace that of distributed mode.
	PropagationGrace, FailoverGrace time.Duration
}

// CronOptions are those of CronFederatedHPAs.
type CronOptions struct {
	TimeZone string
	Syncs    int
}

// ServingOptions say where we may be asked how we are.
type ServingOptions struct {
	MetricsBindAddress      string
	HealthProbesBindAddress string
	ProfilingBindAddress    string
}

// NewOptions returns the defaults. They are stated here and in no other place.
func NewOptions() *Options {
	return &Options{
		Hub: HubOptions{Timeout: 30 * time.Second},
		Leader: LeaderOptions{
			Elect: true, Namespace: "fleetscale-system",
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		},
		Members: command.NewMemberOptions(),
		Autoscale: AutoscaleOptions{
			Syncs: 10, SyncPeriod: 15 * time.Second, PropagationGrace: 5 * time.Minute, FailoverGrace: 5 * time.Minute,
			Decision: replicas.Options{
				StabilizationWindow:     5 * time.Minute,
				Tolerance:               0.1,
				CPUInitializationPeriod: 5 * time.Minute,
				InitialReadinessDelay:   30 * time.Second,
			},
		},
		Cron:    CronOptions{TimeZone: cmp.Or(os.Getenv("TZ"), "UTC"), Syncs: 10},
		Serving: ServingOptions{MetricsBindAddress: ":8080", HealthProbesBindAddress: ":8081", ProfilingBindAddress: "0"},
		Logging: logs.NewOptions(),
	}
}

// Flags binds the options to flags, in the sections that --help shows.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Hub.addFlags(&sets)
	o.Leader.addFlags(&sets)
	o.Members.AddFlags(sets.FlagSet("members"))
	o.Autoscale.addFlags(&sets)
	o.Cron.addFlags(&sets)
	o.Serving.addFlags(&sets)
	logsapi.AddFlags(o.Logging, sets.FlagSet("logging"))
	return sets
}

func (o *HubOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("hub")
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "File that says how to reach the hub. Empty: this runs in a pod of the hub.")
	fs.DurationVar(&o.Timeout, "hub-timeout", o.Timeout, "Longest time for all that is done for one object, before it is tried again. At "+
		"least six times --member-timeout, which bounds each of its steps.")
}

func (o *LeaderOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("leader election")
	fs.BoolVar(&o.Elect, "leader-elect", o.Elect, "Work only as the leader of all replicas. Without it there must be no more than one.")
	fs.StringVar(&o.Namespace, "leader-elect-resource-namespace", o.Namespace,
		"Namespace of the hub that holds the Lease controller-manager.fleetscale.io.")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration,
		"Time after which another replica takes the place of a leader that is not heard of any more.")
	fs.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline,
		"Time after which a leader that cannot renew its lease gives up, and ends.")
	fs.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "Time between two attempts to get or to renew the lease.")
}

func (o *AutoscaleOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("autoscaling")
	fs.IntVar(&o.Syncs, "concurrent-federatedhpa-syncs", o.Syncs, "Number of FederatedHPAs that are looked at at a time.")
	fs.DurationVar(&o.SyncPeriod, "sync-period", o.SyncPeriod, "Time between two looks at a FederatedHPA.")
	fs.DurationVar(&o.PropagationGrace, "propagation-grace", o.PropagationGrace, "For how long members may run another number of replicas "+
		"than the workload on the hub asks for, in central mode without replicaDistribution, before the condition Propagated is False.")
	fs.DurationVar(&o.FailoverGrace, "failover-grace", o.FailoverGrace,
		"For how long a cluster that cannot be seen keeps its part of maxReplicas, in distributed mode, before other clusters get it.")
	fs.DurationVar(&o.Decision.StabilizationWindow, "downscale-stabilization", o.Decision.StabilizationWindow,
		"For how long a higher recommendation keeps the replicas up, where spec.behavior does not say.")
	fs.Float64Var(&o.Decision.Tolerance, "tolerance", o.Decision.Tolerance,
		"By how much usage may differ from its target without scaling, as a part of it, where spec.behavior does not say.")
	fs.DurationVar(&o.Decision.CPUInitializationPeriod, "cpu-initialization-period", o.Decision.CPUInitializationPeriod,
		"For how long after its start a Pod's cpu counts only if it was measured while the Pod was Ready.")
	fs.DurationVar(&o.Decision.InitialReadinessDelay, "initial-readiness-delay", o.Decision.InitialReadinessDelay,
		"Until when after its start a Pod that became unready was never ready.")
}

func (o *CronOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("cron")
	fs.StringVar(&o.TimeZone, "time-zone", o.TimeZone, "Time zone of rules that name none, such as Europe/Berlin. All replicas must have "+
		"the same. Default: the environment variable TZ, or else UTC.")
	fs.IntVar(&o.Syncs, "concurrent-cronfederatedhpa-syncs", o.Syncs, "Number of CronFederatedHPAs that are worked on at a time.")
}

func (o *ServingOptions) addFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("serving")
	fs.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "Address of /metrics, over plain HTTP. 0: none.")
	fs.StringVar(&o.HealthProbesBindAddress, "health-probe-bind-address", o.HealthProbesBindAddress,
		"Address of /healthz and /readyz, over plain HTTP. 0: none.")
	fs.StringVar(&o.ProfilingBindAddress, "profiling-bind-address", o.ProfilingBindAddress,
		"Address of /debug/pprof, over plain HTTP: whoever can reach it may look into the program. 0: none.")
}

// Validate returns every fault at once, each led by the flag that mends it.
func (o *Options) Validate() error {
	errs := o.Leader.validate()
	if o.Hub.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("--hub-timeout: must be above 0, got %v", o.Hub.Timeout))
	}
	if _, err := schedule.LoadZone(o.Cron.TimeZone); err != nil {
		errs = append(errs, fmt.Errorf("--time-zone: %q %w", o.Cron.TimeZone, err))
	}
	if o.Cron.Syncs < 1 {
		errs = append(errs, fmt.Errorf("--concurrent-cronfederatedhpa-syncs: must be 1 or more, got %d", o.Cron.Syncs))
	}
	if least := looksAtMembers * o.Members.Timeout; o.Hub.Timeout > 0 && o.Hub.Timeout < least {
		errs = append(errs, fmt.Errorf("--hub-timeout: must be %v or more with this --member-timeout, got %v", least, o.Hub.Timeout))
	}
	errs = append(errs, o.Members.Validate()...)
	errs = append(errs, o.Autoscale.validate()...)
	return errors.Join(errs...)
}

func (o *AutoscaleOptions) validate() (errs []error) {
	if o.Syncs < 1 {
		errs = append(errs, fmt.Errorf("--concurrent-federatedhpa-syncs: must be 1 or more, got %d", o.Syncs))
	}
	if o.SyncPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--sync-period: must be above 0, got %v", o.SyncPeriod))
	}
	if o.Decision.Tolerance < 0 || math.IsNaN(o.Decision.Tolerance) {
		errs = append(errs, fmt.Errorf("--tolerance: must be 0 or more, got %v", o.Decision.Tolerance))
	}
	for _, period := range []struct {
		flag  string
		value time.Duration
	}{
		{"--propagation-grace", o.PropagationGrace},
		{"--failover-grace", o.FailoverGrace},
		{"--downscale-stabilization", o.Decision.StabilizationWindow},
		{"--cpu-initialization-period", o.Decision.CPUInitializationPeriod},
		{"--initial-readiness-delay", o.Decision.InitialReadinessDelay},
	} {
		if period.value < 0 {
			errs = append(errs, fmt.Errorf("%s: must be 0 or more, got %v", period.flag, period.value))
		}
	}
	return errs
}

func (o *LeaderOptions) validate() (errs []error) {
	if o.Namespace == "" {
		errs = append(errs, errors.New("--leader-elect-resource-namespace: must be set"))
	}
	if o.RetryPeriod <= 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period: must be above 0, got %v", o.RetryPeriod))
	}
	// The library adds up to a fifth to the pause, so that not all ask at once.
	if least := o.RetryPeriod * 6 / 5; o.RenewDeadline <= least {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline: must be above %v with this retry period, got %v", least, o.RenewDeadline))
	}
	if o.LeaseDuration <= o.RenewDeadline {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration: must be above --leader-elect-renew-deadline (%v), got %v", o.RenewDeadline,
			o.LeaseDuration))
	}
	return errs
}
