// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"sync"
	"time"
)

// ScaleWrite is a write to /scale that changed the replicas of a workload.
type ScaleWrite struct {
	At time.Time
	// Resource is deployments or statefulsets.
	Resource, Namespace, Name string
	From, To                  int
}

// ScaleWrites returns those so far, in order.
func (m *Member) ScaleWrites() []ScaleWrite {
	m.scaled.mu.Lock()
	defer m.scaled.mu.Unlock()
	return slices.Clone(m.scaled.all)
}

// scaled keeps what was written to /scale.
type scaled struct {
	mu  sync.Mutex
	all []ScaleWrite
}

func (s *scaled) add(w ScaleWrite) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, w)
}
