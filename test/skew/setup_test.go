// SPDX-License-Identifier: Apache-2.0

package skew

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// patience is ours, with anything: two periods of metrics-server, and machines may be busy.
	patience = 2 * time.Minute
	// shop is the namespace of the story, in all clusters.
	shop = "shop"
)

// newest is the version that the lab's own programs are of, and what the libraries of our programs are for.
const newest = "1.37"

// combination is a fleet, by the minor versions of its clusters.
type combination struct {
	hub     string
	members [2]string
}

// combinations are all pairs of a hub and a member that are not of the same version, both ways.
func combinations() []combination {
	return []combination{
		{newest, [2]string{"1.36", "1.35"}},
		{"1.36", [2]string{newest, "1.35"}},
		{"1.35", [2]string{newest, "1.36"}},
	}
}

// env is a fleet of a combination, served by our programs.
type env struct {
	*fixture.Fleet
	combination

	clients map[string]kubernetes.Interface
	objects dynamic.Interface // of the hub
}

// kubernetesOf is how the lab is told a version.
func kubernetesOf(minor string) string {
	if minor == newest {
		return ""
	}
	return minor
}

// build makes sure that the programs of these versions are there, and tells how that goes.
func build(t *testing.T, minors ...string) {
	t.Helper()
	for _, minor := range minors {
		if kubernetesOf(minor) == "" {
			continue
		}
		if _, err := lab.BuildKubernetes(t.Context(), minor, os.Stderr); err != nil {
			t.Fatal(err)
		}
	}
}

// raise starts a combination, which ends with the test.
func raise(t *testing.T, c combination) *env {
	t.Helper()
	build(t, c.hub, c.members[0], c.members[1])
	e := &env{combination: c}
	members := lab.Members(len(c.members))
	for i := range members {
		members[i].Nodes, members[i].Kubernetes = 1, kubernetesOf(c.members[i])
		members[i].ControllerManagerArgs = []string{"--horizontal-pod-autoscaler-sync-period=2s"}
	}
	fixture.RaiseFor(t, lab.Options{
		MetricResolution: 10 * time.Second, Hub: lab.Hub{Kubernetes: kubernetesOf(c.hub)}, Members: members,
	}, []string{"metrics-adapter", "webhook", "controller-manager"}, e.install)
	return e
}

// install has the programs serve the hub, with all members registered.
func (e *env) install(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet = f
	if e.clients, err = e.Clients(); err != nil {
		return err
	}
	if e.objects, err = e.Hub().Dynamic(); err != nil {
		return err
	}
	if err := e.Install(ctx, e.Hub()); err != nil {
		return err
	}
	if _, err := e.ServeWebhook(ctx, e.Hub(), programs["webhook"], "webhook", "--self-signed-check-period=1s"); err != nil {
		return err
	}
	if _, err := e.ServeMetrics(ctx, e.Hub(), "metrics-adapter", "--member-probe-period=2s"); err != nil {
		return err
	}
	_, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controller-manager", "--sync-period=2s",
		"--member-probe-period=2s", "--downscale-stabilization=5s", "--cpu-initialization-period=1s", "--initial-readiness-delay=1s", "-v=2")
	if err != nil {
		return err
	}
	members, joining := errgroup.WithContext(ctx)
	for _, member := range e.Members() {
		members.Go(func() error {
			return errors.Join(e.JoinToScale(joining, member), e.CreateNamespace(joining, member, shop))
		})
	}
	return errors.Join(members.Wait(), e.CreateNamespace(ctx, e.Hub(), shop))
}
