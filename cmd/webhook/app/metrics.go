// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/webhook"
)

// Metrics are all that the program tells of itself: docs/metrics-reference.md is written from them.
type Metrics struct {
	admission   *webhook.Metrics
	certificate *certs.Metrics
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	command.RegisterBuildInfo(reg)
	return &Metrics{admission: webhook.NewMetrics(reg), certificate: certs.NewMetrics(reg)}
}
