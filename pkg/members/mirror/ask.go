// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

const (
	// pageSize is the most objects asked for at once.
	pageSize = 500
	// readyPoll is the interval at which it is checked whether a silent member is ready.
	readyPoll = time.Second
	// servedPoll is the interval at which a member is asked for a resource that it did not serve.
	servedPoll = time.Minute
	// accept asks for protobuf, which is decoded in a third of JSON's time.
	accept = "application/vnd.kubernetes.protobuf,application/json"
)

// asker lists and watches for a reflector.
type asker[O runtime.Object, T Object] struct {
	*feed[O, T]

	logger klog.Logger
	list   *listing[T] // the one under way; one at a time
}

// listing is a list that is being read. Its lock is for the end: the reflector does not wait for who reads then.
type listing[T Object] struct {
	length length

	mu    sync.Mutex
	held  *holding[T] // by its pages so far; nil: nothing
	ended bool        // nothing is read any more
}

// begin is for the first page of a list.
func (l *listing[T]) begin(held *holding[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBack()
	l.held = held
}

// add counts a page. After an error the list is not to be gone on with.
func (l *listing[T]) add(objects []T) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return context.Canceled
	}
	return l.held.add(objects...)
}

// complete returns what the list holds, which is somebody else's from now on.
func (l *listing[T]) complete() *holding[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held
	l.held = nil
	return held
}

// giveUp is for a list that is not gone on with; last, for that no other follows.
func (l *listing[T]) giveUp(last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveBack()
	l.ended = l.ended || last
}

func (l *listing[T]) giveBack() {
	if l.held != nil {
		l.held.kept.GiveBack()
		l.held = nil
	}
}

func (a asker[O, T]) listerWatcher() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: a.read, WatchFuncWithContext: a.watch,
	}, wholeLists{})
}

// wholeLists has the reflector list, and not stream, what is there at first: a
// stream is not read in pages, and so not in turns.
type wholeLists struct{}

// IsWatchListSemanticsUnSupported returns what client-go checks for.
func (wholeLists) IsWatchListSemanticsUnSupported() bool { return true }

// read reads one page, sooner or later: only a page that is no longer to be had
// is an error, and one of a list that is too long, or no longer served, after which
// none of it is kept.
func (a asker[O, T]) read(ctx context.Context, o metav1.ListOptions) (list runtime.Object, err error) {
	defer func() {
		if err != nil {
			a.list.giveUp(false)
		}
	}()
	ctx = klog.NewContext(ctx, a.logger)
	// Not from any version on: a server's memory ignores the limit then.
	o.ResourceVersion, o.ResourceVersionMatch = "", ""
	for delay := waits().DelayFunc(); ; {
		list, err := a.page(ctx, &o)
		if err == nil || ctx.Err() != nil || tooOld(err) {
			return list, err
		}
		if a.o.Optional && apierrors.IsNotFound(err) {
			a.lacks(time.Now())
			if o.Continue != "" { // nothing is kept of the pages before it
				return nil, err
			}
			pause(ctx, about(servedPoll))
			continue
		}
		a.failed(ctx, err)
		if hasNoEnd(err) {
			return nil, err
		}
		pause(ctx, delay())
	}
}

// tooOld is true when a server says that it does not go so far back.
func tooOld(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// page tries to read one page, in its turn. It waits for a member that is silent.
func (a asker[O, T]) page(ctx context.Context, o *metav1.ListOptions) (runtime.Object, error) {
	a.ready(ctx)
	if err := a.enter(ctx); err != nil {
		return nil, err
	}
	defer a.leave()
	result := a.request(a.member.Client(), o).Do(ctx)
	list, err := result.Get()
	if err != nil {
		return nil, err
	}
	if o.Continue == "" {
		a.list.begin(a.holding())
	}
	var kept *metainternalversion.List
	if err := a.member.Reading().Guard(func() (err error) { kept, err = a.keep(list); return err }); err != nil {
		return nil, err
	}
	body, _ := result.Raw() // it was read without an error
	if err := a.list.length.add(o.Continue, kept.Continue, meta.LenList(list), len(body)); err != nil {
		return nil, a.member.Reading().Endless(err)
	}
	if err := a.list.add(kept.Items[0].(*page[T]).objects); err != nil {
		a.makeRoom(err, time.Now())
		return nil, err
	}
	return kept, nil
}

// ends frees what is held when the feed is no longer kept.
func (a asker[O, T]) ends() {
	a.list.giveUp(true)
	a.feed.ends()
}

// holding is for a new list, and then what the feed has of it.
func (a asker[O, T]) holding() (held *holding[T]) {
	held = newHolding[T](a.member.Reading(), func() { go a.giveUp(held, time.Now()) }) // whoever needs the room may hold a lock
	return held
}

// watch begins a watch. One that cannot be is as one that ended at once, after
// which the reflector waits and lists again: of an error it would tell by itself.
func (a asker[O, T]) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	ctx = klog.NewContext(ctx, a.logger)
	o.Watch = true
	if a.misses() { // what it would follow is not what was seen
		return nil, apierrors.NewResourceExpired("an object could not be read")
	}
	w, err := a.request(a.member.WatchClient(), &o).Watch(ctx)
	switch {
	case err == nil:
		a.began(w.Stop, time.Now())
		return &followed{Interface: w, ended: sync.OnceFunc(func() { a.ended(time.Now()) })}, nil
	case tooOld(err):
		return nil, err
	case ctx.Err() == nil:
		a.failed(ctx, err)
	}
	return watch.NewEmptyWatch(), nil
}

// followed tells when a watch ends: the reflector stops each that it has.
type followed struct {
	watch.Interface

	ended func()
}

func (w *followed) Stop() {
	w.Interface.Stop()
	w.ended()
}

func (a asker[O, T]) request(client rest.Interface, o *metav1.ListOptions) *rest.Request {
	return connection.At(client.Get(), a.o.Resource, a.namespace).
		SpecificallyVersionedParams(o, scheme.ParameterCodec, schema.GroupVersion{Version: "v1"}).
		SetHeader("Accept", accept).MaxRetries(0) // the reflector waits between attempts
}

// ready returns once the member is ready. Members that become ready together are
// not queried at the same moment.
func (a asker[O, T]) ready(ctx context.Context) {
	for err := a.member.Silence(); err != nil && ctx.Err() == nil; err = a.member.Silence() {
		a.failed(ctx, err)
		pause(ctx, about(readyPoll))
	}
}

// about returns half of d to half as much again.
func about(d time.Duration) time.Duration { return d/2 + rand.N(d) }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// enter waits for a place among those who read a page.
func (a asker[O, T]) enter(ctx context.Context) error {
	select {
	case a.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case a.pages <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-a.turns
		return ctx.Err()
	}
}

func (a asker[O, T]) leave() {
	<-a.pages
	<-a.turns
}

// page is what is kept of one page of a list. It passes through the reflector as
// if it were one object, so that the objects themselves need be none.
type page[T any] struct {
	objects []T
}

// GetObjectKind has nothing to tell.
func (p *page[T]) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the same page, since none is written to.
func (p *page[T]) DeepCopyObject() runtime.Object { return p }

// keep makes of a list one with a single page in it.
func (a asker[O, T]) keep(list runtime.Object) (*metainternalversion.List, error) {
	m, err := meta.ListAccessor(list)
	if err != nil {
		return nil, badAnswer(list)
	}
	p, dropped := &page[T]{objects: make([]T, 0, meta.LenList(list))}, 0
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(O)
		if !ok {
			return badAnswer(item)
		}
		if kept := a.o.Keep(object); a.asksFor(kept) {
			p.objects = append(p.objects, kept)
		} else {
			dropped++
		}
		return nil
	})
	a.member.Reading().Dropped(a.o.Resource.Resource, dropped)
	return &metainternalversion.List{
		ListMeta: metav1.ListMeta{ResourceVersion: m.GetResourceVersion(), Continue: m.GetContinue()},
		Items:    []runtime.Object{p},
	}, err
}

func badAnswer(got runtime.Object) error {
	return &fleet.Silence{Reason: fleet.ReasonBadAnswer, Detail: fmt.Sprintf("the list holds a %T", got)}
}
