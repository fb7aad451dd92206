// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/bench/faults/truth"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/hostile/byzantine"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	honestMembers = 3
	// resolution of all members, and the period of all that is done again and again.
	resolution = time.Second
	// memberTimeout and maxAge are defaults of our programs.
	memberTimeout, maxAge = 5 * time.Second, time.Minute
	// deadline of any answer to a user.
	deadline = memberTimeout + time.Second
	// patience is with what happens in the background.
	patience = 2 * time.Minute
)

// Namespaces: users ask about shop and bank, nobody asks about the vault, and mallory is the tenant's.
const (
	shop, bank, vault, mallory = "shop", "bank", "vault", "mallory"

	requests, queue = "requests_per_second", "queue_messages"
	perPod          = 42
)

// scene is a fleet with users and adversaries, and the three programs.
type scene struct {
	stage *stage.Stage
	fleet *sim.Fleet
	hub   *sim.Member
	// honest are asked by users; evil may be attacked with, and are honest until then.
	honest []*sim.Member
	evil   []*byzantine.Member
	// attacks are as many as evil.
	attacks []byzantine.Attack

	programs  []*program
	adapter   *stage.Program
	admission *stage.Webhook
	reviewer  http.RoundTripper // asks the webhook, as the hub does
	karmada   *karmada
	asHub     http.RoundTripper // with the rights of the hub's administrator

	pods     *truth.Pods
	judge    *truth.Judge
	sum      map[string]int64
	series   map[string][]truth.Series
	stolen   *spy // where redirects lead to
	trespass *spy // in the vault
	costs    []comparison
}

func newScene(t *testing.T) *scene {
	t.Helper()
	begin := time.Now()
	s := &scene{pods: truth.NewPods(maxAge, resolution), sum: map[string]int64{}, series: map[string][]truth.Series{}, stolen: &spy{},
		trespass: &spy{}}
	if err := s.begin(t); err != nil {
		t.Fatal(err)
	}
	t.Logf("the stage was set in %v", time.Since(begin).Round(time.Second))
	return s
}

func (s *scene) begin(t *testing.T) (err error) {
	ctx := t.Context()
	if s.stage, err = stage.Bare(ctx, t.TempDir(), os.Stderr); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := s.stage.Down(); err != nil {
			t.Error(err)
		}
	})
	names := len(byzantine.Attacks(byzantine.Targets{}))
	if s.fleet, err = sim.New(ctx, sim.Options{Members: 1 + honestMembers + names, Resolution: resolution}); err != nil {
		return err
	}
	t.Cleanup(func() { _ = s.fleet.Close() })
	all := s.fleet.Members()
	s.hub, s.honest = all[0], all[1:1+honestMembers]
	if s.judge, err = truth.NewJudge(s.pods); err != nil {
		return err
	}
	if err := s.populate(t, all[1+honestMembers:]); err != nil {
		return err
	}
	return s.startPrograms(ctx, t)
}

// populate has honest and byzantine members run the same.
func (s *scene) populate(t *testing.T, behind []*sim.Member) error {
	for i, m := range s.honest {
		s.pods.Join(m.Name(), m.Measurement)
		s.figures(m, int64(i))
		s.sum[m.Name()] = 1000 * (100 + int64(i))
		s.series[m.Name()] = []truth.Series{{Labels: "name=mail", Value: 30_000}}
		if err := errors.Join(s.run(m), s.note(m), stage.Register(s.hub, m.Name(), m)); err != nil {
			return err
		}
		s.watch(m)
	}
	for _, m := range behind {
		s.pods.Distrust(m.Name())
		s.figures(m, 0)
		evil, err := byzantine.New(t.Context(), m)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = evil.Close() })
		s.evil = append(s.evil, evil)
		if err := errors.Join(s.run(m), stage.Register(s.hub, m.Name(), evil)); err != nil {
			return err
		}
		s.watch(m)
	}
	s.watch(s.hub)
	s.attacks = byzantine.Attacks(byzantine.Targets{
		Victim: s.honest[0], Elsewhere: []string{s.honest[1].URL(), s.hub.URL(), "http://169.254.169.254"}, Deadline: memberTimeout,
		Namespaces: []string{bank, vault, "", "kube-system"},
	})
	return s.autoscale()
}

// watch has the spies see what a cluster is asked.
func (s *scene) watch(m *sim.Member) {
	m.OnRequest(func(r sim.Seen) {
		if strings.HasPrefix(r.Resource, byzantine.Stolen) {
			s.stolen.saw(m.Name(), r)
		}
		if r.Namespace == vault || r.Name == vault {
			s.trespass.saw(m.Name(), r)
		}
	})
}

func (s *scene) figures(m *sim.Member, i int64) {
	m.SetFigure(sim.Figure{Namespace: shop, Resource: "services", Object: "api", Metric: requests,
		Value: *resource.NewQuantity(100+i, resource.DecimalSI)})
	m.SetFigure(sim.Figure{Namespace: vault, Resource: "services", Object: "api", Metric: requests, Value: resource.MustParse("777")})
	m.SetFigure(sim.Figure{Resource: "namespaces", Object: vault, Metric: requests, Value: resource.MustParse("777")})
	m.SetSeries(sim.Series{Metric: queue, Labels: map[string]string{"name": "mail"}, Value: resource.MustParse("30")})
}

// run has a member run what users ask about.
func (s *scene) run(m *sim.Member) error {
	metrics := map[string]resource.Quantity{requests: *resource.NewQuantity(perPod, resource.DecimalSI)}
	return errors.Join(
		m.Run(sim.Workload{Namespace: shop, Name: "web", Replicas: 5, Metrics: metrics}),
		m.Run(sim.Workload{Namespace: shop, Name: "db", Kind: sim.StatefulSet, Replicas: 2, Containers: 2}),
		m.Run(sim.Workload{Namespace: bank, Name: "web", Replicas: 3}),
		m.Run(sim.Workload{Namespace: vault, Name: "web", Replicas: 1}),
		m.Run(sim.Workload{Namespace: mallory, Name: "web", Replicas: 1, Metrics: metrics}),
	)
}

// note takes down what is true of an honest member.
func (s *scene) note(m *sim.Member) error {
	return s.pods.Change(func(c *truth.Changes) error {
		for _, namespace := range []string{shop, bank} {
			for _, known := range m.Measured(namespace) {
				c.Came(truth.Pod{ID: truth.ID{Cluster: m.Name(), Namespace: namespace, Name: known.Name}, Labels: known.Labels,
					Figure: 1000 * perPod, Used: known.Used}, time.Time{})
			}
		}
		return nil
	})
}

func (s *scene) startPrograms(ctx context.Context, t *testing.T) (err error) {
	s.karmada = newKarmada()
	s.hub.Delegate("cluster.karmada.io", s.karmada)
	if s.asHub, err = rest.TransportFor(s.hub.RESTConfig()); err != nil {
		return err
	}
	period := func(flag string) string { return fmt.Sprintf("--%s=%v", flag, resolution) }
	if s.adapter, err = s.stage.AdapterFor(ctx, s.hub, period("scrape-period"), period("answer-ttl"), period("member-probe-period"),
		"--metric-discovery-period=2s"); err != nil {
		return err
	}
	controllers, err := s.stage.ControllersFor(ctx, s.hub, os.Stderr, period("sync-period"), period("member-probe-period"))
	if err != nil {
		return err
	}
	webhook := (*stage.Program)(nil)
	if s.admission, webhook, err = s.stage.WebhookFor(ctx, s.hub, os.Stderr); err != nil {
		return err
	}
	s.reviewer = s.admission.Client(reviewers + 1)
	for folder, p := range map[string]*stage.Program{"adapter": s.adapter, "controller-manager": controllers, "webhook": webhook} {
		d, err := s.stage.Deployment(folder)
		if err != nil {
			return err
		}
		s.programs = append(s.programs, &program{name: folder, limit: d.Memory, Program: p})
	}
	t.Cleanup(func() {
		for _, p := range s.programs {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return nil
}
