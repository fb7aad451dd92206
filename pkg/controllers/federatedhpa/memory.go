// SPDX-License-Identifier: Apache-2.0

package federatedhpa

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// memories are what is known of objects from one look to the next. Whatever of it must outlive the program is in their
// status; an object that is not known is remembered from there.
type memories struct {
	mu    sync.Mutex
	byKey map[client.ObjectKey]remembered
}

// remembered is what is known of one object; another one of the same name has another.
type remembered struct {
	uid   types.UID
	state replicas.State
	// moved are replicas that run in two clusters, by the one that they move to. Who does not know of them takes some away.
	moved map[string]int32
	// assigned are what the clusters were told, by name: the status knows of the last write only if it could be stored.
	assigned map[string]int32
	// propagation is how the clusters followed the hub.
	propagation propagation
	// replaced is the resource version that our last write of the status took the place of.
	replaced string
}

func newMemories() *memories { return &memories{byKey: map[client.ObjectKey]remembered{}} }

// of returns the state of an object whose workload has so many replicas.
func (m *memories) of(object *v1alpha1.FederatedHPA, current int32, now time.Time) replicas.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.byKey[client.ObjectKeyFromObject(object)]; known.uid == object.UID {
		return known.state
	}
	return recall(object.Status.Stabilization, current, now)
}

// remind notes what is known of the clusters of an object.
func (m *memories) remind(object *v1alpha1.FederatedHPA, parts []part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(object)]
	if known.uid != object.UID {
		return
	}
	for i := range parts {
		p := &parts[i]
		p.moved = known.moved[p.facts.Name]
		if n, told := known.assigned[p.facts.Name]; told {
			p.before.AssignedReplicas = &n
		}
	}
}

// propagation is how the clusters followed the hub at the last look.
func (m *memories) propagation(object *v1alpha1.FederatedHPA) propagation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.byKey[client.ObjectKeyFromObject(object)]; known.uid == object.UID {
		return known.propagation
	}
	return propagation{}
}

// keep keeps what the next look must know of this one. Where the workload could not be read, little was learnt.
func (m *memories) keep(in *situation, d *decision) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(in.object)
	known, found := m.byKey[key]
	if !found || known.uid != in.object.UID {
		known, found = remembered{uid: in.object.UID}, false
	}
	known.propagation = in.propagation
	switch {
	case in.scale.Err == nil:
		known.state, known.moved, known.assigned = d.State, nil, nil
	case !found:
		return // what is stored is remembered once it can be
	}
	if d.division != nil {
		known.moved, known.assigned = d.division.moving(), assigned(in.parts)
	}
	m.byKey[key] = known
}

func assigned(parts []part) map[string]int32 {
	told := make(map[string]int32, len(parts))
	for i := range parts {
		if n := parts[i].assigned; n != nil {
			told[parts[i].facts.Name] = *n
		}
	}
	return told
}

// wrote notes that the status of the object was written, after which it is as another version. A write that changes
// nothing for the hub, as where it drops what it does not know, makes none.
func (m *memories) wrote(object, after *v1alpha1.FederatedHPA) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(object)]
	known.replaced = ""
	if after.ResourceVersion != object.ResourceVersion {
		known.replaced = object.ResourceVersion
	}
	m.byKey[client.ObjectKeyFromObject(object)] = known
}

// stale says that the object is from before our last write.
func (m *memories) stale(object *v1alpha1.FederatedHPA) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.byKey[client.ObjectKeyFromObject(object)]
	return known.uid == object.UID && known.replaced != "" && known.replaced == object.ResourceVersion
}

func (m *memories) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}

// recall returns the state that a former leader left. The status is not written when a recommendation is merely
// repeated, so the last one may have been given until a moment ago, and is taken to have been: it then keeps the replicas
// for a whole window more. It is not if it would change them, for it may also be from long ago; then the replicas that
// there are stand for it.
func recall(stored *v1alpha1.StabilizationStatus, current int32, now time.Time) replicas.State {
	if stored == nil {
		return replicas.State{}
	}
	stored = stored.DeepCopy()
	repeated := false
	if last := lastOf(stored.ScaleUpRecommendations); last != nil && last.Replicas >= current {
		last.Time, repeated = metav1.NewMicroTime(now), true
	}
	if last := lastOf(stored.ScaleDownRecommendations); last != nil && last.Replicas <= current {
		last.Time, repeated = metav1.NewMicroTime(now), true
	}
	state := replicas.Recall(stored)
	if !repeated {
		state.Recommendations = append(state.Recommendations, replicas.Recommendation{Replicas: current, At: now})
	}
	return state
}

func lastOf(list []v1alpha1.Recommendation) *v1alpha1.Recommendation {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// remembers says whether what is stored is enough for [recall] to come to the same as from the fresh memory: only then
// it need not be written.
func remembers(stored, fresh *v1alpha1.StabilizationStatus) bool {
	if stored == nil || fresh == nil {
		return stored == fresh
	}
	return endsLike(stored.ScaleUpRecommendations, fresh.ScaleUpRecommendations) &&
		endsLike(stored.ScaleDownRecommendations, fresh.ScaleDownRecommendations) &&
		endsWith(stored.ScaleUpEvents, fresh.ScaleUpEvents) &&
		endsWith(stored.ScaleDownEvents, fresh.ScaleDownEvents)
}

// endsLike says whether the fresh list is the end of the stored one, but for the time of the last.
func endsLike(stored, fresh []v1alpha1.Recommendation) bool {
	if len(fresh) == 0 || len(stored) == 0 {
		return len(fresh) == 0
	}
	last := len(fresh) - 1
	if len(stored) <= last || stored[len(stored)-1].Replicas != fresh[last].Replicas {
		return false
	}
	return slices.EqualFunc(stored[len(stored)-1-last:len(stored)-1], fresh[:last], func(a, b v1alpha1.Recommendation) bool {
		return a.Replicas == b.Replicas && sameTime(a.Time, b.Time)
	})
}

// endsWith says whether the fresh list is the end of the stored one.
func endsWith(stored, fresh []v1alpha1.ScaleEvent) bool {
	return len(fresh) <= len(stored) && slices.EqualFunc(stored[len(stored)-len(fresh):], fresh, func(a, b v1alpha1.ScaleEvent) bool {
		return a.Replicas == b.Replicas && sameTime(a.Time, b.Time)
	})
}

// sameTime compares to the microsecond, which is what is stored.
func sameTime(a, b metav1.MicroTime) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}
