// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/command"
	"github.com/fleetscale/fleetscale/pkg/controllers/cronfederatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/central"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/distributed"
	"github.com/fleetscale/fleetscale/pkg/controllers/multidim"
	"github.com/fleetscale/fleetscale/pkg/controllers/sharding"
	"github.com/fleetscale/fleetscale/pkg/controllers/tokens"
	"github.com/fleetscale/fleetscale/pkg/hub/hubmetrics"
	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// Metrics are all that the program tells of itself: docs/metrics-reference.md is written from them.
type Metrics struct {
	objects     *federatedhpa.Metrics
	central     *central.Metrics
	distributed *distributed.Metrics
	cron        *cronfederatedhpa.Metrics
	multidim    *multidim.Metrics
	tokens      *tokens.Metrics
	hub         *hubmetrics.Metrics
	schema      *served.Metrics
	losses      *served.Losses
	webhooks    *served.Metrics
	records     *recordstore.Metrics
	members     *member.Metrics
	certificate *certs.Metrics
	shards      *sharding.Metrics
}

// NewMetrics registers on reg, so two instances never share state.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	command.RegisterBuildInfo(reg)
	return &Metrics{
		objects:     federatedhpa.NewMetrics(reg),
		central:     central.NewMetrics(reg),
		distributed: distributed.NewMetrics(reg),
		cron:        cronfederatedhpa.NewMetrics(reg),
		multidim:    multidim.NewMetrics(reg),
		tokens:      tokens.NewMetrics(reg),
		hub:         hubmetrics.NewMetrics(reg),
		schema:      served.NewMetrics(reg),
		losses:      served.NewLosses(reg),
		webhooks:    served.NewWebhookMetrics(reg),
		records:     recordstore.NewMetrics(reg),
		members:     member.NewMetrics(reg),
		certificate: certs.NewMetrics(reg),
		shards:      sharding.NewMetrics(reg),
	}
}
