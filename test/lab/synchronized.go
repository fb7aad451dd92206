// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"io"
	"sync"
)

// synchronized lets clusters that start side by side write to one log.
type synchronized struct {
	mu     sync.Mutex
	writer io.Writer
}

func (s *synchronized) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writer.Write(p)
}
