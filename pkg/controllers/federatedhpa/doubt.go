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

// doubts are objects whose status lacks what we wrote there, and nobody since, or that are cut as [served.Cut] says: the
// hub may do that to them for a schema that is not ours. They then ask for something else than their owner does, and to
// write their status would make the loss final. After a while, in which the schema was ours, they are as they are stored.
type doubts struct {
	mu    sync.Mutex
	since map[client.ObjectKey]time.Time
}

func newDoubts() *doubts { return &doubts{since: map[client.ObjectKey]time.Time{}} }

// about says whether an object is better left alone for now.
func (d *doubts) about(object *v1alpha1.FederatedHPA, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := client.ObjectKeyFromObject(object)
	pruned := object.Status.Summary == nil && served.WroteLast(object.ManagedFields, fieldManager)
	if !pruned && len(served.Cut(object)) == 0 {
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
}
