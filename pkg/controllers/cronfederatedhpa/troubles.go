// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// troubles are why runs that are due have not been done yet. They are not
// stored: a program that starts tries anew.
type troubles struct {
	mu    sync.Mutex
	byKey map[client.ObjectKey]*trouble
}

func (t *troubles) of(key client.ObjectKey) *trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byKey[key]
}

// keep remembers a trouble, or with nil that there is none, and says whether it
// is a new one.
func (t *troubles) keep(key client.ObjectKey, now *trouble) (begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now == nil {
		delete(t.byKey, key)
		return false
	}
	begins = t.byKey[key] == nil
	t.byKey[key] = now
	return begins
}
