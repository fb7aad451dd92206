// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// bookmarkPeriod is how often a watch that wants bookmarks is told where it is.
const bookmarkPeriod = time.Minute

// stream is one watch. It holds no more than the event that it sends, and ends when its reader is too far behind.
type stream struct {
	store     *Store
	selects   selection
	events    chan watch.Event
	stop      context.CancelFunc
	bookmarks bool
	version   uint64 // of the last change that was seen
}

var _ watch.Interface = (*stream)(nil)

// Stop implements [watch.Interface].
func (w *stream) Stop() { w.stop() }

// ResultChan implements [watch.Interface].
func (w *stream) ResultChan() <-chan watch.Event { return w.events }

// watch begins a stream of what is selected.
func (s *Store) watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if err := s.check(version); err != nil {
		return nil, err
	}
	select {
	case s.places <- struct{}{}:
	default:
		return nil, apierrors.NewTooManyRequests("too many watches of members", 10)
	}
	ctx, stop := context.WithCancel(ctx)
	w := &stream{
		store: s, selects: selected(o), events: make(chan watch.Event), stop: stop, bookmarks: o.AllowWatchBookmarks, version: version,
	}
	asked := o.SendInitialEvents
	initially := asked != nil && *asked || asked == nil && version == 0
	go func() {
		defer func() { <-s.places }()
		defer close(w.events)
		defer stop()
		w.run(ctx, initially, asked != nil)
	}()
	return w, nil
}

// run sends what there is, if that is wanted, and then each change. What is marked says to the reader that it has all there was.
func (w *stream) run(ctx context.Context, initially, marked bool) {
	if !w.begin(ctx, initially, marked) {
		return
	}
	ticker := time.NewTicker(bookmarkPeriod)
	defer ticker.Stop()
	for {
		news, open := w.catchUp(ctx)
		if !open {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.store.ended:
			return
		case <-news:
		case <-ticker.C:
			if w.bookmarks && !w.bookmark(ctx, nil) {
				return
			}
		}
	}
}

// begin sends what there is. It is false when the watch has ended.
func (w *stream) begin(ctx context.Context, initially, marked bool) bool {
	if initially || w.version == 0 {
		var members []*v1alpha1.Member
		members, w.version = w.store.present()
		for _, m := range members {
			if initially && w.selects.matches(m) && !w.send(ctx, watch.Added, m.DeepCopy()) {
				return false
			}
		}
	}
	return !initially || !marked || !w.bookmarks || w.bookmark(ctx, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
}

// catchUp sends all changes that there have been, and returns what is closed with the next. It is false when the watch has ended.
func (w *stream) catchUp(ctx context.Context) (news <-chan struct{}, open bool) {
	for {
		c, news, err := w.store.next(w.version)
		switch {
		case err != nil:
			status := err.(apierrors.APIStatus).Status() // it is made here
			w.send(ctx, watch.Error, &status)
			return nil, false
		case news != nil:
			return news, true
		case !w.tell(ctx, c):
			return nil, false
		}
		w.version++
	}
}

// tell sends a change as those see it who see only what is selected.
func (w *stream) tell(ctx context.Context, c change) bool {
	was := c.before != nil && w.selects.matches(c.before)
	is := c.kind != watch.Deleted && w.selects.matches(c.object)
	switch {
	case was && is:
		return w.send(ctx, watch.Modified, c.object.DeepCopy())
	case is:
		return w.send(ctx, watch.Added, c.object.DeepCopy())
	case was:
		gone := c.before.DeepCopy()
		gone.ResourceVersion = c.object.ResourceVersion
		return w.send(ctx, watch.Deleted, gone)
	}
	return true
}

func (w *stream) bookmark(ctx context.Context, annotations map[string]string) bool {
	return w.send(ctx, watch.Bookmark, &v1alpha1.Member{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: versionText(w.version), Annotations: annotations},
	})
}

// send is false when the watch has ended.
func (w *stream) send(ctx context.Context, kind watch.EventType, object runtime.Object) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.store.ended:
		return false
	case w.events <- watch.Event{Type: kind, Object: object}:
		return true
	}
}
