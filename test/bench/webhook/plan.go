// SPDX-License-Identifier: Apache-2.0

// Package webhook measures what the webhook adds to writes of autoscalers:
// beside the hub without webhooks, and beside webhooks that do nothing.
//
// The hub asks one or the other or none about a namespace, so that all three can
// be measured in turns while nothing is changed.
package webhook

import (
	"time"

	"github.com/fleetscale/fleetscale/test/bench/experiment"
)

// plan is how much is measured, and for how long.
type plan struct {
	// Rounds is how often each figure is measured, those that are compared side by side.
	Rounds int
	// For is how long each measurement lasts.
	For time.Duration
	// Settle is how long servers are watched while nobody asks them.
	Settle  time.Duration
	Clients []int
}

func full() plan {
	return plan{Rounds: 3, For: 2500 * time.Millisecond, Settle: 10 * time.Second, Clients: []int{1, 8, 32}}
}

func quick() plan {
	return plan{Rounds: 3, For: 500 * time.Millisecond, Settle: time.Second, Clients: []int{1, 8}}
}

// Experiments returns that of the webhook.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{experiment.Planned("webhook", quick(), full(), admissions)}
}
