// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// costly has objects of its own, so that they are not those of other tests.
	costly = "cost"
	// costlyShards is as many as are proposed for up to 8 replicas.
	costlyShards = 64
	// objects are decided every 2 s, so that what a replica costs that does nothing is a small part of it.
	objects = 160
	// measured is over how many decisions is counted.
	measured = 4000
)

// cost is what was counted of some replicas while they decided, with nothing to change.
type cost struct {
	decisions float64
	// most and fewest are the decisions of a replica.
	most, fewest float64
	cpu          time.Duration
	// onHub and inMember are requests, without those for Leases, and without watches.
	onHub, inMember int
	leases          int
	took            time.Duration
	// watches are all that ever began, of all replicas.
	watches int
}

// The requests of a decision are the same, however many replicas share the objects, and so are the watches of a replica. What a decision
// costs in CPU is told, and not judged, as a busy machine would decide that; nor is how even so few objects are divided.
func TestCostOfADecisionDoesNotGrowWithReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts for minutes; it runs in make test-full PARTS=shards")
	}
	needsAddresses(t)
	e := shared.Of(t)
	of := names("web", objects)
	if err := e.member.SetSeries(t.Context(), lab.Series{Metric: "load", Value: resource.MustParse("10")}); err != nil {
		t.Fatal(err)
	}
	if err := e.CreateNamespace(t.Context(), e.member, costly); err != nil {
		t.Fatal(err)
	}
	if err := e.Apply(t.Context(), e.Hub(), costly, joined(of, deployment)+joined(of, autoscaler("maxReplicas: 30, "+byLoad))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Ask(context.WithoutCancel(t.Context()), "-n", costly, "delete", "fhpa", "--all", "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	var alone cost
	for _, replicas := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			got := e.costOf(t, replicas)
			perDecision := func(n int) float64 { return float64(n) / got.decisions }
			t.Logf("%.0f decisions in %v: %.3f requests to the hub each, %.3f to the member, %v of CPU; %.1f requests for Leases a second; "+
				"%d watches; a replica made %.0f to %.0f decisions",
				got.decisions, got.took.Round(time.Second), perDecision(got.onHub), perDecision(got.inMember),
				(got.cpu / time.Duration(got.decisions)).Round(10*time.Microsecond), float64(got.leases)/got.took.Seconds(), got.watches,
				got.fewest, got.most)
			if replicas == 1 {
				alone = got
				return
			}
			if alone.decisions == 0 {
				t.Fatal("there is nothing to compare this with")
			}
			if one := float64(alone.onHub) / alone.decisions; perDecision(got.onHub) > 1.1*one {
				t.Errorf("%.2f requests to the hub for each decision, and %.2f where one replica has all objects", perDecision(got.onHub), one)
			}
			if got.watches > replicas*alone.watches {
				t.Errorf("%d watches of %d replicas, and %d of one alone", got.watches, replicas, alone.watches)
			}
		})
	}
}

// costOf counts what so many replicas do.
func (e *env) costOf(t *testing.T, replicas int) (c cost) {
	t.Helper()
	launched := time.Now()
	for range replicas {
		if err := e.launch(t, costlyShards, "GOMAXPROCS=1"); err != nil { // as the replicas share the machine
			t.Fatal(err)
		}
	}
	e.divided(t, costlyShards)
	decisions := []string{"controller_runtime_reconcile_total", `controller="federatedhpa"`, `result="requeue_after"`}
	used := []string{"process_cpu_seconds_total"}
	e.comes(t, "the first decisions have been made", func(ctx context.Context) error {
		made, err := e.each(ctx, decisions)
		if err == nil && sum(made) < 2*objects {
			err = fmt.Errorf("%v", made)
		}
		return err
	})
	before, cpu, from := e.now(t, decisions), e.now(t, used), time.Now()
	var made []float64
	e.comes(t, "more decisions have been made", func(ctx context.Context) (err error) {
		made, err = e.each(ctx, decisions)
		if err == nil && sum(made) < sum(before)+measured {
			err = fmt.Errorf("%v, of %v", made, before)
		}
		return err
	})
	c.cpu = time.Duration((sum(e.now(t, used)) - sum(cpu)) * float64(time.Second))
	until := time.Now()
	c.took = until.Sub(from)
	for i := range made {
		made[i] -= before[i]
	}
	c.decisions, c.most, c.fewest = sum(made), slices.Max(made), slices.Min(made)
	for _, r := range e.replicas {
		if err := r.Stop(); err != nil { // so that watches have ended
			t.Fatal(err)
		}
	}
	for cluster, user := range map[*lab.Cluster]string{e.Hub(): userOnHub, e.member: userInMember} {
		all, err := cluster.Requests()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			inTime := r.Begun.After(from) && r.Begun.Before(until)
			switch {
			case r.User != user || r.Begun.Before(launched):
			case r.Verb == "watch":
				c.watches++
			case inTime && r.Resource == "leases":
				c.leases++
			case inTime && cluster == e.member:
				c.inMember++
			case inTime:
				c.onHub++
			}
		}
	}
	return c
}

// each is the sum of series of each replica, which are those of a metric, with labels.
func (e *env) each(ctx context.Context, series []string) (all []float64, err error) {
	for _, r := range e.replicas {
		n, err := fixture.Metric(ctx, r.Metrics(), series[0], series[1:]...)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// now is [env.each], which has been told before.
func (e *env) now(t *testing.T, series []string) []float64 {
	t.Helper()
	all, err := e.each(t.Context(), series)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sum(of []float64) (sum float64) {
	for _, n := range of {
		sum += n
	}
	return sum
}
