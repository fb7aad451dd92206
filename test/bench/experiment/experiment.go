// SPDX-License-Identifier: Apache-2.0

// Package experiment is what all experiments have in common, whatever they measure.
package experiment

import (
	"context"
	"io"

	"github.com/fleetscale/fleetscale/test/bench/report"
	"github.com/fleetscale/fleetscale/test/bench/stage"
)

// Experiment measures one thing.
type Experiment struct {
	// Name is also its section's.
	Name string
	// Run measures it on the stage, which it leaves as it was. The log shows how it goes.
	Run func(ctx context.Context, s *stage.Stage, size Size, log io.Writer) (report.Section, error)
}

// Planned is an experiment that measures by a plan, of which there is one for each size.
func Planned[P any](name string, quick, full P, run func(ctx context.Context, s *stage.Stage, plan P, log io.Writer) (report.Section,
	error)) Experiment {
	return Experiment{Name: name, Run: func(ctx context.Context, s *stage.Stage, size Size, log io.Writer) (report.Section, error) {
		return run(ctx, s, Of(size, quick, full), log)
	}}
}

// Of is the plan for a size.
func Of[P any](size Size, quick, full P) P {
	if size == Quick {
		return quick
	}
	return full
}

// Size is how much is measured.
type Size string

// All experiments together take about a quarter of an hour if they are quick.
const (
	Quick Size = "quick"
	Full  Size = "full"
)
