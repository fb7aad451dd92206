// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// all stands for all namespaces.
	all = ""
	// fewNamespaces of a member are followed one by one. Where it is asked for
	// more, one watch of all takes the place of those: a watch costs a member, and
	// us, more than some objects that nobody asks for.
	fewNamespaces = 16
	// pagesEach bounds the pages that are read from one member at one time, so that
	// a slow one does not take the places of all others.
	pagesEach = 2
)

// cluster is what is followed of one member. [Mirror] guards it.
type cluster[O runtime.Object, T Object] struct {
	o            *Options[O, T]
	member       Member
	pages, turns chan struct{}
	feeds        map[string]*feed[O, T] // by namespace; all has its own
}

func newCluster[O runtime.Object, T Object](o *Options[O, T], member Member, pages chan struct{}) *cluster[O, T] {
	return &cluster[O, T]{
		o: o, member: member, pages: pages, turns: make(chan struct{}, pagesEach), feeds: map[string]*feed[O, T]{},
	}
}

// feed is the one to answer for a namespace, which is begun if need be.
func (c *cluster[O, T]) feed(namespace string, now time.Time, start func(*feed[O, T])) *feed[O, T] {
	f := c.choose(namespace)
	if f == nil {
		f = c.begin(namespace, now, start)
	}
	f.asked = now
	if len(c.feeds) > fewNamespaces && c.feeds[all] == nil {
		c.begin(all, now, start).standsIn = true
	}
	return f
}

// choose prefers the feed of all namespaces, unless it may not be had, or has yet to come and the namespace's own is there.
func (c *cluster[O, T]) choose(namespace string) *feed[O, T] {
	own, whole := c.feeds[namespace], c.feeds[all]
	if whole == nil || whole.refused() || own != nil && !whole.live() {
		return own
	}
	return whole
}

func (c *cluster[O, T]) begin(namespace string, asked time.Time, start func(*feed[O, T])) *feed[O, T] {
	f := newFeed(c.o, c.member, namespace, c.pages, c.turns)
	f.asked = asked
	c.feeds[namespace] = f
	start(f)
	return f
}

// sweep ends the feeds that nobody asked for, and those of namespaces that the one of all answers for. It begins those
// anew whose objects are too old.
func (c *cluster[O, T]) sweep(now time.Time, start func(*feed[O, T])) {
	for namespace, f := range c.feeds {
		switch {
		case now.Sub(f.asked) >= c.o.KeepFor, c.choose(namespace) != f:
			f.stop()
			delete(c.feeds, namespace)
		case f.expired(now):
			f.stop()
			c.begin(namespace, f.asked, start).standsIn = f.standsIn
		}
	}
}
