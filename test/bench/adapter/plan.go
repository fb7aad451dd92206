// SPDX-License-Identifier: Apache-2.0

// Package adapter measures the metrics adapter beside its peers: a real
// metrics-server that has as many Pods, and the encoder alone on the same list.
package adapter

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/bench/experiment"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// plan is how much is measured, and for how long.
type plan struct {
	// Rounds is how often each figure is measured, those that are compared side by side.
	Rounds int
	// For is how long each measurement of a server lasts.
	For time.Duration
	// Settle is how long a server is watched while nobody asks it: a period of its own or more.
	Settle time.Duration

	// Members, Pods and Clients are those of the lists.
	Members, Pods, Clients []int
	// Known are the Pods of the memory experiment, ascending; KnownMembers have them.
	// KnownRounds are its rounds for each, descending, since the last take long.
	Known, KnownRounds []int
	KnownMembers       int
	// Starts are the members of the start experiment, PeerStarts its starts of a metrics-server.
	Starts     []int
	PeerStarts int
	// Scale is the fleet of the scale experiment.
	Scale bulk
	// CustomRounds are those of the custom experiment.
	CustomRounds int
	// Autoscalers, ascending from 1, ask at their pace for AskFor, in so many rounds.
	Autoscalers []int
	AskFor      time.Duration
	LoadRounds  int
}

func full() plan {
	return plan{
		Rounds: 3, For: time.Second, Settle: 16 * time.Second,
		Members: []int{2, 20, 100}, Pods: []int{200, 2_000, 20_000}, Clients: []int{1, 8, 32},
		Known: []int{10_000, 100_000, million}, KnownRounds: []int{3, 2, 2}, KnownMembers: 100,
		Starts: []int{2, 20, 100}, PeerStarts: 3,
		Scale:        bulk{members: 1_000, namespaces: 500, pods: 20, period: 3 * time.Minute},
		CustomRounds: 3,
		Autoscalers:  []int{1, 100, 1_000}, AskFor: 2 * pace, LoadRounds: 2,
	}
}

func quick() plan {
	return plan{
		Rounds: 3, For: 400 * time.Millisecond, Settle: 16 * time.Second,
		Members: []int{2, 20}, Pods: []int{200, 2_000}, Clients: []int{1, 8},
		Known: []int{10_000, 100_000}, KnownRounds: []int{1, 1}, KnownMembers: 20,
		Starts: []int{2, 20}, PeerStarts: 0,
		Scale:        bulk{members: 50, namespaces: 20, pods: 20, period: 16 * time.Second},
		CustomRounds: 1,
		Autoscalers:  []int{1, 100}, AskFor: pace, LoadRounds: 1,
	}
}

// Experiments are all of the adapter, in the order of the report.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		experiment.Planned("list", quick(), full(), lists),
		experiment.Planned("memory", quick(), full(), memory),
		experiment.Planned("scale", quick(), full(), scale),
		experiment.Planned("start", quick(), full(), starts),
		experiment.Planned("custom", quick(), full(), custom),
		experiment.Planned("members", quick(), full(), memberLoad),
	}
}

// spread runs Pods in a namespace, as many in each member as in any other, give or take one.
func spread(members []*sim.Member, namespace string, pods int) error {
	for i, m := range members {
		share := pods / len(members)
		if i < pods%len(members) {
			share++
		}
		err := m.Run(sim.Workload{Namespace: namespace, Name: "web", Replicas: share,
			Metrics: map[string]resource.Quantity{podMetric: resource.MustParse("42")}})
		if err != nil {
			return err
		}
	}
	return nil
}

func namespaceOf(pods int) string { return fmt.Sprintf("pods-%d", pods) }

// podMetric is the custom metric of every Pod.
const podMetric = "requests_per_second"

var formats = [...]struct{ name, media string }{{"JSON", stage.JSON}, {"protobuf", stage.Protobuf}}

const kib, mib = 1 << 10, 1 << 20
