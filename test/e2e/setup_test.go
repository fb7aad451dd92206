// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// period is the time between two measurements of a member, and between two
	// questions of the adapter to it.
	period = 10 * time.Second
	// maxAge is how long the adapter serves what it knows of a silent member.
	maxAge = 3 * period
	// memberTimeout is the adapter's patience with one member.
	memberTimeout = 3 * time.Second
	// answerTTL is how long the adapter keeps a member's answer for a custom or
	// external metric.
	answerTTL = 2 * time.Second
	// patience is ours, with anything: machines may be busy.
	patience = 2 * time.Minute
)

// env is what all tests share.
type env struct {
	*fixture.Fleet
	adapter     *fixture.Adapter
	controllers string // the program
	dir         string
	// alone is held by the test that has the fleet to itself.
	alone sync.Mutex
	// broken is set once a test began and the fleet did not become whole.
	broken bool
}

// shared is one env for all tests.
var shared = fixture.Shared[*env]{Name: "e2e", Start: setUp}

// Parallel tests wait, for a clock or for the fleet: they need no core each.
const parallelTests = "16"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		panic(err)
	}
	shared.Main(m)
}

// adapterFlags shorten the windows that a test would have to wait for.
func adapterFlags() []string {
	return []string{
		"--scrape-period=" + period.String(),
		"--max-age=" + maxAge.String(),
		"--member-timeout=" + memberTimeout.String(),
		"--member-probe-period=2s",
		"--apiservice-check-period=2s",
		"--answer-ttl=" + answerTTL.String(),
		"--metric-discovery-period=2s",
		"-v=2",
	}
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{dir: dir}
	quick := []string{
		"--horizontal-pod-autoscaler-sync-period=2s",
		"--horizontal-pod-autoscaler-downscale-stabilization=5s",
		"--horizontal-pod-autoscaler-cpu-initialization-period=1s",
		"--horizontal-pod-autoscaler-initial-readiness-delay=1s",
	}
	members := lab.Members(len(allMembers()))
	observers := []string{"system:serviceaccounts:" + observerNamespace}
	for i := range members {
		members[i].ControllerManagerArgs, members[i].Recorded = quick, observers
	}
	return e, fixture.Raise(ctx, dir, lab.Options{
		Hub:              lab.Hub{Workloads: true, ControllerManagerArgs: quick, Recorded: observers},
		Members:          members,
		MetricResolution: period,
	}, []string{"metrics-adapter"}, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, _ map[string]string) (err error) {
	e.Fleet = f
	if err := e.serve(ctx); err != nil {
		return err
	}
	// While the members measure what runs in them.
	if e.controllers, err = fixture.Build(ctx, "controller-manager", e.dir, os.Stderr); err != nil {
		return err
	}
	return e.measured(ctx)
}

// measured returns when the members themselves know what the shop's pods use:
// the hub is not asked before, since it would have to ask them a second time.
func (e *env) measured(ctx context.Context) error {
	for _, member := range e.Members() {
		config, err := member.RESTConfig()
		if err != nil {
			return err
		}
		err = fixture.Await(ctx, patience, func(ctx context.Context) error {
			v, err := see(ctx, config, shopPath)
			if err == nil && len(v.items) != shopPods {
				err = fmt.Errorf("%d pods of %d are measured: %d %s", len(v.items), shopPods, v.Code, v.Message)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("awaiting the metrics of %s: %w", member.Name, err)
		}
	}
	return nil
}

// serve has the hub serve the fleet's metrics.
func (e *env) serve(ctx context.Context) (err error) {
	if err := e.InstallHub(ctx, e.Hub()); err != nil {
		return err
	}
	if err := e.CreateNamespace(ctx, e.Hub(), shop); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for i, member := range e.Members() {
		group.Go(func() error {
			if err := e.openShop(groupCtx, member, i+1); err != nil {
				return err
			}
			return e.Join(groupCtx, member)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	e.adapter, err = e.ServeMetrics(ctx, e.Hub(), "metrics-adapter", adapterFlags()...)
	return err
}

// started returns the shared fleet, which others use at the same time.
func started(t *testing.T) *env {
	t.Helper()
	return shared.Of(t)
}

// whole returns the shared fleet once all of it answers. Until the test ends no
// other gets it from here.
func whole(t *testing.T) *env {
	t.Helper()
	e := started(t)
	e.alone.Lock()
	t.Cleanup(e.alone.Unlock)
	if e.broken {
		t.Fatal("an earlier test has left the fleet broken")
	}
	t.Cleanup(func() {
		if t.Failed() {
			e.showLog(t)
		}
	})
	e.broken = true
	e.awaitWhole(t)
	e.broken = false
	return e
}
