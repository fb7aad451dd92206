// SPDX-License-Identifier: Apache-2.0

// Package install_test installs fleetscale on real control planes as people do: by the commands that docs/ has them type, from the files
// of a release. Where the lab has nothing that runs Pods, the programs run beside it.
package install_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// east and west are the members, with what a cluster of somebody's has: Pods, and a metrics-server.
	east, west = "east", "west"
	// patience is for what programs notice by themselves: machines may be busy.
	patience = 2 * time.Minute
)

// env is what all tests share: three clusters that know nothing of fleetscale, and a checkout's folder in which a release was made.
type env struct {
	*fixture.Fleet
	dir  string // in which people type: bin/ has the programs, and bin/dist/ a release
	helm string
	// running are the programs that were started.
	running []*lab.Process
}

var shared = fixture.Shared[*env]{Name: "install", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func started(t *testing.T) *env {
	t.Helper()
	return shared.Of(t)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{dir: filepath.Join(dir, "checkout")}
	bin := filepath.Join(e.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	if err := lab.Compile(ctx, bin, os.Stderr, programsOfARelease()...); err != nil {
		return nil, err
	}
	var err error
	if e.helm, err = lab.BuildHelm(ctx, os.Stderr); err != nil {
		return nil, err
	}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second,
		Members:          []lab.Member{{Name: east, Nodes: 1, WithoutTestAdapter: true}, {Name: west, Nodes: 1, WithoutTestAdapter: true}},
	}, nil, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, _ map[string]string) error {
	e.Fleet = f
	return errors.Join(e.release(ctx), e.work(ctx))
}

func (e *env) named(t *testing.T, cluster string) *lab.Cluster {
	t.Helper()
	c, err := e.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// release makes of a release what is applied to clusters.
func (e *env) release(ctx context.Context) error {
	made := exec.CommandContext(ctx, "go", "run", ".", "manifests", "-root", e.Repository, "-out", filepath.Join(e.dir, "bin", "dist"))
	made.Dir = filepath.Join(e.Repository, "tools", "dist")
	if out, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("making manifests and charts: %w: %s", err, out)
	}
	return nil
}

// work has the members run something before all else, as every cluster does. Their Pods idle.
func (e *env) work(ctx context.Context) error {
	for _, member := range e.Members() {
		if err := member.SetUsage(ctx, lab.Usage{CPU: new(resource.MustParse("10m"))}); err != nil {
			return err
		}
		if _, err := e.Ask(ctx, "--context", member.Name, "-n", "kube-system", "create", "deployment", "dns", "--image=dns"); err != nil {
			return err
		}
	}
	return nil
}

// trace is what a cluster has, but for what comes and goes by itself.
func (e *env) trace(ctx context.Context, cluster string) (string, error) {
	said, err := e.Ask(ctx, "--context", cluster, "api-resources", "--verbs=list,delete", "-o", "name", "--cached=false")
	if err != nil && !strings.Contains(err.Error(), "metrics.k8s.io") && !strings.Contains(err.Error(), ".fleetscale.io") {
		return "", err // and not of APIs that nobody serves yet, which hold no objects
	}
	var kinds []string
	for kind := range strings.FieldsSeq(said.Stdout) {
		switch kind {
		case "events", "events.events.k8s.io", "leases.coordination.k8s.io", "pods", "replicasets.apps":
		default:
			kinds = append(kinds, kind)
		}
	}
	const name = `{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\n"}{end}`
	said, err = e.Ask(ctx, "--context", cluster, "get", strings.Join(kinds, ","), "-A", "--ignore-not-found", "-o", "jsonpath="+name)
	return said.Stdout, err
}

// leaves waits until a cluster has what it had, and returns what it has more.
func (e *env) leaves(t *testing.T, cluster, before string) (more []string) {
	t.Helper()
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[line] = true
	}
	terminating := func(ctx context.Context) error {
		said, err := e.Ask(ctx, "--context", cluster, "get", "namespaces")
		if err == nil && strings.Contains(said.Stdout, "Terminating") {
			err = fmt.Errorf("namespaces are not gone:\n%s", said.Stdout)
		}
		return err
	}
	if err := fixture.Await(t.Context(), patience, terminating); err != nil {
		t.Error(err)
	}
	after, err := e.trace(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(after) {
		if !had[line] {
			more = append(more, strings.TrimSpace(line))
		}
		delete(had, line)
	}
	for line := range had {
		t.Errorf("%s lacks %s", cluster, line)
	}
	return more
}
