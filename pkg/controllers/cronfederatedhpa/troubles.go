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

// of returns the trouble of an object. That of an earlier one of the same name
// is not its own.
func (t *troubles) of(object client.Object) *trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.byKey[client.ObjectKeyFromObject(object)]
	if known == nil || known.of != object.GetUID() {
		return nil
	}
	return known
}

// keep remembers a trouble of an object, or with nil that it has none.
func (t *troubles) keep(object client.Object, now *trouble) {
	if now == nil {
		t.forget(client.ObjectKeyFromObject(object))
		return
	}
	now.of = object.GetUID()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byKey[client.ObjectKeyFromObject(object)] = now
}

func (t *troubles) forget(key client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byKey, key)
}
