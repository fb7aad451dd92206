// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Options say where registrations are and how members are asked. Zero durations
// stand for the defaults given here.
type Options struct {
	// Hub and HubDynamic reach the hub; their limits are the caller's.
	Hub        kubernetes.Interface
	HubDynamic dynamic.Interface
	// Registrations say which objects of the hub register members.
	Registrations registration.Options
	// Namespace of the hub holds the record of identities (that of the registrations).
	Namespace string
	// Connections say how members are asked.
	Connections connection.Options
	// HubMetricsServer reaches the hub's own metrics-server, for a hub that is
	// a member of its own fleet. Without it such a hub is refused to who has Read
	// access; who writes asks members no metrics.
	HubMetricsServer *rest.Config

	// ProbePeriod is the time between two probes of a member (10 s), and the longest after a failure.
	ProbePeriod time.Duration
	// Inspect has each member asked for its version and APIs, when it is connected to and then every five minutes.
	Inspect bool
	// Needs are the rights of which each member is asked whether the registration's identity has them, as often.
	Needs []grants.Right
	// DiscoveryPeriod is the interval of discovery for APIs of registrations (15 s).
	DiscoveryPeriod time.Duration

	// Recorder writes Events on registrations. May be nil.
	Recorder record.EventRecorder
	// Metrics counts. May be nil.
	Metrics *Metrics
}

func (o Options) withDefaults() Options {
	o.Connections = o.Connections.WithDefaults()
	o.Namespace = cmp.Or(o.Namespace, o.Registrations.Namespace)
	o.ProbePeriod = cmp.Or(o.ProbePeriod, 10*time.Second)
	o.DiscoveryPeriod = cmp.Or(o.DiscoveryPeriod, 15*time.Second)
	return o
}
