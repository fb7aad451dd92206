// SPDX-License-Identifier: Apache-2.0

// Package controller measures the controller of FederatedHPAs beside Kubernetes'
// own controller of HorizontalPodAutoscalers, which has as many autoscalers and
// Pods in one cluster.
//
//	world.go       the autoscalers, their workloads and Pods, twice: in a fleet with its hub, and in one cluster
//	side.go        one controller, with all that works for it, and what it is asked for
//	reconciles.go       when each autoscaler was decided
//	rest.go        what decisions cost that change nothing, at the usual pace
//	change.go      a load that calls for more replicas, everywhere at once
//	saturated.go   as many decisions as there can be
//	section.go     the report
package controller

import (
	"context"
	"io"
	"time"

	"github.com/fleetscale/fleetscale/test/bench/experiment"
	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// plan is how much is measured, and for how long.
type plan struct {
	// Autoscalers are the sizes, ascending; Pods how many they have in all, of all sizes.
	Autoscalers []int
	Pods        int
	// Period is the time between two decisions of one autoscaler, and that between two measurements of a cluster.
	// Zero: the defaults, which are the same everywhere.
	Period time.Duration
	// Rounds is how many periods at rest are measured, and how often each side is saturated, in turns, for For.
	Rounds int
	For    time.Duration
}

const usualPeriod = 15 * time.Second

func full() plan {
	return plan{Autoscalers: []int{100, 1_000, 5_000}, Pods: 100_000, Period: usualPeriod, Rounds: 3, For: 5 * time.Second}
}

func quick() plan {
	return plan{Autoscalers: []int{50, 200}, Pods: 2_000, Period: 2 * time.Second, Rounds: 2, For: time.Second}
}

// Experiments returns that of the controllers.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{experiment.Planned("controllers", quick(), full(), run)}
}

func run(ctx context.Context, s *stage.Stage, p plan, log io.Writer) (report.Section, error) {
	var all []*outcome
	for _, n := range p.Autoscalers {
		o, err := runWith(ctx, s, p, n, log)
		if err != nil {
			return report.Section{}, err
		}
		all = append(all, o)
	}
	return section(p, all), nil
}
