// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// world is what a member's API server stores.
type world struct {
	name string
	born time.Time

	mu        sync.RWMutex
	revision  int64
	measured  int64            // revision at which a Pod or a node changed last
	shelves   map[string]shelf // by plural name; no two resources share one
	workloads map[workloadKey]*workload
	log       []event // the latest of all that happened, in order
	changed   chan struct{}
}

// event is a change of one object.
type event struct {
	revision int64
	kind     watch.EventType
	resource string
	entry    entry
}

// logged is how many events are kept for watches. One that lags behind must list again.
const logged = 20_000

func newWorld(name string, kubeletPort int) *world {
	w := &world{name: name, born: time.Now(), shelves: map[string]shelf{}, workloads: map[workloadKey]*workload{},
		changed: make(chan struct{})}
	for _, served := range servedResources() {
		w.shelves[served.plural] = shelf{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range []string{"default", "kube-system"} {
		w.ensureNamespace(name)
	}
	w.keep("configmaps", authenticationConfig())
	for i := range nodes {
		w.keep("nodes", w.node(i, kubeletPort))
	}
	return w
}

// keep stores an object as it is, with its next revision. The lock is held.
func (w *world) keep(resource string, o object) {
	k := key{o.GetNamespace(), o.GetName()}
	kind := watch.Modified
	if _, found := w.shelves[resource].find(k); !found {
		kind = watch.Added
		o.SetCreationTimestamp(seconds(time.Now()))
		o.SetGeneration(1)
		o.SetUID(w.uid(resource, k))
	}
	w.revision++
	o.SetResourceVersion(strconv.FormatInt(w.revision, 10))
	e := stored{o, w.revision}
	w.shelves[resource].put(e)
	w.tell(kind, resource, e)
}

// drop removes an object. The lock is held.
func (w *world) drop(resource string, k key) {
	e, found := w.shelves[resource].find(k)
	if !found {
		return
	}
	w.shelves[resource].remove(k)
	w.revision++
	w.tell(watch.Deleted, resource, e)
}

// tell notes what happened at the present revision. The lock is held.
func (w *world) tell(kind watch.EventType, resource string, e entry) {
	if resource == "pods" || resource == "nodes" {
		w.measured = w.revision
	}
	w.log = append(w.log, event{w.revision, kind, resource, e})
	if len(w.log) > 2*logged {
		w.log = append([]event(nil), w.log[len(w.log)-logged:]...)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// since gives what happened to a resource after a revision, up to now, and
// what tells of more. It is not ok where the log does not go so far back.
func (w *world) since(resource string, revision int64) (events []event, now int64, more <-chan struct{}, ok bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if revision < w.revision && (len(w.log) == 0 || w.log[0].revision > revision+1) {
		return nil, 0, nil, false
	}
	first := len(w.log)
	for first > 0 && w.log[first-1].revision > revision {
		first--
	}
	for _, e := range w.log[first:] {
		if e.resource == resource {
			events = append(events, e)
		}
	}
	return events, w.revision, w.changed, true
}

// uid is the same for the same object of the same member.
func (w *world) uid(resource string, k key) types.UID {
	a, b := hash(w.name, w.born.String(), resource), hash(w.name, k.namespace, k.name)
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), uint16(a>>48)>>4, uint16(b>>48)>>4, b&(1<<48-1)))
}
