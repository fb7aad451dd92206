// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/warning"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/usage"
)

// announce returns who took part in an answer, or why there can be none: "no
// pods" and "nobody answered" must be distinguishable for an autoscaler.
func announce(ctx context.Context, registered []string, c fleet.Coverage) error {
	if len(registered) == 0 {
		return errNoMembers()
	}
	tell(ctx, c)
	if c.NobodyAnswered() {
		return apierrors.NewServiceUnavailable(c.Warning())
	}
	warn(ctx, c)
	return nil
}

func errNoMembers() error {
	return apierrors.NewServiceUnavailable(
		"no member cluster is registered; see the log of the metrics adapter for the registrations that it reads")
}

// tell sets the header with the coverage, whatever becomes of the answer.
func tell(ctx context.Context, c fleet.Coverage) {
	if conversation := conversationOf(ctx); conversation != nil {
		conversation.header.Set(fleet.CoverageHeader, c.Header())
	}
}

// warn adds a warning about what an answer lacks.
func warn(ctx context.Context, c fleet.Coverage) {
	if text := c.Warning(); text != "" {
		warning.AddWarning(ctx, fleet.WarningAgent, text)
	}
}

// addUnheard adds a word on every registered member that the question is for
// and that the answer has none of. One that was not taken up yet is silent, not
// forgotten: else the first answers after a start, or after a join, would pass
// for whole ones.
func addUnheard[T any](answer fleet.Answer[T], registered []string, asked func(name string) bool) {
	for _, name := range registered {
		_, answered := answer.Values[name]
		_, silent := answer.Silent[name]
		if !answered && !silent && asked(name) {
			answer.Silent[name] = &fleet.Silence{Reason: usage.ReasonNotYetAsked, Detail: "registered a moment ago"}
		}
	}
}
