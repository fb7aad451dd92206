// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"os"
	"testing"

	"github.com/fleetscale/fleetscale/test/bench/encoder"
	"github.com/fleetscale/fleetscale/test/bench/stage"
	"github.com/fleetscale/fleetscale/test/sim"
)

// TestMain stands in for main: the encoder runs in another process of this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == encoder.Argument {
		if err := encoder.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

func newFleet(t *testing.T, members int) *sim.Fleet {
	t.Helper()
	fleet, err := sim.New(t.Context(), sim.Options{Members: members})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fleet.Close() })
	return fleet
}

// server is a simulated member in the place of an adapter.
func server(t *testing.T, m *sim.Member) *stage.Server {
	t.Helper()
	s, err := stage.NewServer(m.RESTConfig(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPodsAreSpreadEvenly(t *testing.T) {
	fleet := newFleet(t, 3)
	if err := spread(fleet.Members(), shop, 11); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 4, 3} {
		if _, err := server(t, fleet.Members()[i]).List(t.Context(), shop, want); err != nil {
			t.Errorf("member %d: %v", i, err)
		}
	}
	if err := spread(fleet.Members(), shop, 11); err == nil {
		t.Error("twice is fine")
	}
}

func TestPlansAscend(t *testing.T) {
	for name, p := range map[string]plan{"full": full(), "quick": quick()} {
		if len(p.Known) != len(p.KnownRounds) || p.Autoscalers[0] != 1 || p.Rounds < 3 || p.Members[0] >= p.Members[len(p.Members)-1] ||
			p.Known[0] >= p.Known[len(p.Known)-1] {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
