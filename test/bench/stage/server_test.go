// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/sim"
)

// member is a server of metrics.k8s.io like any other.
func member(t *testing.T) (*sim.Member, *Server) {
	t.Helper()
	fleet, err := sim.New(t.Context(), sim.Options{Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleet.Close() })
	m := fleet.Members()[0]
	server, err := NewServer(m.RESTConfig(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

func TestAPartIsNotTheWhole(t *testing.T) {
	m, server := member(t)
	if err := m.Run(sim.Workload{Namespace: "shop", Name: "web", Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	if body, err := server.List(t.Context(), "shop", 3); err != nil || len(body) == 0 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	for _, want := range []int{2, 4} {
		if _, err := server.List(t.Context(), "shop", want); !errors.Is(err, ErrNotWhole) {
			t.Errorf("%d Pods wanted where there are 3: %v", want, err)
		}
	}
	if _, err := server.List(t.Context(), "bank", 3); !errors.Is(err, ErrEmpty) {
		t.Errorf("3 Pods wanted where there are none: %v", err)
	}
	m.Behave(sim.Conduct{Failing: 1})
	if _, err := server.List(t.Context(), "shop", 3); err == nil || errors.Is(err, ErrNotWhole) || errors.Is(err, ErrPartial) {
		t.Errorf("no answer at all: %v", err)
	} else if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != http.StatusServiceUnavailable {
		t.Errorf("a refusal without its code: %v", err)
	}
	m.Behave(sim.Conduct{Garbage: true})
	if _, err := server.List(t.Context(), "shop", 3); err == nil {
		t.Error("garbage is an answer")
	}
}

func TestPodsAreAwaited(t *testing.T) {
	m, server := member(t)
	came := make(chan error, 1)
	go func() {
		_, err := server.AwaitPods(t.Context(), "shop", 2)
		came <- err
	}()
	if err := m.Run(sim.Workload{Namespace: "shop", Name: "web", Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	if err := <-came; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := server.AwaitPods(ctx, "shop", 3); err == nil {
		t.Error("a third Pod came from nowhere")
	}
}

func TestMetricsThatAreNotTold(t *testing.T) {
	_, server := member(t)
	if got, err := server.Metric(t.Context(), "go_memstats_heap_alloc_bytes"); err == nil {
		t.Errorf("a simulated member tells %v", got)
	}
}
