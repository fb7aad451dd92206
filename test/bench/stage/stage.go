// SPDX-License-Identifier: Apache-2.0

// Package stage sets up what the benchmarks measure: a real hub, the metrics
// adapter of this checkout as its own process, simulated members registered on
// the hub, and a real metrics-server over one of these.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Stage is a hub that has all that our programs need.
type Stage struct {
	*fixture.Fleet

	hub      kubernetes.Interface
	programs string
	started  int
	// controllers is the controller-manager's file, once it was built.
	controllers string
	// deployed has programs for simulated hubs run in the environment that deploy/ gives them.
	deployed bool
}

// Up starts a hub in dir, which should be empty. The log shows how it goes.
func Up(ctx context.Context, dir string, log io.Writer) (*Stage, error) {
	programs, err := lab.Build(ctx, log)
	if err != nil {
		return nil, err
	}
	program, err := fixture.Build(ctx, "metrics-adapter", dir, log)
	if err != nil {
		return nil, err
	}
	l, err := lab.Up(ctx, lab.Options{Dir: filepath.Join(dir, "lab"), Log: log})
	if err != nil {
		return nil, err
	}
	s := &Stage{programs: programs}
	if s.Fleet, err = fixture.New(l, program); err == nil {
		err = s.install(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.Down())
	}
	return s, nil
}

// Bare is a stage without a hub, for programs that work for simulated ones, in the environment that deploy/ gives them. It is set in
// seconds.
func Bare(ctx context.Context, dir string, log io.Writer) (*Stage, error) {
	l, err := lab.Bare(ctx, filepath.Join(dir, "lab"), log)
	if err != nil {
		return nil, err
	}
	s := &Stage{deployed: true}
	program, err := fixture.Build(ctx, "metrics-adapter", dir, log)
	if err == nil {
		s.Fleet, err = fixture.New(l, program)
	}
	if err != nil {
		return nil, errors.Join(err, l.Down())
	}
	return s, nil
}

func (s *Stage) install(ctx context.Context) (err error) {
	if err := s.InstallHub(ctx, s.Hub()); err != nil {
		return err
	}
	s.hub, err = s.Hub().Client()
	return err
}

// Enlist returns members that are registered; see Dismiss.
func (s *Stage) Enlist(ctx context.Context, o sim.Options) (*sim.Fleet, error) {
	fleet, err := sim.New(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, m := range fleet.Members() {
		if err := s.register(ctx, m); err != nil {
			return nil, errors.Join(err, fleet.Close())
		}
	}
	return fleet, nil
}

func (s *Stage) register(ctx context.Context, m *sim.Member) error {
	secret, err := registration(m.Name(), m)
	if err != nil {
		return err
	}
	if _, err := s.hub.CoreV1().Secrets(fixture.RegistrationNamespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("registering %s: %w", m.Name(), err)
	}
	return nil
}

// EnlistAt registers members on a simulated hub.
func EnlistAt(hub *sim.Member, fleet *sim.Fleet) error {
	for _, m := range fleet.Members() {
		if err := Register(hub, m.Name(), m); err != nil {
			return err
		}
	}
	return nil
}

// Registrable is what a kubeconfig leads to.
type Registrable interface {
	Kubeconfig() ([]byte, error)
}

// Register registers a member on a simulated hub under a name.
func Register(hub *sim.Member, name string, m Registrable) error {
	secret, err := registration(name, m)
	if err != nil {
		return err
	}
	return hub.Put(secret)
}

func registration(name string, m Registrable) (*corev1.Secret, error) {
	kubeconfig, err := m.Kubeconfig()
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: fixture.RegistrationNamespace, Name: name, Labels: map[string]string{registered: "true"}},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}, nil
}

const registered = "fleetscale.io/member"

// Dismiss deregisters all members, and ends those.
func (s *Stage) Dismiss(ctx context.Context, fleet *sim.Fleet) error {
	err := s.hub.CoreV1().Secrets(fixture.RegistrationNamespace).DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: registered + "=true"})
	if err != nil {
		err = fmt.Errorf("deregistering the members: %w", err)
	}
	return errors.Join(err, fleet.Close())
}

// unique is a name for one more process.
func (s *Stage) unique(program string) string {
	s.started++
	return fmt.Sprintf("%s-%d", program, s.started)
}
