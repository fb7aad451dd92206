// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/guard"
)

// Access says which of a registration's credentials a program uses.
type Access int

const (
	// Write uses the key kubeconfig.
	Write Access = iota
	// Read prefers the key kubeconfig-read.
	Read
)

// Policy is what a registration may make us do beside opening a verified TLS
// connection. The zero value allows nothing of it.
type Policy struct {
	// AllowedExecCommands are the credential plugins that may be run, spelled
	// as in the kubeconfig's command. Arguments and environment are the
	// registration's: allowing a command allows all of them.
	AllowedExecCommands []string
	// AllowFiles lets a kubeconfig name files of our container.
	AllowFiles bool
	// AllowInsecure lets a registration do without TLS verification.
	AllowInsecure bool
}

// Options say where registrations are and how members are asked. Zero
// durations and limits stand for the defaults given here.
type Options struct {
	// Hub and HubDynamic reach the hub; their limits are the caller's.
	Hub        kubernetes.Interface
	HubDynamic dynamic.Interface
	// Namespace of the registration Secrets.
	Namespace string
	// Access chooses among a Secret's kubeconfigs.
	Access Access
	Policy Policy
	// HubMetricsServer reaches the hub's own metrics-server, for a hub that is
	// a member of its own fleet; see [HubMetricsServerConfig]. Without it such a
	// hub is refused to who has Read access; who writes asks members no metrics.
	HubMetricsServer *rest.Config

	// UserAgent of every request to a member.
	UserAgent string
	// QPS and Burst limit the callers' requests to each member (50, 100).
	QPS   float32
	Burst int
	// MaxAnswer bounds the bytes of each answer of a member after decompression
	// (128 MiB), and those of each event of a watch, which are 16 MiB at most.
	MaxAnswer int64
	// Timeout bounds every request to a member (5 s), and then the time in which its answer is decoded.
	Timeout time.Duration
	// ProbePeriod is the time between two probes of a member (10 s), and the longest after a failure.
	ProbePeriod time.Duration
	// DiscoveryPeriod is the time between two looks for Karmada's API (15 s).
	DiscoveryPeriod time.Duration

	// Recorder writes Events on registrations. May be nil.
	Recorder record.EventRecorder
	// Metrics counts. May be nil.
	Metrics *Metrics

	guard *guard.Scheme // of what members' answers are made of
}

// DefaultMaxAnswer is that of [Options.MaxAnswer]: a list of 200 000 PodMetrics, and more.
const DefaultMaxAnswer = 128 << 20

func (o Options) withDefaults() Options {
	o.UserAgent = cmp.Or(o.UserAgent, rest.DefaultKubernetesUserAgent())
	o.QPS = cmp.Or(o.QPS, 50)
	o.Burst = cmp.Or(o.Burst, 100)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	o.guard = guard.SchemeOf(scheme.Scheme)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.ProbePeriod = cmp.Or(o.ProbePeriod, 10*time.Second)
	o.DiscoveryPeriod = cmp.Or(o.DiscoveryPeriod, 15*time.Second)
	return o
}
