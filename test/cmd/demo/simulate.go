// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	bench "github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	// measuredEvery is how often simulated clusters measure, and everything else looks.
	measuredEvery = 2 * time.Second
	// cartPods are the Pods of cart that each simulated cluster begins with.
	cartPods = 2
)

// simulation is a stage whose clusters are simulated: only our own programs are real, and built.
type simulation struct {
	*stage

	programs *bench.Stage
	clusters *sim.Fleet
	hub      *sim.Member
	members  map[string]*sim.Member
	plugin   string // file of kubectl-fleetscale
	config   string // kubeconfig of the hub
}

// names are those of the simulated members.
func (s *simulation) names() []string { return []string{east, north, west} }

// end has the simulated clusters end, after the programs that ask them.
func (s *simulation) end() error {
	if s.clusters == nil {
		return nil
	}
	return s.clusters.Close()
}

// acts are what is shown, in order.
func (s *simulation) acts() []func(context.Context) error {
	return []func(context.Context) error{s.start, s.join, s.look, s.scale, s.hang, s.hold, s.thaw}
}

// start sets up the clusters, and builds what the first answer needs.
func (s *simulation) start(ctx context.Context) (err error) {
	s.title("A hub and three member clusters, simulated; our own programs, real")
	s.say("One process plays the API servers, over HTTPS. Nothing of Kubernetes is built, and no container runs.")
	s.say("Everything lives in %s and is deleted at the end. Ctrl-C ends it at any time.", s.dir)
	if s.programs, err = bench.Bare(ctx, s.dir, s.out); err != nil {
		return err
	}
	s.fleet = s.programs.Fleet
	if s.plugin, err = fixture.Build(ctx, "kubectl-fleetscale", s.dir, s.out); err != nil {
		return err
	}
	if s.clusters, err = sim.New(ctx, sim.Options{Members: 1 + len(s.names()), Resolution: measuredEvery}); err != nil {
		return err
	}
	s.members = map[string]*sim.Member{}
	s.hub = s.clusters.Members()[0]
	for i, name := range s.names() {
		m := s.clusters.Members()[1+i]
		s.members[name] = m
		err := errors.Join(
			m.Run(sim.Workload{Namespace: shop, Name: "cart", Replicas: cartPods, Age: time.Hour, Usage: cpu("230m")}),
			m.Run(sim.Workload{Namespace: shop, Name: "web", Kind: sim.StatefulSet, Replicas: 1, Age: time.Hour, Usage: cpu("120m")}),
			bench.Register(s.hub, name, m))
		if err != nil {
			return err
		}
	}
	kubeconfig, err := s.hub.Kubeconfig()
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of the hub: %w", err)
	}
	s.config = filepath.Join(s.dir, "hub.kubeconfig")
	if err := os.WriteFile(s.config, kubeconfig, 0o600); err != nil {
		return fmt.Errorf("writing the kubeconfig of the hub: %w", err)
	}
	return nil
}

func cpu(quantity string) sim.Resources { return sim.Resources{CPU: resource.MustParse(quantity)} }

// join starts the adapter, and shows its first answer.
func (s *simulation) join(ctx context.Context) error {
	s.title("The metrics adapter answers for the whole fleet")
	every := measuredEvery.String()
	if _, err := s.programs.AdapterFor(ctx, s.hub, "--scrape-period="+every, "--answer-ttl="+every, "--member-probe-period="+every,
		"--member-timeout="+every); err != nil {
		return err
	}
	s.say("cart and web run in each cluster. web-0 is in all of them: these are three Pods.")
	if err := s.ask(ctx, each(lists(3*(cartPods+1)), hides("Warning")), "top", "pods", "-n", shop); err != nil {
		return err
	}
	s.say("This first answer came %v after the beginning, with all that had to be built.", time.Since(s.begin).Round(time.Second))
	return nil
}

// look shows the fleet as people and as machines see it.
func (s *simulation) look(ctx context.Context) error {
	s.title("The members, and what an answer covers")
	if err := s.ask(ctx, each(shows(s.names()...), shows("3 ready"), hides("; 0 Pods")), "status"); err != nil {
		return err
	}
	s.say("Each answer says in a header which clusters it covers:")
	return s.cover(ctx, "answered=east,north,west")
}

// scale shows one autoscaler for all clusters.
func (s *simulation) scale(ctx context.Context) error {
	s.title("One autoscaler for three clusters")
	if _, err := s.programs.ControllersFor(ctx, s.hub, s.out, "--sync-period="+measuredEvery.String(),
		"--member-probe-period="+measuredEvery.String(), "--downscale-stabilization=4s"); err != nil {
		return err
	}
	s.say("The Pods of cart use 230m on average. This autoscaler wants 150m, with 2 to 8 Pods in the fleet:\n")
	fmt.Fprint(indented(s.out), autoscaler, "\n")
	var fhpa v1alpha1.FederatedHPA
	if err := yaml.Unmarshal([]byte(autoscaler), &fhpa); err != nil {
		return fmt.Errorf("reading the autoscaler: %w", err)
	}
	fhpa.Namespace = shop
	if err := s.hub.Put(&fhpa); err != nil {
		return err
	}
	if err := s.awaitCarts(ctx, "waiting for the autoscaler to act", 8); err != nil {
		return err
	}
	s.say("It scaled cart from 6 to 8 Pods, and says why:")
	return s.ask(ctx, shows("it is Limited", "StaticWeighted", east, north, west), "explain", "fhpa/cart", "-n", shop)
}

// awaitCarts waits until all clusters together have so many Pods of cart.
func (s *simulation) awaitCarts(ctx context.Context, why string, want int) error {
	return s.await(ctx, why, func(context.Context) error {
		sum := 0
		for _, m := range s.members {
			n, err := m.Replicas(sim.Deployment, shop, "cart")
			if err != nil {
				return err
			}
			sum += n
		}
		if sum != want {
			return fmt.Errorf("cart has %d Pods and not %d", sum, want)
		}
		return nil
	})
}

// hang shows that an answer without a cluster says so.
func (s *simulation) hang(ctx context.Context) error {
	s.title("West hangs")
	s.say("Its API server keeps its connections and answers nothing. All namespaces at once are asked of the members: west's Pods are")
	s.say("missing, and that is said.")
	s.members[west].Behave(sim.Conduct{Hang: true})
	partial := each(shows("Warning", "1 of 3 clusters did not answer: west", east, north), lacks(west))
	if err := s.ask(ctx, partial, "top", "pods", "-A"); err != nil {
		return err
	}
	s.say("Machines read it in the header:")
	if err := s.cover(ctx, "answered=east,north;silent=west:Timeout"); err != nil {
		return err
	}
	s.say("And west is Silent, not gone:")
	return s.ask(ctx, shows("Silent"), "status")
}

// hold shows that a cluster which cannot be seen costs nobody a Pod.
func (s *simulation) hold(ctx context.Context) error {
	s.title("The others have little to do: no Pod goes")
	s.say("By what can be seen, fewer Pods would do. But west may be busy, so cart stays at 8:")
	for _, name := range []string{east, north} {
		if err := s.members[name].SetUsage(sim.Deployment, shop, "cart", cpu("20m")); err != nil {
			return err
		}
	}
	if err := s.ask(ctx, shows("Held", west), "explain", "fhpa/cart", "-n", shop); err != nil {
		return err
	}
	return s.awaitCarts(ctx, "counting the Pods", 8)
}

// thaw shows that the fleet is whole again by itself.
func (s *simulation) thaw(ctx context.Context) error {
	s.title("West is back, and has little to do as well")
	s.members[west].Behave(sim.Conduct{})
	if err := s.members[west].SetUsage(sim.Deployment, shop, "cart", cpu("20m")); err != nil {
		return err
	}
	if err := s.awaitCarts(ctx, "waiting for the autoscaler to act", 2); err != nil {
		return err
	}
	s.say("Nothing else had to be done. cart shrinks to its minimum:")
	return s.ask(ctx, each(lists(2), hides("Warning")), "top", "pods", "-n", shop, "-l", "app=cart")
}

// ask runs kubectl fleetscale until what it prints is as promised, and shows that.
func (s *simulation) ask(ctx context.Context, promised check, args ...string) error {
	return s.showBy(ctx, promised, s.run, append([]string{"fleetscale"}, args...)...)
}

// run calls the plugin as kubectl would, which need not be there.
func (s *simulation) run(ctx context.Context, args ...string) (said fixture.Said, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, s.plugin, append(args[1:], "--kubeconfig="+s.config)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	said = fixture.Said{Stdout: stdout.String(), Stderr: stderr.String()}
	if err != nil {
		err = fmt.Errorf("running kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.Stderr))
	}
	return said, err
}

// lacks wants no line of the table to be of a cluster, which a warning may name.
func lacks(cluster string) check {
	return func(said fixture.Said) error { return hides(" " + cluster + " ")(fixture.Said{Stdout: said.Stdout}) }
}

// cover shows what the headers of an answer say of the clusters, once that is as promised.
func (s *simulation) cover(ctx context.Context, promised string) error {
	client, err := rest.HTTPClientFor(s.hub.RESTConfig())
	if err != nil {
		return fmt.Errorf("preparing to reach the hub: %w", err)
	}
	const path = "/apis/metrics.k8s.io/v1beta1/pods"
	var header http.Header
	err = s.await(ctx, "asking until the answer is as it should be", func(ctx context.Context) (err error) {
		if header, err = headOf(ctx, client, s.hub.URL()+path); err == nil && header.Get(fleet.CoverageHeader) != promised {
			err = fmt.Errorf("its headers are %v", header)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("GET %s did not show what it should: %w", path, err)
	}
	fmt.Fprintf(s.out, "\n%sGET %s\n", margin, path)
	for _, name := range []string{fleet.CoverageHeader, "Warning"} {
		for _, value := range header.Values(name) {
			fmt.Fprintf(s.out, "%s%s: %s\n", margin, name, value)
		}
	}
	s.say("")
	return nil
}

// headOf returns the headers of an answer that must be good.
func headOf(ctx context.Context, client *http.Client, url string) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", response.Status, body)
	}
	return response.Header, err
}
