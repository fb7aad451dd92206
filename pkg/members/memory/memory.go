// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetscale/fleetscale/pkg/shares"
)

// Kept is something that stays in memory; two are the same if they are equal. No
// method may call the Memory, or wait for who does.
type Kept interface {
	// Namespace is whose it is; empty for what is in none.
	Namespace() string
	// Bytes is what it takes now; 0 when it is gone.
	Bytes() int64
	// Forget frees these bytes, until there is something new.
	Forget()
}

// Memory may be used from any goroutine.
type Memory struct {
	forgotten prometheus.Counter

	mu     sync.Mutex
	ledger *shares.Ledger[Kept]
}

// New returns an empty memory of so many bytes, and registers its metrics on reg.
func New(limit int64, reg prometheus.Registerer) *Memory {
	m := &Memory{
		ledger: shares.NewLedger[Kept](limit, 0),
		forgotten: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "fleetscale", Subsystem: "kept", Name: "forgotten_total",
			Help: "Answers of members that were forgotten because those of their namespace took more than its share of --max-kept-bytes.",
		}),
	}
	reg.MustRegister(m.forgotten, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "fleetscale", Subsystem: "kept", Name: "bytes",
		Help: "Estimated memory of the answers of members that are kept; --max-kept-bytes at most.",
	}, func() float64 { return float64(m.Bytes()) }))
	return m
}

// Changed is to be called after each change of what things take. It has forgotten
// what there is no room for when it returns, that thing itself perhaps.
func (m *Memory) Changed(kept Kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes := kept.Bytes() // read here: so the last of several calls at once enters what is so
	if bytes == 0 {
		m.ledger.Remove(kept)
		return
	}
	for _, k := range m.ledger.Put(kept.Namespace(), kept, bytes) {
		k.Forget()
		m.forgotten.Inc()
	}
}

// Used notes that somebody wanted it.
func (m *Memory) Used(kept Kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.Use(kept)
}

// Bytes is what all of it takes.
func (m *Memory) Bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.Weight()
}
