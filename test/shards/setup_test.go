// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// patience is ours, with anything: machines may be busy.
	patience = 2 * time.Minute
	// shards is in how many the objects are divided, where the cost of that does not matter.
	shards = 8
	// shop is the namespace of all objects, on the hub and in the member.
	shop       = "shop"
	memberName = "east"
	// anyHost is in the certificate of each API server of the lab, and no address of this machine: those are asked past all proxies.
	anyHost = "kubernetes.default.svc"
)

// env is a hub and a member, with replicas of the controller-manager.
type env struct {
	*fixture.Fleet
	member   *lab.Cluster
	program  string
	replicas []*replica // that were launched, and have not left
	launched int
}

// replica is one of the controller-manager, over all its lives.
type replica struct {
	*fixture.Controllers
	way           *way
	number, lives int
}

// needsAddresses skips a test where this machine has one loopback address only.
func needsAddresses(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("all of 127.0.0.0/8 are addresses of this machine on Linux only")
	}
}

// shared is one env for all tests; it has no replicas yet.
var shared = fixture.Shared[*env]{Name: "shards", Start: setUp}

func TestMain(m *testing.M) {
	shared.Main(m)
}

func setUp(ctx context.Context, dir string) (*env, error) {
	e := &env{}
	const accountsOf = "system:serviceaccounts:"
	programs, accounts := []string{accountsOf + fixture.SystemNamespace}, []string{accountsOf + fixture.MemberNamespace}
	return e, fixture.Raise(ctx, dir, lab.Options{
		MetricResolution: 10 * time.Second,
		Hub:              lab.Hub{Recorded: programs, RecordedWrites: programs},
		Members: []lab.Member{{
			Name: memberName, Nodes: 1, WithoutMetricsServer: true, Recorded: accounts, RecordedWrites: accounts,
		}},
	}, []string{"metrics-adapter", "controller-manager"}, e.install)
}

// install has the adapter serve the hub, and the member registered.
func (e *env) install(ctx context.Context, f *fixture.Fleet, programs map[string]string) (err error) {
	e.Fleet, e.program = f, programs["controller-manager"]
	if e.member, err = e.Cluster(memberName); err != nil {
		return err
	}
	if err := e.Install(ctx, e.Hub()); err != nil {
		return err
	}
	if _, err := e.Ask(ctx, "apply", "-f", e.Deploy("components/shards/rights/rbac.yaml")); err != nil {
		return err
	}
	if _, err := e.ServeMetrics(ctx, e.Hub(), "metrics-adapter", "--answer-ttl=2s", "--metric-discovery-period=2s", "-v=2"); err != nil {
		return err
	}
	for _, cluster := range []*lab.Cluster{e.Hub(), e.member} {
		if err := e.CreateNamespace(ctx, cluster, shop); err != nil {
			return err
		}
	}
	return e.join(ctx)
}

// join registers the member: for the adapter as others do, and for who writes there such that it is asked through a proxy.
func (e *env) join(ctx context.Context) error {
	if err := e.JoinToScale(ctx, e.member); err != nil {
		return err
	}
	kubeconfig, err := throughProxies(ctx, e.member, fixture.MemberNamespace, fixture.MemberWriter)
	if err != nil {
		return err
	}
	return e.RegisterToWrite(ctx, e.member.Name, kubeconfig)
}

// throughProxies leads to a cluster as an account of it, by a name that is left to the proxy.
func throughProxies(ctx context.Context, c *lab.Cluster, namespace, account string) ([]byte, error) {
	data, err := c.AccountKubeconfig(ctx, namespace, account, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", c.Name, err)
	}
	for _, server := range config.Clusters {
		server.Server = "https://" + anyHost + ":" + portOf(c)
	}
	return clientcmd.Write(*config)
}

func portOf(c *lab.Cluster) string {
	server, err := url.Parse(c.URL)
	if err != nil {
		return ""
	}
	return server.Port()
}

// launch starts one more replica, with so many shards, which leaves with the test at the latest.
func (e *env) launch(t *testing.T, shards int, environment ...string) error {
	t.Helper()
	e.launched++
	name := fmt.Sprintf("controller-manager-%d", e.launched)
	kubeconfig, err := throughProxies(t.Context(), e.Hub(), fixture.SystemNamespace, fixture.ControllersAccount)
	if err != nil {
		return err
	}
	file := filepath.Join(filepath.Dir(e.Hub().Kubeconfig), name+".kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return err
	}
	controllers, prepared, err := e.NewControllers(file, e.program, name,
		fmt.Sprintf("--shards=%d", shards), "--sync-period=2s", "--tolerance=0", "--member-probe-period=2s", "-v=2")
	if err != nil {
		return err
	}
	r := &replica{Controllers: controllers, way: newWay(t), number: e.launched}
	prepared.Env = append(r.way.environment(), environment...)
	r.begins()
	t.Cleanup(func() { e.leaves(t, r) })
	r.Process, err = e.Run(t.Context(), prepared)
	e.replicas = append(e.replicas, r)
	return err
}

// leaves ends a replica for good.
func (e *env) leaves(t *testing.T, r *replica) {
	e.replicas = slices.DeleteFunc(e.replicas, func(other *replica) bool { return other == r })
	if r.Process == nil {
		return
	}
	if err := r.Kill(); err != nil {
		t.Error(err)
	}
}

// begins gives the next life of a replica its address.
func (r *replica) begins() {
	r.lives++
	r.way.start(fmt.Sprintf("127.0.%d.%d", r.number, r.lives))
}

// revives starts a replica that has ended, as Kubernetes does.
func (r *replica) revives(t *testing.T) {
	t.Helper()
	state, _, err := r.State()
	if err != nil {
		t.Fatal(err)
	}
	if state == "running" {
		return
	}
	t.Logf("%s has %s, and is started again", r.Name, state)
	r.begins()
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// divided waits until all shards are worked on, and each replica has its part.
func (e *env) divided(t *testing.T, shards int) {
	t.Helper()
	e.comes(t, "the shards are divided", func(ctx context.Context) error {
		var held []float64
		sum := 0.0
		for _, r := range e.replicas {
			n, err := fixture.Metric(ctx, r.Metrics(), "fleetscale_shards_held")
			if err != nil {
				return err
			}
			held, sum = append(held, n), sum+n
		}
		if sum != float64(shards) || slices.Max(held)-slices.Min(held) > 1 {
			return fmt.Errorf("the replicas hold %v", held)
		}
		return nil
	})
}

// leader is the replica that leads, or nil.
func (e *env) leader(t *testing.T) *replica {
	t.Helper()
	for _, r := range e.replicas {
		if r.Leads(t.Context()) {
			return r
		}
	}
	t.Fatal("none of the replicas leads")
	return nil
}

// follower is one that does not lead, and is not the other one.
func (e *env) follower(t *testing.T, not *replica) *replica {
	t.Helper()
	leader := e.leader(t)
	for _, r := range e.replicas {
		if r != leader && r != not {
			return r
		}
	}
	t.Fatal("all replicas but one lead")
	return nil
}

func (e *env) comes(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// The users that replicas are on the hub and in the member.
const (
	userOnHub    = "system:serviceaccount:" + fixture.SystemNamespace + ":" + fixture.ControllersAccount
	userInMember = "system:serviceaccount:" + fixture.MemberNamespace + ":" + fixture.MemberWriter
)

// writes are those of the replicas since then, on the hub and in the member.
func (e *env) writes(t *testing.T, since time.Time) (hub, member []lab.Write) {
	t.Helper()
	of := func(c *lab.Cluster, user string) []lab.Write {
		all, err := c.Writes()
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(w lab.Write) bool { return w.User != user || w.Begun.Before(since) })
	}
	return of(e.Hub(), userOnHub), of(e.member, userInMember)
}
