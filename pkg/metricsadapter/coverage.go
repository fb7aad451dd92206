// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/warning"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// announce says who took part in an answer, or why there can be none: "no
// pods" and "nobody answered" must never look the same to an autoscaler.
func (a *Adapter) announce(ctx context.Context, c fleet.Coverage) error {
	if names, _ := a.clusters(); len(names) == 0 {
		return apierrors.NewServiceUnavailable("no member cluster is registered; see the log of the metrics adapter for where it looks")
	}
	if conversation := conversationOf(ctx); conversation != nil {
		conversation.header.Set(fleet.CoverageHeader, c.Header())
	}
	if c.NobodyAnswered() {
		return apierrors.NewServiceUnavailable(c.Warning())
	}
	if text := c.Warning(); text != "" {
		warning.AddWarning(ctx, fleet.WarningAgent, text)
	}
	return nil
}
