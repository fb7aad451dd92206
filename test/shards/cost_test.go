// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// costly has objects of its own, so that they are not those of other tests.
	costly = "cost"
	// measured is over how many decisions is counted.
	measured = 400
)

// cost is what was counted of some replicas while they decided, with nothing to change.
type cost struct {
	decisions float64
	cpu       time.Duration
	// onHub and inMember are requests, without those for Leases, and without watches.
	onHub, inMember int
	leases          int
	took            time.Duration
	// watches are all that ever began, of all replicas.
	watches int
}

// The requests of a decision are the same, however many replicas share the objects, and so are the watches of a replica. What a decision
// costs in CPU is told, and not judged: a busy machine would decide that.
func TestCostOfADecisionDoesNotGrowWithReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts for minutes; it runs in make test-full PARTS=shards")
	}
	needsAddresses(t)
	e := shared.Of(t)
	objects := names("web", 32)
	if err := e.member.SetSeries(t.Context(), lab.Series{Metric: "load", Value: resource.MustParse("10")}); err != nil {
		t.Fatal(err)
	}
	manifests := joined(objects, deployment) + joined(objects, autoscaler("maxReplicas: 30, "+byLoad))
	if err := e.Apply(t.Context(), e.Hub(), costly, manifests); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Ask(context.WithoutCancel(t.Context()), "-n", costly, "delete", "fhpa", "--all"); err != nil {
			t.Error(err)
		}
	})
	var alone cost
	for _, replicas := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			got := e.costOf(t, replicas)
			perDecision := func(n int) float64 { return float64(n) / got.decisions }
			t.Logf("%.0f decisions in %v: %.2f requests to the hub each, %.2f to the member, %v of CPU; %.1f requests for Leases a second; "+
				"%d watches", got.decisions, got.took.Round(time.Second), perDecision(got.onHub), perDecision(got.inMember),
				(got.cpu / time.Duration(got.decisions)).Round(10*time.Microsecond), float64(got.leases)/got.took.Seconds(), got.watches)
			if replicas == 1 {
				alone = got
				return
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
		if err := e.launch(t); err != nil {
			t.Fatal(err)
		}
	}
	e.divided(t)
	const decisions = `controller_runtime_reconcile_total\{controller="federatedhpa",result="requeue_after"\}`
	e.comes(t, "the first decisions have been made", func(ctx context.Context) error { return e.reaches(ctx, decisions, measured/4, nil) })
	before, cpu, from := e.sum(t, decisions), e.sum(t, "process_cpu_seconds_total"), time.Now()
	e.comes(t, "more decisions have been made", func(ctx context.Context) error {
		return e.reaches(ctx, decisions, before+measured, &c.decisions)
	})
	until := time.Now()
	c.decisions -= before
	c.cpu = time.Duration((e.sum(t, "process_cpu_seconds_total") - cpu) * float64(time.Second))
	c.took = until.Sub(from)
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

// sum is that of series of all replicas.
func (e *env) sum(t *testing.T, series string) float64 {
	t.Helper()
	var sum float64
	if err := e.reaches(t.Context(), series, 0, &sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// reaches is nil once the sum of series of all replicas is so large.
func (e *env) reaches(ctx context.Context, series string, want float64, sum *float64) error {
	got := 0.0
	for _, r := range e.replicas {
		n, err := r.tells(ctx, series)
		if err != nil {
			return err
		}
		got += n
	}
	if sum != nil {
		*sum = got
	}
	if got < want {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}
