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
	if !w.begin(ctx, initially) {
		return
	}
	if initially && marked && w.bookmarks && !w.bookmark(ctx, map[string]string{metav1.InitialEventsAnnotationKey: "true"}) {
		return
	}
	ticker := time.NewTicker(bookmarkPeriod)
	defer ticker.Stop()
	for {
		news, goesOn := w.catchUp(ctx)
		if !goesOn {
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

// begin finds the version from which changes are told, and sends what there is then, if that is wanted. It is false when the watch has
// ended.
func (w *stream) begin(ctx context.Context, initially bool) bool {
	if !initially && w.version != 0 {
		return true
	}
	var members []*v1alpha1.Member
	members, w.version = w.store.present()
	for _, m := range members {
		if initially && w.selects.matches(m) && !w.send(ctx, watch.Added, m.DeepCopy()) {
			return false
		}
	}
	return true
}

// catchUp sends all changes so far, and returns what is closed when there are more. It is false when the watch has ended.
func (w *stream) catchUp(ctx context.Context) (news <-chan struct{}, goesOn bool) {
	for {
		c, news, held := w.store.next(w.version)
		switch {
		case !held:
			status := tooOld(w.version).Status()
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
