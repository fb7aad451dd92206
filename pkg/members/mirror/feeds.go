// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// all stands for all namespaces.
	all = ""
	// fewNamespaces of a member are followed one by one. While it is asked for
	// more, or for all, one watch of all takes the place of those: a watch costs a
	// member, and us, more than some objects that nobody asks for.
	fewNamespaces = 16
	// pagesEach bounds the pages that are read from one member at one time, so that
	// a slow one does not take the places of all others.
	pagesEach = 2
)

// feeds are what is followed of one member. [Mirror] guards it.
type feeds[O runtime.Object, T Object] struct {
	o            *Options[O, T]
	member       Member
	pages, turns chan struct{}
	byNamespace  map[string]*feed[O, T] // all has its own
	asked        map[string]time.Time   // by namespace, when it was last asked for; until sweep forgets it
}

func newFeeds[O runtime.Object, T Object](o *Options[O, T], member Member, pages chan struct{}) *feeds[O, T] {
	return &feeds[O, T]{
		o: o, member: member, pages: pages, turns: make(chan struct{}, pagesEach),
		byNamespace: map[string]*feed[O, T]{}, asked: map[string]time.Time{},
	}
}

// feed is the one to answer for a namespace, which is begun if need be.
func (c *feeds[O, T]) feed(namespace string, now time.Time, start func(*feed[O, T])) *feed[O, T] {
	c.asked[namespace] = now
	f := c.choose(namespace)
	if f == nil {
		f = c.begin(namespace, start)
	}
	if c.needsAll() && c.byNamespace[all] == nil {
		c.begin(all, start)
	}
	return f
}

// needsAll is true while all namespaces are asked for, or too many of them to follow one by one. Where not all are in scope,
// they may not be followed as one.
func (c *feeds[O, T]) needsAll() bool {
	_, asked := c.asked[all]
	return c.o.Scope.Everywhere() && (asked || len(c.asked) > fewNamespaces)
}

// asksForOne is true while some single namespace is asked for.
func (c *feeds[O, T]) asksForOne() bool {
	_, ofAll := c.asked[all]
	return len(c.asked) > 1 || len(c.asked) == 1 && !ofAll
}

// choose prefers the feed of all namespaces, unless it may not be had, or has yet to come and the namespace's own is there.
func (c *feeds[O, T]) choose(namespace string) *feed[O, T] {
	own, whole := c.byNamespace[namespace], c.byNamespace[all]
	if whole == nil || whole.refused() || own != nil && !whole.live() {
		return own
	}
	return whole
}

func (c *feeds[O, T]) begin(namespace string, start func(*feed[O, T])) *feed[O, T] {
	f := newFeed(c.o, c.member, namespace, c.pages, c.turns)
	c.byNamespace[namespace] = f
	start(f)
	return f
}

// sweep forgets what nobody requests any longer, and ends feeds that are useless. It begins those again whose objects
// are too old, or that are to take the place of the one of all.
func (c *feeds[O, T]) sweep(now time.Time, start func(*feed[O, T])) {
	maps.DeleteFunc(c.asked, func(_ string, asked time.Time) bool { return now.Sub(asked) >= c.o.KeepFor })
	if !c.needsAll() {
		for namespace := range c.asked {
			if c.byNamespace[namespace] == nil {
				c.begin(namespace, start)
			}
		}
	}
	for namespace, f := range c.byNamespace {
		switch {
		case !c.useful(namespace, f):
			f.stop()
			delete(c.byNamespace, namespace)
		case f.expired(now, namespace == all && c.asksForOne()):
			f.stop()
			c.begin(namespace, start)
		}
	}
}

// useful is true for the feed that answers for what is asked for. That of all namespaces does so until those that take
// its place have come.
func (c *feeds[O, T]) useful(namespace string, f *feed[O, T]) bool {
	if namespace != all {
		_, asked := c.asked[namespace]
		return asked && (!c.needsAll() || c.choose(namespace) == f)
	}
	if c.needsAll() {
		return true
	}
	for namespace := range c.asked {
		if !c.byNamespace[namespace].live() {
			return true
		}
	}
	return false
}
