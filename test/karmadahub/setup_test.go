// SPDX-License-Identifier: Apache-2.0

// Package karmadahub_test runs the built programs on a hub that is a real Karmada control plane: Karmada's own kinds, webhooks,
// scheduler and controllers propagate what the programs scale. Two members joined in Push mode and one in Pull mode; nothing
// else registers them. The hub gets what docs/karmada.md has people apply to it.
//
// Without Karmada's programs the tests are skipped: building them takes minutes.
package karmadahub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// patience is ours, with anything: Karmada repeats some of its work once a minute, and machines may be busy.
	patience = 3 * time.Minute
	// syncPeriod is the interval of reconciles of a FederatedHPA.
	syncPeriod = 2 * time.Second
	// doubted is for how long an object that has lost fields is not reconciled before anything is said of it.
	doubted = time.Minute
)

// pullMember is the member that an agent serves.
const pullMember = "member3"

// env is a Karmada control plane that our programs serve.
type env struct {
	*fixture.Fleet
	front       *fixture.Front // of the webhook
	adapter     *fixture.Adapter
	controllers *fixture.Controllers
	clients     map[string]kubernetes.Interface // by cluster
	hub         dynamic.Interface
}

// shared is one env for all tests.
var shared = fixture.Shared[*env]{Name: "karmadahub", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func started(t *testing.T) *env {
	t.Helper()
	if !lab.KarmadaIsBuilt() {
		t.Skip("Karmada's programs are not built: make test-karmada builds them, and runs this")
	}
	return shared.Of(t)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	members := lab.Members(3)
	for i := range members {
		members[i].Nodes, members[i].Pull = 1, members[i].Name == pullMember
		members[i].ControllerManagerArgs = []string{"--horizontal-pod-autoscaler-sync-period=2s"}
	}
	e := &env{}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second, Members: members,
		Karmada: &lab.Karmada{ControllerManagerArgs: []string{
			"--controllers=-federatedHorizontalPodAutoscaler,-cronFederatedHorizontalPodAutoscaler", // docs/karmada.md, "Controllers"
		}},
	}, []string{"metrics-adapter", "webhook", "controller-manager"}, e.raise)
}

// raise installs the programs as docs/karmada.md has people do it.
func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet = f
	if e.front, err = fixture.NewFront(ctx); err != nil {
		return err
	}
	if e.clients, err = e.Clients(); err != nil {
		return err
	}
	if e.hub, err = e.Hub().Dynamic(); err != nil {
		return err
	}
	if err := e.takeKinds(ctx); err != nil {
		return err
	}
	webhook, err := e.StartWebhook(ctx, e.Hub(), programs["webhook"], "webhook")
	if err != nil {
		return err
	}
	e.front.LeadTo(webhook.Port)
	if err := e.startAdapter(ctx); err != nil {
		return err
	}
	if _, err := e.Ask(ctx, "apply", "-k", e.Deploy("overlays/karmada/controller-manager")); err != nil {
		return err
	}
	e.controllers, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controller-manager",
		"--sync-period="+syncPeriod.String(), "--downscale-stabilization=5s", "--cpu-initialization-period=1s", "--initial-readiness-delay=1s",
		"--member-probe-period=2s", "--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=6s", "--leader-elect-retry-period=1s",
		"-v=2")
	return err
}

// takeKinds takes FederatedHPA and CronFederatedHPA from Karmada: docs/karmada.md, "Kinds and webhook". It is what
// people do again after an upgrade of Karmada.
func (e *env) takeKinds(ctx context.Context) error {
	for configuration, entries := range map[string][]string{
		"mutatingwebhookconfiguration/mutating-config":     {"autoscaling.karmada.io"},
		"validatingwebhookconfiguration/validating-config": {"federatedhpa.karmada.io", "cronfederatedhpa.karmada.io"},
	} {
		var deletions []string
		for _, name := range entries {
			deletions = append(deletions, fmt.Sprintf(`{"$patch": "delete", "name": %q}`, name))
		}
		patch := `{"webhooks": [` + strings.Join(deletions, ", ") + `]}`
		if _, err := e.Ask(ctx, "patch", configuration, "--type", "strategic", "-p", patch); err != nil {
			return err
		}
	}
	if err := e.InstallKinds(ctx, e.Hub()); err != nil {
		return err
	}
	return e.InstallWebhook(ctx, e.Hub(), e.front.Port())
}

// startAdapter has the adapter serve all metrics of the hub. Its Service leads to a port of this machine.
func (e *env) startAdapter(ctx context.Context) error {
	said, err := e.Ask(ctx, "kustomize", e.Deploy("overlays/karmada/beside-metrics-adapter"))
	if err != nil {
		return err
	}
	const there, here = "externalName: metrics-adapter.fleetscale-system.svc", "externalName: localhost"
	if _, err := e.Feed(ctx, strings.ReplaceAll(said.Stdout, there, here), "apply", "-f", "-"); err != nil {
		return err
	}
	e.adapter, err = e.ServeMetrics(ctx, e.Hub(), "metrics-adapter", "--member-probe-period=2s", "--apiservice-check-period=5s")
	return err
}

// Down stops everything.
func (e *env) Down() error { return errors.Join(e.front.Close(), e.Fleet.Down()) }
