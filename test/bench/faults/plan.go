// SPDX-License-Identifier: Apache-2.0

// Package faults measures what askers and workloads notice while members, the
// hub and our own programs fail: every answer is judged by what the members
// really measured, and every write of replicas by whether the load has changed.
//
//	scene ──► members (sim), two adapters behind a front, two controller-managers
//	  ├ clients  ask without end; each answer goes to the judge, and into the journal
//	  ├ fault    begins and ends
//	  └ scalers  FederatedHPAs under a load that justifies their replicas
//
// The experiment faults has one fault after the other, soak has them at random.
package faults

import (
	"time"

	"github.com/fleetscale/fleetscale/test/bench/experiment"
)

// plan is how much is measured, and for how long.
type plan struct {
	Members int
	// Full has faults which are much like others, too.
	Full bool
	// Together is how many fail at once, where many do.
	Together int
	// Pause is the time between two questions of a client.
	Pause time.Duration
	// During is how long a fault lasts, and the time before it that it is compared with.
	During time.Duration
	// Long is During of the first fault: longer than the adapter serves what it knows.
	Long time.Duration
	// Calm is how long all answers have to be right until a fault counts as over.
	Calm time.Duration
	// Lie is how many answers there are for a planted lie.
	Lie int
	// Scalers is the number of FederatedHPAs.
	Scalers int
	// Lease are arguments of the controller-manager.
	Lease []string
}

func full() plan {
	return plan{
		Full: true, Members: 100, Together: 30, Pause: 400 * time.Millisecond,
		During: 15 * time.Second, Long: 80 * time.Second, Calm: 3 * time.Second,
		Lie: 50, Scalers: 20,
	}
}

func quick() plan {
	return plan{
		Members: 20, Together: 6, Pause: 50 * time.Millisecond,
		During: 1500 * time.Millisecond, Long: 3 * time.Second, Calm: 500 * time.Millisecond,
		Lie: 25, Scalers: 20,
		Lease: []string{"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"},
	}
}

// Experiments returns those of this package, in the order of the report.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		experiment.Planned("faults", quick(), full(), runFaults),
		experiment.Planned("soak", quickSoak(), fullSoak(), runSoak),
	}
}
