// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// grace is for how long objects count as seen though their watch has ended: the
// servers end each of them now and then, and the next begins at once.
const grace = 10 * time.Second

// feed keeps the objects of one namespace of a member, or of all.
type feed[O runtime.Object, T Object] struct {
	o         *Options[O, T]
	member    Member
	namespace string
	pages     chan struct{} // of all members
	turns     chan struct{} // of this one
	// tried is closed when the first attempt to list has ended.
	tried chan struct{}
	once  sync.Once

	stop context.CancelFunc // Mirror.mu guards it

	// mu guards the rest. It is never held while anything is waited for.
	mu       sync.Mutex
	shelves  shelves[T]
	held     *holding[T] // of what the shelves hold; nil before the first list
	known    bool
	watching bool
	lacking  bool           // the resource was not served when last asked for, so that there are no objects
	heard    time.Time      // up to when objects were correct at the last check
	failure  *fleet.Silence // of the last attempt; nil if it went well
	stopsNow func()         // ends the present watch
	missed   bool           // a change could not be read, so that the objects must be listed again
}

func newFeed[O runtime.Object, T Object](o *Options[O, T], member Member, namespace string, pages, turns chan struct{}) *feed[O, T] {
	return &feed[O, T]{
		o: o, member: member, namespace: namespace, pages: pages, turns: turns,
		shelves: shelves[T]{of: map[string]*shelf[T]{}}, tried: make(chan struct{}), stop: func() {},
	}
}

// wait returns once it has been tried to list the objects, or when ctx ends.
func (f *feed[O, T]) wait(ctx context.Context) {
	select {
	case <-f.tried:
	case <-ctx.Done():
	}
}

// answer returns what is known of one of the feed's namespaces, or of all of them.
func (f *feed[O, T]) answer(namespace string, now time.Time) Answer[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := Answer[T]{Known: f.known && !f.tooOld(now), Silence: f.silence(now)}
	if a.Known {
		a.Objects, a.AsOf = f.shelves.lend(namespace), f.rightUntil(now)
	}
	return a
}

// live is true while the objects are known and followed, or it is known that there cannot be any.
func (f *feed[O, T]) live() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known && (f.watching || f.lacking)
}

// refused is true when the member does not let us see the objects, and never did.
func (f *feed[O, T]) refused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.known && f.forbidden()
}

// expired is true when what is known is worth nothing any more: it is too old, or, for a feed that stands in for those
// of single namespaces, all of them may no longer be seen, while the single ones perhaps may.
func (f *feed[O, T]) expired(now time.Time, standsIn bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known && (f.tooOld(now) || standsIn && f.forbidden())
}

func (f *feed[O, T]) forbidden() bool {
	return !f.watching && f.failure != nil && f.failure.Reason == fleet.ReasonForbidden
}

func (f *feed[O, T]) tooOld(now time.Time) bool {
	return f.silence(now) != nil && now.Sub(f.rightUntil(now)) > f.o.MaxAge
}

// silence returns why the objects cannot be seen; nil if they can.
func (f *feed[O, T]) silence(now time.Time) *fleet.Silence {
	silence, _ := fleet.Classify(f.member.Silence())
	switch {
	case silence != nil:
		return silence
	case f.known && (f.watching || f.lacking || now.Sub(f.heard) <= grace):
		return nil
	case f.failure != nil:
		return f.failure
	case f.known:
		return &fleet.Silence{Reason: fleet.ReasonStale, Detail: "the watch has ended, and the objects are being listed again"}
	default:
		return &fleet.Silence{Reason: ReasonNotListed, Detail: "being listed for the first time"}
	}
}

// rightUntil is the time up to which the objects are right. A member that cannot
// be seen may have an open watch all the same, on which nothing comes.
func (f *feed[O, T]) rightUntil(now time.Time) time.Time {
	switch {
	case !f.watching:
		return f.heard
	case f.member.Silence() == nil:
		return now
	}
	if last := f.member.State().LastSuccess; last.After(f.heard) {
		return last
	}
	return f.heard
}

// failed notes why an attempt failed.
func (f *feed[O, T]) failed(ctx context.Context, err error) {
	silence := fleet.Unanswered(err)
	f.mu.Lock()
	news := f.failure == nil || f.failure.Reason != silence.Reason
	f.failure, f.lacking = silence, false
	f.attempt()
	f.mu.Unlock()
	if news {
		klog.FromContext(ctx).V(2).Info("Could not read the objects of a cluster", "cluster", f.member.Name(),
			"resource", f.o.Resource.Resource, "namespace", f.namespace, "reason", silence.Reason, "message", silence.Detail)
	}
}

// attempt releases those who wait for a first attempt.
func (f *feed[O, T]) attempt() { f.once.Do(func() { close(f.tried) }) }

// began notes that a watch has begun, and how it is ended. If the objects that it follows were forgotten meanwhile, it is.
func (f *feed[O, T]) began(stop func(), now time.Time) {
	f.mu.Lock()
	f.stopsNow = stop
	forgotten := f.missed
	if !forgotten {
		f.watching, f.heard = true, now
	}
	f.mu.Unlock()
	if forgotten {
		stop()
	}
}

// miss ends the watch, of which a change could not be read.
func (f *feed[O, T]) miss() {
	f.mu.Lock()
	f.missed = true
	stop := f.stopsNow
	f.mu.Unlock()
	stop()
}

// misses is true, once, when the objects must be listed again.
func (f *feed[O, T]) misses() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed := f.missed
	f.missed = false
	return missed
}

// ended notes that the watch has ended.
func (f *feed[O, T]) ended(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = f.rightUntil(now)
	f.watching = false
}

// asksFor is true for an object of the namespace that the member was asked for.
func (f *feed[O, T]) asksFor(object T) bool {
	key := object.Key()
	return key.Name != "" && (f.namespace == all || key.Namespace == f.namespace)
}

// listed puts these objects in place of all, and returns how many of them had the name of another one. There may be none for
// which there is no room by now.
func (f *feed[O, T]) listed(objects []T, held *holding[T], now time.Time) (repeated int) {
	shelves, again := shelve(objects)
	held.drop(again...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replace(shelves, held, now)
	if err := held.kept.Add(0); err != nil {
		f.clear(err, now)
	}
	return len(again)
}

// lacks notes that the member does not serve the resource.
func (f *feed[O, T]) lacks(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replace(shelves[T]{of: map[string]*shelf[T]{}}, nil, now)
	f.lacking = true
}

func (f *feed[O, T]) replace(shelves shelves[T], held *holding[T], now time.Time) {
	f.giveBack()
	f.shelves, f.held = shelves, held
	f.lacking, f.known, f.failure, f.heard, f.missed = false, true, nil, now, false
	f.attempt()
}

func (f *feed[O, T]) giveBack() {
	if f.held != nil {
		f.held.kept.GiveBack()
	}
}

// giveUp forgets what was listed, if it is still what the feed has, because others need the room.
func (f *feed[O, T]) giveUp(held *holding[T], now time.Time) {
	f.mu.Lock()
	stop := func() {}
	if f.held == held {
		stop = f.clear(held.kept.Add(0), now)
	}
	f.mu.Unlock()
	stop()
}

// clear forgets all objects, and has them listed again. What it returns ends the watch, without the lock.
func (f *feed[O, T]) clear(why error, now time.Time) (stop func()) {
	f.giveBack()
	f.shelves, f.held = shelves[T]{of: map[string]*shelf[T]{}}, nil
	f.failure, _ = fleet.Classify(why)
	f.known, f.watching, f.heard, f.missed = false, false, now, true
	if f.stopsNow == nil {
		return func() {}
	}
	return f.stopsNow
}

// ends frees what is held, when the feed is no longer kept.
func (f *feed[O, T]) ends() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.giveBack()
	f.held = nil
}

// makeRoom forgets the objects, if there are any, in favour of a list for which there is no room beside them.
func (f *feed[O, T]) makeRoom(why error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held != nil {
		f.clear(why, now) // a list follows, so there is no watch to end
	}
}

// put adds an object, or replaces its former state.
func (f *feed[O, T]) put(object T, now time.Time) {
	f.mu.Lock()
	stop := func() {}
	if f.held != nil { // as after clear, until the watch has ended
		f.heard = now
		if err := f.held.replace(f.shelves.put(object), object); err != nil {
			stop = f.clear(err, now)
		}
	}
	f.mu.Unlock()
	stop()
}

// remove takes an object away.
func (f *feed[O, T]) remove(key Key, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held != nil {
		f.held.drop(f.shelves.remove(key)...)
		f.heard = now
	}
}
