// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/served"
)

// doubtFor is how long an object is doubted. It is more than the time between two looks at the schema, which decide.
const doubtFor = time.Minute

// doubts are objects whose status lacks what we wrote there, and nobody since: the hub may have cut them for a schema that
// is not ours, and their spec with it, so that they ask for something else than their owner does. An object that was cut
// in former times is as it is. So are objects doubted that were in distributed mode and are not any more, though nobody
// has changed their spec.
type doubts struct {
	mu          sync.Mutex
	since       map[client.ObjectKey]time.Time
	distributed map[client.ObjectKey]int64 // by generation
}

func newDoubts() *doubts {
	return &doubts{since: map[client.ObjectKey]time.Time{}, distributed: map[client.ObjectKey]int64{}}
}

// isDistributed notes that an object was seen in distributed mode.
func (d *doubts) isDistributed(object *v1alpha1.FederatedHPA) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.distributed[client.ObjectKeyFromObject(object)] = object.Generation
}

// about says whether an object is better left alone for now.
func (d *doubts) about(object *v1alpha1.FederatedHPA, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	if generation, was := d.distributed[key]; was && !object.Distributed() && generation == object.Generation {
		return true
	}
	delete(d.distributed, key)
	if object.Status.Summary != nil || !served.WroteLast(object.ManagedFields, fieldManager) {
		delete(d.since, key)
		return false
	}
	since, doubted := d.since[key]
	if !doubted {
		d.since[key] = now
	}
	return !doubted || now.Sub(since) < doubtFor
}

func (d *doubts) forget(key client.ObjectKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.since, key)
	delete(d.distributed, key)
}
