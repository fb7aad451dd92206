// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/cronplan"
)

// delays are why runs that are due have not been done yet. They are not
// stored: a program that starts tries anew.
type delays struct {
	mu    sync.Mutex
	byKey map[client.ObjectKey]delayed
}

// delayed is an object that has runs which are delayed.
type delayed struct {
	uid types.UID
	why *cronplan.Delay
}

// of returns the delay of an object. That of an earlier one of the same name
// is not its own.
func (d *delays) of(object client.Object) *cronplan.Delay {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.byKey[client.ObjectKeyFromObject(object)]
	if known.uid != object.GetUID() {
		return nil
	}
	return known.why
}

// keep remembers the delay of an object, or with nil that it has none.
func (d *delays) keep(object client.Object, why *cronplan.Delay) {
	if why == nil {
		d.forget(client.ObjectKeyFromObject(object))
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byKey[client.ObjectKeyFromObject(object)] = delayed{object.GetUID(), why}
}

func (d *delays) forget(key client.ObjectKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byKey, key)
}
