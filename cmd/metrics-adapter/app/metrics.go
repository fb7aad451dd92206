// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memory"
	"github.com/fleetscale/fleetscale/pkg/members/relay"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
	"github.com/fleetscale/fleetscale/pkg/metricsadapter/apiguard"
)

// Metrics are all that the program tells of itself, beside what the API server's library does: docs/metrics-reference.md is
// written from them.
type Metrics struct {
	members     *member.Metrics
	kept        *memory.Metrics
	usage       *usage.Metrics
	relay       *relay.Metrics
	apiservices *apiguard.Metrics
	certificate *certs.Metrics
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	command.RegisterBuildInfo(reg)
	return &Metrics{
		members:     member.NewMetrics(reg),
		kept:        memory.NewMetrics(reg),
		usage:       usage.NewMetrics(reg),
		relay:       relay.NewMetrics(reg),
		apiservices: apiguard.NewMetrics(reg),
		certificate: certs.NewMetrics(reg),
	}
}
