// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// writers are people who write autoscalers without a pause.
type writers struct {
	answered atomic.Int64
	end      func()

	mu     sync.Mutex
	faults []error
}

// begin has that many people write. What is refused is a fault of the test.
func (e *env) begin(t *testing.T, people int) *writers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client, l := e.client(t), &writers{}
	var running sync.WaitGroup
	for i := range people {
		running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, err := client.try(ctx, "default", probe(fmt.Sprintf("load-%d-%d", i, n), 3))
				if ctx.Err() != nil {
					return
				}
				l.heard(err)
			}
		})
	}
	l.end = func() { cancel(); running.Wait() }
	t.Cleanup(l.end)
	return l
}

func (l *writers) heard(err error) {
	if err == nil {
		l.answered.Add(1)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, err)
}

// judge ends it, and wants nobody refused.
func (l *writers) judge(t *testing.T) {
	t.Helper()
	l.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Logf("%d requests were answered", l.answered.Load())
	if l.answered.Load() == 0 {
		t.Error("nobody was answered")
	}
	for i, fault := range l.faults {
		if i == 5 {
			t.Errorf("... and %d more", len(l.faults)-i)
			break
		}
		t.Errorf("refused: %v", fault)
	}
}
