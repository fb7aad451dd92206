// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// east has a metrics-server; west stands behind the simulated members.
	east, west = "east", "west"
	// memberTimeout is the adapter's patience with one member.
	memberTimeout = 5 * time.Second
)

// env is what all tests share: a hub that is served by an adapter and a controller-manager, and members that nobody has registered.
type env struct {
	*fixture.Fleet
	dir string
}

var shared = fixture.Shared[*env]{Name: "membership", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{dir: dir}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second,
		Members: []lab.Member{
			{Name: east, Nodes: 1, WithoutTestAdapter: true}, {Name: west, Nodes: 1, WithoutTestAdapter: true, WithoutMetricsServer: true},
		},
	}, []string{"metrics-adapter", "controller-manager", "kubectl-fleetscale"}, e.raise)
}

func (e *env) raise(ctx context.Context, f *fixture.Fleet, programs map[string]string) error {
	e.Fleet = f
	if err := e.Install(ctx, e.Hub()); err != nil {
		return err
	}
	flags := []string{"--member-probe-period=2s", "--member-timeout=" + memberTimeout.String()}
	_, err := e.ServeMetrics(ctx, e.Hub(), "metrics-adapter", append(flags, "--scrape-period=10s", "--apiservice-check-period=2s")...)
	if err != nil {
		return err
	}
	_, err = e.StartControllers(ctx, e.Hub(), programs["controller-manager"], "controller-manager", flags...)
	return err
}

// said is what a command printed.
type said struct{ out, progress string }

// types runs kubectl as a person does who has the plugin in the PATH.
func (e *env) types(ctx context.Context, kubeconfig string, args ...string) (said, error) {
	var out, progress strings.Builder
	kubectl := exec.CommandContext(ctx, filepath.Join(e.Dir(), "bin", "kubectl"), append([]string{"fleetscale"}, args...)...)
	kubectl.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+e.dir+":"+os.Getenv("PATH"))
	kubectl.Stdout, kubectl.Stderr = &out, &progress
	err := kubectl.Run()
	return said{out.String(), progress.String()}, err
}

// does is types of a command that has to succeed.
func (e *env) does(t *testing.T, args ...string) said {
	t.Helper()
	s, err := e.types(t.Context(), e.Kubeconfig(), args...)
	t.Logf("$ kubectl fleetscale %s\n%s%s", strings.Join(args, " "), s.progress, s.out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fails is types of a command that must not succeed, and says so in these words.
func (e *env) fails(t *testing.T, want string, args ...string) {
	t.Helper()
	s, err := e.types(t.Context(), e.Kubeconfig(), args...)
	if err == nil || !strings.Contains(s.progress, want) {
		t.Errorf("$ kubectl fleetscale %s: %v\n%s%s\nwant %q", strings.Join(args, " "), err, s.progress, s.out, want)
	}
}
