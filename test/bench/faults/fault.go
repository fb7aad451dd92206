// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net/http"
	"time"

	"github.com/fleetscale/fleetscale/test/sim"
)

// fault is something that goes wrong, until it does no more.
type fault struct {
	name string
	// long is one that has to last until the adapter has nothing left to serve.
	long bool
	// full is one that only the full size has: others of the quick one are much like it.
	full bool
	// atMost bounds one of a soak; 0: it may take as long as any.
	atMost time.Duration
	// kills is one that ends an adapter. Its clients go to the other one, and stay there: that is no growth, but resembles it.
	kills bool
	// begin returns what ends it.
	begin func(ctx context.Context, s *scene) (end func(context.Context) error, err error)
}

// one, some and all are who is hit.
func one(*scene) int    { return 1 }
func some(s *scene) int { return s.plan.Together }
func all(s *scene) int  { return s.plan.Members }

// conduct is a fault of members.
func conduct(name string, c sim.Conduct, hit func(*scene) int) fault {
	return fault{name: name, begin: func(_ context.Context, s *scene) (func(context.Context) error, error) {
		victims := s.victims(hit(s))
		behave := func(c sim.Conduct) {
			for _, m := range victims {
				m.Behave(c)
			}
		}
		behave(c)
		return func(context.Context) error {
			behave(sim.Conduct{})
			return nil
		}, nil
	}}
}

func onlyFull(f fault) fault {
	f.full = true
	return f
}

// faults are all but that of the leader, which ends when another one leads.
func faults() []fault {
	hangs := conduct("a member hangs", sim.Conduct{Hang: true}, one)
	hangs.long = true
	return []fault{
		hangs,
		conduct("a member is dead", sim.Conduct{Away: true}, one),
		onlyFull(conduct("a member takes 2 s for each answer", sim.Conduct{Latency: 2 * time.Second}, one)),
		onlyFull(conduct("a member takes 6 s, more than its deadline", sim.Conduct{Latency: 6 * time.Second}, one)),
		conduct("a member answers garbage", sim.Conduct{Garbage: true}, one),
		onlyFull(conduct("a member shows another cluster's certificate", sim.Conduct{ForeignCertificate: true}, one)),
		onlyFull(conduct("a member has no metrics-server", sim.WithoutMetricsServer(), one)),
		conduct("a member is away every other 5 s", sim.Conduct{Flap: 5 * time.Second}, one),
		conduct("a member fails 30 % of its requests", sim.Conduct{Failing: 0.3, Code: http.StatusInternalServerError}, one),
		conduct("30 % of the members hang at once", sim.Conduct{Hang: true}, some),
		conduct("the network is slow: 200 to 500 ms to each member", sim.Conduct{Latency: 200 * time.Millisecond, Jitter: 300 * time.Millisecond},
			all),
		{name: "an adapter is killed, and started again", begin: killAdapter, kills: true},
		{name: "the hub's API server is away", begin: stopHub, atMost: hubAway},
	}
}

// hubAway, and the time that the hub takes to start, is less than a leader
// waits until it gives up and ends: one that ended tells nothing of growth.
const hubAway = 3 * time.Second

// victim is the replica that is killed; the other one's memory is measured.
const victim, survivor = 1, 0

func killAdapter(_ context.Context, s *scene) (func(context.Context) error, error) {
	return func(ctx context.Context) error { return s.replicas.Start(ctx, victim) }, s.replicas.Kill(victim)
}

func stopHub(_ context.Context, s *scene) (func(context.Context) error, error) {
	hub := s.stage.Hub()
	return hub.Start, hub.Stop()
}
