// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"sync"

	"github.com/fleetscale/fleetscale/pkg/shares"
)

// Held is something in memory; two are the same if they are equal. No
// method may call the Memory, or wait for who does.
type Held interface {
	// Bytes is what it takes now; 0 when it is gone.
	Bytes() int64
	// Forget frees these bytes, until there is something new.
	Forget()
}

// Kept is what somebody wants.
type Kept interface {
	Held
	// Namespace is whose it is; empty for what is in none.
	Namespace() string
}

// Memory may be used from any goroutine.
type Memory struct {
	metrics *Metrics

	mu     sync.Mutex
	ledger *shares.Ledger[Kept]
	limit  int64
	// spare are the bytes of what nobody wants yet, and spares all of them.
	spare  map[Held]int64
	spares int64
}

// New returns an empty memory of so many bytes.
func New(limit int64, metrics *Metrics) *Memory {
	return &Memory{ledger: shares.NewLedger[Kept](limit, 0), limit: limit, spare: map[Held]int64{}, metrics: metrics}
}

// Changed is to be called after each change of what things take. It has forgotten
// what there is no room for when it returns, that thing itself perhaps.
func (m *Memory) Changed(kept Kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.settle()
	bytes := kept.Bytes() // read here: so the last of several calls at once enters what is so
	if bytes == 0 {
		m.ledger.Remove(kept)
		return
	}
	for _, k := range m.ledger.Put(kept.Namespace(), kept, bytes) {
		k.Forget()
		m.metrics.forgotten.Inc()
	}
}

// SpareChanged is Changed for what nobody wants yet. Where there is no room for all of it none is held, so that it takes nothing from
// anybody.
func (m *Memory) SpareChanged(held Held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.settle()
	m.spares -= m.spare[held]
	delete(m.spare, held)
	if bytes := held.Bytes(); bytes > 0 {
		m.spare[held] = bytes
		m.spares += bytes
	}
}

// settle is called with the lock held.
func (m *Memory) settle() {
	if m.ledger.Weight()+m.spares > m.limit {
		for held := range m.spare {
			held.Forget()
		}
		clear(m.spare)
		m.spares = 0
	}
	m.metrics.bytes.Set(float64(m.ledger.Weight() + m.spares))
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
	return m.ledger.Weight() + m.spares
}
