// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// syncPeriod is the interval of reconciles of a FederatedHPA.
	syncPeriod = 2 * time.Second
	// downWindow is for how long a higher recommendation keeps replicas up.
	downWindow = 5 * time.Second
)

// federated is what the cases of TestFederated share.
type federated struct {
	*env
	pair    []*fixture.Controllers
	clients map[string]dynamic.Interface // by cluster
	usage   sync.Mutex                   // one object of a member holds all that is set there
}

// launchFederated makes the members such that they can be scaled, and starts two
// controller-managers, of which one works.
func launchFederated(t *testing.T, e *env) *federated {
	t.Helper()
	f := &federated{env: e, clients: map[string]dynamic.Interface{}}
	t.Cleanup(func() { f.tidy(t) })
	f.warmUp(t)
	if err := f.install(t); err != nil {
		t.Fatal(err)
	}
	if err := f.letSizes(t); err != nil {
		t.Fatal(err)
	}
	f.startPair(t, "federated", append(federatedFlags(), "--resize-deferred-timeout=5s"))
	t.Cleanup(func() { f.releaseSizes(t) })
	return f
}

// startPair starts two controller-managers of that name.
func (f *federated) startPair(t *testing.T, name string, flags []string) {
	t.Helper()
	for i := range 2 {
		r, err := f.StartControllers(t.Context(), f.Hub(), f.controllers, fmt.Sprintf("%s-%d", name, i+1), flags...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Stop() })
		f.pair = append(f.pair, r)
	}
}

// connect makes the clients of all clusters.
func (f *federated) connect(t *testing.T) {
	t.Helper()
	for _, cluster := range f.clusters() {
		c := config(t, cluster)
		c.Timeout = 0 // some watch
		client, err := dynamic.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		f.clients[cluster.Name] = client
	}
}

// warmUp has Pods run that are to be measured: that takes a while from their start.
func (f *federated) warmUp(t *testing.T) {
	t.Helper()
	f.connect(t)
	for namespace, prepare := range map[string]func(*stage){
		"fed-hub": (*stage).busyInOne, "fed-parts": (*stage).busyInOne, "fed-several": (*stage).idle, "fed-parity": (*stage).twins,
	} {
		prepare(f.stage(t, namespace))
	}
}

func federatedFlags() []string {
	return []string{
		"--sync-period=" + syncPeriod.String(),
		"--downscale-stabilization=" + downWindow.String(),
		"--vertical-period=" + verticalPeriod.String(), "--history-save-period=5s",
		"--cpu-initialization-period=1s",
		"--initial-readiness-delay=1s",
		"--member-timeout=" + memberTimeout.String(),
		"--member-probe-period=2s",
		"--leader-elect-lease-duration=8s", "--leader-elect-renew-deadline=6s", "--leader-elect-retry-period=1s",
		"-v=2",
	}
}

func (f *federated) install(t *testing.T) error {
	group, ctx := errgroup.WithContext(t.Context())
	group.Go(func() error { return f.InstallKinds(ctx, f.Hub()) })
	group.Go(func() error { return f.InstallControllers(ctx, f.Hub()) })
	for _, member := range f.Members() {
		group.Go(func() error { return f.JoinToScale(ctx, member) })
	}
	return group.Wait()
}

// letSizes has members do what deploy/member-sizes has them do: two all of it; the third one, as if it were older, has the rights only.
func (f *federated) letSizes(t *testing.T) error {
	group, ctx := errgroup.WithContext(t.Context())
	for _, member := range f.Members() {
		what := []string{"-k", f.Deploy("member-sizes")}
		if member.Name == resizesOnly {
			what = []string{"-f", f.Deploy("member-sizes/clusterrole.yaml")}
		}
		group.Go(func() error {
			_, err := f.Ask(ctx, append([]string{"--context", member.Name, "apply"}, what...)...)
			return err
		})
	}
	return group.Wait()
}

// releaseSizes deletes all MultidimPodAutoscalers while there is somebody who lets them go.
func (f *federated) releaseSizes(t *testing.T) {
	if _, err := f.Ask(afterwards(t), "delete", "mpa", "--all", "--all-namespaces", "--timeout=60s"); err != nil {
		t.Error(err)
	}
}

// clusters are the hub and the members.
func (f *federated) clusters() []*lab.Cluster {
	return append([]*lab.Cluster{f.Hub()}, f.Members()...)
}

// tidy leaves the fleet to the other tests as it was.
func (f *federated) tidy(t *testing.T) {
	remove := func(cluster *lab.Cluster, what ...string) {
		args := []string{"--context", cluster.Name, "delete", "--ignore-not-found", "--timeout=2m"} // nobody may be left to let objects go
		if _, err := f.Ask(afterwards(t), append(args, what...)...); err != nil {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	all.Go(func() {
		remove(f.Hub(), "-k", f.Deploy("crds")) // before their namespaces
		remove(f.Hub(), "--wait=false", "namespace", "-l", "for=federated")
	})
	all.Go(func() { remove(f.Hub(), "--wait=false", "-k", f.Deploy("base/controller-manager-hub")) })
	for _, member := range f.Members() {
		all.Go(func() {
			remove(member, "--wait=false", "namespace", "-l", "for=federated")
			remove(member, "-k", f.Deploy("member-sizes"))
			if err := f.Join(afterwards(t), member); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// makeRoom removes cases that have ended from the members: their Pods, which have grown, would leave those of others no node.
func (f *federated) makeRoom(t *testing.T, namespaces ...string) {
	t.Helper()
	for _, namespace := range namespaces {
		if _, err := f.Ask(t.Context(), "--context", f.Hub().Name, "-n", namespace, "delete", "multidimpodautoscalers", "--all"); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for _, member := range f.Members() {
		all.Go(func() {
			what := append([]string{"--context", member.Name, "delete", "--ignore-not-found", "--wait=false", "namespace"}, namespaces...)
			if _, err := f.Ask(t.Context(), what...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// leader is the replica that works.
func (f *federated) leader(t *testing.T) *fixture.Controllers {
	t.Helper()
	r := f.leads(t)
	if r == nil {
		t.Fatal("none of the controller-managers is the leader")
	}
	return r
}

// leads is leader, or nil if there is none.
func (f *federated) leads(t *testing.T) *fixture.Controllers {
	t.Helper()
	for _, r := range f.pair {
		if state, _, _ := r.State(); state == "running" && r.Leads(t.Context()) {
			return r
		}
	}
	return nil
}
