// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// What can be shown: one of the modes of a FederatedHPA, a MultidimPodAutoscaler, or what a simulated fleet can show at once.
const (
	central     = "central"
	distributed = "distributed"
	multidim    = "multidim"
	simulated   = "sim"
)

// run gives the whole show of a mode, and leaves nothing behind unless it fails.
func run(ctx context.Context, out io.Writer, mode string) (err error) {
	s := &stage{out: out, begin: time.Now()}
	acts := s.play(mode)
	if acts == nil {
		return fmt.Errorf("there is no mode %q to show: say %s, %s, %s or %s", mode, central, distributed, multidim, simulated)
	}
	if s.dir, err = os.MkdirTemp("", "fleetscale-demo-"); err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer func() { err = s.leave(err, ctx.Err() != nil) }()
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	s.say("That was all, in %v.", time.Since(s.begin).Round(time.Second))
	return nil
}

// leave ends all processes. The logs stay if somebody may want to know why it failed.
func (s *stage) leave(err error, interrupted bool) error {
	if s.fleet != nil {
		err = errors.Join(err, s.fleet.Down())
	}
	if s.simulated != nil {
		err = errors.Join(err, s.simulated.end())
	}
	if err != nil && !interrupted {
		return fmt.Errorf("%w\nThe processes have ended; their logs are in %s", err, filepath.Join(s.dir, "lab", "logs"))
	}
	if gone := os.RemoveAll(s.dir); gone != nil {
		return errors.Join(err, fmt.Errorf("cleaning up: %w", gone))
	}
	if err == nil {
		s.say("All processes have ended, and %s is deleted.", s.dir)
	}
	return err
}

// play returns what a mode shows; nil: there is no such mode.
func (s *stage) play(mode string) []func(context.Context) error {
	switch mode {
	case central:
		return []func(context.Context) error{
			s.startTwo, s.join, s.deploy, s.compare, s.tellApart, s.sum, s.freeze, s.refuse, s.thaw,
			s.autoscale, s.hold, s.follow,
		}
	case distributed:
		return []func(context.Context) error{s.startThree, s.enlist, s.split, s.scale, s.loseHub, s.regainHub, s.fill}
	case multidim:
		return []func(context.Context) error{
			s.startTwo, s.join, s.price, s.recommend, s.grow, s.aim, s.bound, s.holdSizes, s.release,
			s.letSize, s.fit, s.bear,
		}
	case simulated:
		s.simulated = &simulation{stage: s}
		return s.simulated.acts()
	}
	return nil
}

// startTwo brings up clusters of the same size, and builds the adapter.
func (s *stage) startTwo(ctx context.Context) error {
	s.title("A hub and two member clusters, east and west: real control planes, on this machine")
	if err := s.prepare(ctx); err != nil {
		return err
	}
	program, err := fixture.Build(ctx, "metrics-adapter", s.dir, s.out)
	if err != nil {
		return err
	}
	return s.up(ctx, program, lab.Member{Name: east}, lab.Member{Name: west})
}

// prepare has the programs of the clusters, and the controller-manager.
func (s *stage) prepare(ctx context.Context) (err error) {
	s.say("Everything lives in %s and is deleted at the end. Ctrl-C ends it at any time.", s.dir)
	if _, err := lab.Build(ctx, s.out); err != nil {
		return err
	}
	s.program, err = fixture.Build(ctx, "controller-manager", s.dir, s.out)
	return err
}

// up brings up a hub and members. The program is the adapter's, if there is to be one.
func (s *stage) up(ctx context.Context, program string, members ...lab.Member) error {
	l, err := lab.Up(ctx, lab.Options{
		Dir:              filepath.Join(s.dir, "lab"),
		Members:          members,
		MetricResolution: 10 * time.Second,
		Log:              indented(s.out),
	})
	if err != nil {
		return err
	}
	if s.fleet, err = fixture.New(l, program); err != nil {
		return errors.Join(err, l.Down())
	}
	return nil
}

// join has the hub serve the fleet's metrics.
func (s *stage) join(ctx context.Context) error {
	s.title("The hub learns of its members, and the metrics adapter serves their metrics")
	hub := s.fleet.Hub()
	if err := s.fleet.InstallHub(ctx, hub); err != nil {
		return err
	}
	for _, member := range s.fleet.Members() {
		if err := s.fleet.Join(ctx, member); err != nil {
			return err
		}
	}
	if _, err := s.fleet.ServeMetrics(ctx, hub, "metrics-adapter", "--scrape-period=10s"); err != nil {
		return err
	}
	s.say("A member is a Secret with a kubeconfig, on the hub:")
	registered := []string{"-n", fixture.RegistrationNamespace, "get", "secrets", "-l", "fleetscale.io/member=true"}
	if err := s.show(ctx, shows(east, west), registered...); err != nil {
		return err
	}
	s.say("The hub passes questions for metrics on to the adapter:")
	return s.show(ctx, shows("True"), "get", "apiservice", "v1beta1.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io",
		"v1beta1.external.metrics.k8s.io")
}
