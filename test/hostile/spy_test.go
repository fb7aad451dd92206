// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"fmt"
	"sync"

	"github.com/fleetscale/fleetscale/test/sim"
)

// spy sees requests that nobody should make.
type spy struct {
	mu   sync.Mutex
	seen []string
}

func (s *spy) saw(cluster string, r sim.Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprintf("%s was asked to %s %s/%s %s/%s", cluster, r.Verb, r.Group, r.Resource, r.Namespace, r.Name))
}

// take returns what was seen since it was last taken.
func (s *spy) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}
