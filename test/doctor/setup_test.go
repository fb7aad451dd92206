// SPDX-License-Identifier: Apache-2.0

// Package doctor_test plants faults in a fleet of real control planes, and has `kubectl fleetscale doctor` find each of them, as a person
// types it; and nothing where nothing is wrong.
package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/plugin/doctor"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// east is a real cluster. west is a server in front of it that may misbehave, and tells another uid.
	east, west = "east", "west"
	// shop has a workload in east, and its autoscaler on the hub.
	shop = "shop"
	// patience is for what programs notice by themselves: machines may be busy.
	patience = 2 * time.Minute
)

// env is a fleet in which nothing is wrong, and whose programs run.
type env struct {
	*fixture.Fleet
	member      *lab.Cluster
	west        *mirror
	adapter     *fixture.Adapter
	webhook     *fixture.Webhook
	controllers *fixture.Controllers
}

var shared = fixture.Shared[*env]{Name: "doctor", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

// Down stops everything.
func (e *env) Down() error {
	e.west.Close()
	return e.Fleet.Down()
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second, Members: []lab.Member{{Name: east, Nodes: 1, WithoutTestAdapter: true}},
	}, []string{"metrics-adapter", "webhook", "controller-manager"}, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet = f
	if e.member, err = e.Cluster(east); err != nil {
		return err
	}
	if e.west, err = newMirror(e.member); err != nil {
		return err
	}
	if err := e.Install(ctx, e.Hub()); err != nil {
		return err
	}
	if err := errors.Join(e.JoinToScale(ctx, e.member), e.joinWest(ctx), e.work(ctx)); err != nil {
		return err
	}
	return e.launch(ctx, programs)
}

// joinWest registers the mirror with both credentials.
func (e *env) joinWest(ctx context.Context) error {
	return e.RegisterToScale(ctx, west, e.member, e.west.kubeconfig)
}

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web,
  image: web, resources: {requests: {cpu: 100m}}}]}}}
`

// work has a Deployment run in east.
func (e *env) work(ctx context.Context) error {
	if err := e.CreateNamespace(ctx, e.Hub(), shop); err != nil {
		return err
	}
	if err := e.Apply(ctx, e.member, shop, web); err != nil {
		return err
	}
	return e.member.SetUsage(ctx, lab.Usage{CPU: new(resource.MustParse("70m"))})
}

// launch starts the programs, and leads the hub to them.
func (e *env) launch(ctx context.Context, programs map[string]string) (err error) {
	flags := []string{"--member-probe-period=2s", "--member-timeout=3s"}
	e.adapter, err = e.ServeMetrics(ctx, e.Hub(), "adapter", append(flags, "--scrape-period=10s", "--apiservice-check-period=2s")...)
	if err != nil {
		return err
	}
	if e.webhook, err = e.ServeWebhook(ctx, e.Hub(), programs["webhook"], "webhook"); err != nil {
		return err
	}
	if e.controllers, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controllers", append(flags, "--sync-period=2s",
		"--cpu-initialization-period=1s", "--initial-readiness-delay=1s", "--leader-elect-retry-period=1s",
		// Longer than a busy machine stalls: nobody starts it again.
		"--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=25s")...); err != nil {
		return err
	}
	return fixture.Await(ctx, patience, func(ctx context.Context) error { // until the hub calls the webhook
		_, err := e.Feed(ctx, autoscaler, "-n", shop, "apply", "-f", "-")
		return err
	})
}

const autoscaler = `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 3,
  clusterAffinity: {clusterNames: [east]}, replicaDistribution: {}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]}
`

// told is what doctor reports, and how it ends.
type told struct {
	doctor.Report
	said fixture.Said
	code int
}

// doctor runs the command as a person types it.
func (e *env) doctor(ctx context.Context, args ...string) (told, error) {
	said, err := e.Fleetscale(ctx, append([]string{"doctor", "-o", "json"}, args...)...)
	one := told{said: said}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		one.code, err = exit.ExitCode(), nil
	}
	if err == nil {
		if err = json.Unmarshal([]byte(said.Stdout), &one.Report); err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
	}
	return one, err
}

// findings are all of them, each in one line with its check.
func (r *told) findings() (all []string) {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			all = append(all, fmt.Sprintf("%s: %s: %s: %s: %s => %s", c.Name, f.Severity, f.Cluster, f.Object, f.What, f.Fix))
		}
	}
	return all
}

// awaitHealthy waits until nothing is found, and everything was checked.
func (e *env) awaitHealthy(t *testing.T) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		r, err := e.doctor(ctx, visitEast)
		if err == nil && (len(r.findings()) > 0 || r.code != 0 || r.Count(doctor.Passed) != len(r.Checks)) {
			err = fmt.Errorf("exit code %d, %s", r.code, strings.Join(r.findings(), "\n"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// visitEast has east itself asked, too.
const visitEast = "--member-context=" + east + "=" + east
