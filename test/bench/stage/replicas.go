// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// Replicas are metrics adapters behind one front, which the hub asks too.
type Replicas struct {
	Front *fixture.Front
	// Servers are the replicas, asked directly.
	Servers []*Server

	stage    *Stage
	adapters []*fixture.Adapter

	mu   sync.Mutex
	down map[int]bool
}

// Replicas starts n adapters with their default options, and has the hub ask
// them for all three APIs; see Close.
func (s *Stage) Replicas(ctx context.Context, n int) (*Replicas, error) {
	front, err := fixture.NewFront(ctx)
	if err != nil {
		return nil, err
	}
	r := &Replicas{Front: front, stage: s, down: map[int]bool{}}
	for range n {
		if err := r.add(ctx); err != nil {
			return nil, errors.Join(err, r.end())
		}
	}
	r.lead()
	if said, err := s.TakeOver(ctx, &fixture.Adapter{Hub: s.Hub(), Port: front.Port()}); err != nil {
		return nil, errors.Join(fmt.Errorf("having the hub ask the replicas: %w: %s", err, said), r.end())
	}
	return r, nil
}

func (r *Replicas) add(ctx context.Context) error {
	a, err := r.stage.NewAdapter(ctx, r.stage.Hub(), r.stage.unique("adapter"))
	if err != nil {
		return err
	}
	config, err := r.stage.askers(a.URL())
	if err != nil {
		return err
	}
	server, err := NewServer(config, 0)
	if err != nil {
		return err
	}
	if err := a.Launch(ctx); err != nil {
		return err
	}
	r.adapters, r.Servers = append(r.adapters, a), append(r.Servers, server)
	return server.belongsTo(a.Process)
}

// lead has new connections go to the replicas that are up.
func (r *Replicas) lead() {
	var ports []int
	for i, a := range r.adapters {
		if r.Up(i) {
			ports = append(ports, a.Port)
		}
	}
	r.Front.LeadTo(ports...)
}

// Up reports whether a replica was not killed, and is ready. Others are not to be asked.
func (r *Replicas) Up(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.down[i]
}

func (r *Replicas) set(i int, down bool) {
	r.mu.Lock()
	r.down[i] = down
	r.mu.Unlock()
	r.lead()
}

// Kill ends a replica without notice.
func (r *Replicas) Kill(i int) error {
	err := r.adapters[i].Kill()
	r.set(i, true)
	return err
}

// Start undoes Kill, and returns when the replica says that it is ready.
func (r *Replicas) Start(ctx context.Context, i int) error {
	if err := r.adapters[i].Start(ctx); err != nil {
		return err
	}
	r.set(i, false)
	return nil
}

// PID is the process of a replica. It is a new one after a start.
func (r *Replicas) PID(i int) (measure.Process, error) {
	_, pid, err := r.adapters[i].State()
	return measure.Process(pid), err
}

// URL is the front's.
func (r *Replicas) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", r.Front.Port()) }

// Close gives the APIs back, and ends the replicas.
func (r *Replicas) Close(ctx context.Context) error {
	_, err := r.stage.Restore(ctx, r.stage.Hub())
	return errors.Join(err, r.end())
}

func (r *Replicas) end() error {
	errs := []error{r.Front.Close()}
	for _, a := range r.adapters {
		errs = append(errs, a.Stop())
	}
	return errors.Join(errs...)
}

// Asker may ask a server of the stage for everything, over a connection that it
// shares with nobody.
func (s *Stage) Asker(url string) (http.RoundTripper, error) {
	config, err := s.askers(url)
	if err != nil {
		return nil, err
	}
	return alone(config)
}

// HubAsker asks the hub's API server as Asker asks others.
func (s *Stage) HubAsker() (http.RoundTripper, error) {
	config, err := s.Hub().RESTConfig()
	if err != nil {
		return nil, err
	}
	return alone(config)
}

// alone makes a connection of its own: configs without a dialer share theirs.
func alone(config *rest.Config) (http.RoundTripper, error) {
	config.Dial = (&net.Dialer{}).DialContext
	client, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask %s: %w", config.Host, err)
	}
	return client, nil
}
