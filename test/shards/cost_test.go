// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
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
	decided := func(n float64) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			c.decisions, err = e.sum(ctx, "controller_runtime_reconcile_total", `controller="federatedhpa"`, `result="requeue_after"`)
			if err == nil && c.decisions < n {
				err = fmt.Errorf("%v, want %v", c.decisions, n)
			}
			return err
		}
	}
	e.comes(t, "the first decisions have been made", decided(measured/4))
	before, cpu, from := c.decisions, e.cpu(t), time.Now()
	e.comes(t, "more decisions have been made", decided(before+measured))
	until := time.Now()
	c.decisions -= before
	c.cpu = e.cpu(t) - cpu
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

// cpu is what all replicas have used.
func (e *env) cpu(t *testing.T) time.Duration {
	t.Helper()
	seconds, err := e.sum(t.Context(), "process_cpu_seconds_total")
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// sum is that of a metric of all replicas.
func (e *env) sum(ctx context.Context, name string, labels ...string) (sum float64, err error) {
	for _, r := range e.replicas {
		n, err := fixture.Metric(ctx, r.Metrics(), name, labels...)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
