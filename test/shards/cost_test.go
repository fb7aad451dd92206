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
	// measured is for how long is counted. Replicas are asked for their metrics before and after it only: where they were asked four times a
	// second meanwhile, most of what the further ones cost was to answer.
	measured = 25 * time.Second
)

// cost is what was counted of some replicas while they decided, with nothing to scale.
type cost struct {
	from, until time.Time
	decisions   float64
	// most and fewest are the decisions of a replica.
	most, fewest float64
	cpu          time.Duration
	// onHub and inMember are requests, without those for Leases, and without watches.
	onHub, inMember int
	leases          int
}

func (c *cost) perDecision(n int) float64 { return float64(n) / c.decisions }

func (c *cost) String() string {
	return fmt.Sprintf("%.0f decisions in %v: %.3f requests to the hub each, %.3f to the member, %v of CPU; "+
		"%.1f requests for Leases a second; a replica made %.0f to %.0f decisions",
		c.decisions, c.until.Sub(c.from).Round(time.Second), c.perDecision(c.onHub), c.perDecision(c.inMember),
		(c.cpu / time.Duration(c.decisions)).Round(10*time.Microsecond), float64(c.leases)/c.until.Sub(c.from).Seconds(), c.fewest, c.most)
}

// The requests of a decision are the same, however many replicas share the objects, and so are the watches of a replica: both where nothing
// changes, and where the load does, so that each decision writes a status, which all replicas read. What a decision costs in CPU is
// told, and not judged, as a busy machine would decide that; nor is how even so few objects are divided.
func TestCostOfADecisionDoesNotGrowWithReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts for minutes; it runs in make test-full PARTS=shards")
	}
	needsAddresses(t)
	e := shared.Of(t)
	of := names("web", objects)
	if err := e.setLoad(t.Context(), 0); err != nil {
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
	var alone map[string]cost
	var watchesAlone int
	for _, replicas := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			costs, watches := e.costsOf(t, replicas)
			for when, c := range costs {
				t.Logf("%s: %v; %d watches in all", when, &c, watches)
			}
			if replicas == 1 {
				alone, watchesAlone = costs, watches
				return
			}
			if alone == nil {
				t.Fatal("there is nothing to compare this with")
			}
			for when, c := range costs {
				if one := alone[when]; c.perDecision(c.onHub) > 1.1*one.perDecision(one.onHub) {
					t.Errorf("%s: %.2f requests to the hub for each decision, and %.2f where one replica has all objects", when,
						c.perDecision(c.onHub), one.perDecision(one.onHub))
				}
			}
			if watches > replicas*watchesAlone {
				t.Errorf("%d watches of %d replicas, and %d of one alone", watches, replicas, watchesAlone)
			}
		})
	}
}

// setLoad sets what all objects scale by, such that each needs one replica, whatever the step.
func (e *env) setLoad(ctx context.Context, step int) error {
	return e.member.SetSeries(ctx, lab.Series{Metric: "load", Value: *resource.NewMilliQuantity(10_000-int64(step%1000), resource.DecimalSI)})
}

// costsOf counts what so many replicas do, and the watches that they ever begin.
func (e *env) costsOf(t *testing.T, replicas int) (costs map[string]cost, watches int) {
	t.Helper()
	launched := time.Now()
	for range replicas {
		if err := e.launch(t, costlyShards, "GOMAXPROCS=1"); err != nil { // as the replicas share the machine
			t.Fatal(err)
		}
	}
	e.divided(t, costlyShards)
	e.comes(t, "the first decisions have been made", func(ctx context.Context) error {
		made, err := e.each(ctx, decisions)
		if err == nil && sum(made) < 2*objects {
			err = fmt.Errorf("%v", made)
		}
		return err
	})
	costs = map[string]cost{
		"nothing changes": e.costOf(t, func(int) error { return nil }),
		"the load does":   e.costOf(t, func(step int) error { return e.setLoad(t.Context(), step) }),
	}
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
			switch {
			case r.User != user || r.Begun.Before(launched):
			case r.Verb == "watch":
				watches++
			default:
				for when, c := range costs {
					c.count(r, cluster == e.member)
					costs[when] = c
				}
			}
		}
	}
	return costs, watches
}

// count adds one request.
func (c *cost) count(r lab.Request, inMember bool) {
	switch {
	case r.Begun.Before(c.from) || r.Begun.After(c.until):
	case r.Resource == "leases":
		c.leases++
	case inMember:
		c.inMember++
	default:
		c.onHub++
	}
}

// decisions and used are what replicas tell of themselves.
var (
	decisions = []string{"controller_runtime_reconcile_total", `controller="federatedhpa"`, `result="requeue_after"`}
	used      = []string{"process_cpu_seconds_total"}
)

// costOf counts what the replicas do, but for requests. Once a second the next step is made meanwhile.
func (e *env) costOf(t *testing.T, next func(step int) error) (c cost) {
	t.Helper()
	before, cpu := e.now(t, decisions), e.now(t, used)
	c.from = time.Now()
	steps, over := time.NewTicker(time.Second), time.After(measured)
	defer steps.Stop()
	for step := 1; c.until.IsZero(); step++ {
		select {
		case <-steps.C:
			if err := next(step); err != nil {
				t.Fatal(err)
			}
		case c.until = <-over:
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		}
	}
	c.cpu = time.Duration((sum(e.now(t, used)) - sum(cpu)) * float64(time.Second))
	made := e.now(t, decisions)
	for i := range made {
		made[i] -= before[i]
	}
	c.decisions, c.most, c.fewest = sum(made), slices.Max(made), slices.Min(made)
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
