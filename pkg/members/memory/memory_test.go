// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// note is something to keep.
type note struct {
	namespace string

	mu    sync.Mutex
	bytes int64
}

func (n *note) Namespace() string { return n.namespace }

func (n *note) Bytes() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}

func (n *note) Forget() { n.take(0) }

func (n *note) take(bytes int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bytes = bytes
}

func TestWhoHoldsTheMostForgets(t *testing.T) {
	m := New(100, NewMetrics(prometheus.NewRegistry()))
	first, second, other := &note{namespace: "shop", bytes: 50}, &note{namespace: "shop", bytes: 40}, &note{namespace: "bank", bytes: 20}
	for _, n := range []*note{first, second} {
		m.Changed(n)
	}
	m.Used(first)
	m.Changed(other)
	fleettest.Same(t, "bytes", []int64{50, 0, 20}, []int64{first.Bytes(), second.Bytes(), other.Bytes()})
	fleettest.Same(t, "all bytes", int64(70), m.Bytes())

	first.take(0)
	m.Changed(first)
	fleettest.Same(t, "all bytes once it is gone", int64(20), m.Bytes())
	other.take(101)
	m.Changed(other)
	fleettest.Same(t, "what alone is too much", int64(0), other.Bytes())
}

// What nobody wants yet is held only where there is room for all that is, and takes nothing from anybody.
func TestSpareIsForgottenFirst(t *testing.T) {
	m := New(100, NewMetrics(prometheus.NewRegistry()))
	kept, spare, more := &note{namespace: "shop", bytes: 50}, &note{bytes: 30}, &note{bytes: 20}
	m.Changed(kept)
	m.SpareChanged(spare)
	m.SpareChanged(more)
	fleettest.Same(t, "bytes where there is room", []int64{50, 30, 20, 100}, []int64{kept.Bytes(), spare.Bytes(), more.Bytes(), m.Bytes()})

	spare.take(31)
	m.SpareChanged(spare)
	fleettest.Same(t, "bytes once a spare thing is too much", []int64{50, 0, 0, 50},
		[]int64{kept.Bytes(), spare.Bytes(), more.Bytes(), m.Bytes()})

	spare.take(50)
	m.SpareChanged(spare)
	kept.take(60)
	m.Changed(kept)
	fleettest.Same(t, "bytes once more is wanted", []int64{60, 0, 60}, []int64{kept.Bytes(), spare.Bytes(), m.Bytes()})

	spare.take(10)
	m.SpareChanged(spare)
	spare.take(0)
	m.SpareChanged(spare)
	fleettest.Same(t, "bytes once it is gone", int64(60), m.Bytes())
}

// Whatever comes at once, in the end it is known what each holds, and that is within the bound.
func TestManyAtOnce(t *testing.T) {
	m := New(1000, NewMetrics(prometheus.NewRegistry()))
	notes := make([]*note, 50)
	for i := range notes {
		notes[i] = &note{namespace: fmt.Sprint(i % 5)}
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 2000 {
				n := notes[(i*7+worker)%len(notes)]
				n.take(int64(i*worker) % 90)
				m.Changed(n)
				m.Used(n)
			}
		})
	}
	all.Wait()
	var sum int64
	for _, n := range notes {
		sum += n.Bytes()
	}
	if sum != m.Bytes() || sum > 1000 {
		t.Errorf("%d bytes are kept and %d are known, of 1000", sum, m.Bytes())
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(100, NewMetrics(registry))
	m.Changed(&note{bytes: 70})
	m.Changed(&note{bytes: 60})
	want := `
# HELP fleetscale_kept_bytes Estimated memory of the answers of members that are kept; --max-kept-bytes at most.
# TYPE fleetscale_kept_bytes gauge
fleetscale_kept_bytes 60
# HELP fleetscale_kept_forgotten_total Answers of members that were forgotten because those of their namespace took more than its share of --max-kept-bytes.
# TYPE fleetscale_kept_forgotten_total counter
fleetscale_kept_forgotten_total 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if faults, err := testutil.GatherAndLint(registry); err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
}
