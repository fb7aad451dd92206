// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"strings"
	"sync/atomic"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// objects are those of a source, in one version of their API.
type objects struct {
	version   string
	followers []*objectFollower // one for each namespace
}

type objectFollower struct {
	*follower[registration.Object]

	what string
	// handedOver is true once all first objects were.
	handedOver atomic.Bool
}

// newObjects follows none until they are started.
func (s *source) newObjects(version string) *objects {
	o := &objects{version: version}
	for _, watch := range s.watches(version) {
		f := newFollower(s.of.options.HubDynamic, watch, "", s.Read, following{
			changed: func(object string) { s.of.queue.Add(s.key(object)) },
			synced:  func() { s.of.queue.Add(s.mark(watch.Namespace)) },
			failed:  func() {},
		})
		o.followers = append(o.followers, &objectFollower{follower: f, what: watch.What})
	}
	return o
}

// watches are those of the namespaces, each by itself.
func (s *source) watches(version string) []registration.Watch {
	all := s.watch
	all.Resource.Version = version
	if len(all.Namespaces) == 0 {
		return []registration.Watch{all}
	}
	var each []registration.Watch
	for _, namespace := range all.Namespaces {
		one := all
		one.Namespace, one.What = namespace, all.What+" of namespace "+namespace
		each = append(each, one)
	}
	return each
}

// inherit has the objects be what they were in another version until they are read in this one.
func (o *objects) inherit(from *objects) {
	for i, f := range o.followers {
		f.inherit(from.followers[i].follower)
		f.handedOver.Store(from.followers[i].handedOver.Load())
	}
}

func (o *objects) stop() {
	for _, f := range o.followers {
		f.stop()
	}
}

func (o *objects) get(name string) registration.Object {
	for _, f := range o.followers {
		if object, found := f.get(name); found {
			return object
		}
	}
	return nil
}

func (o *objects) names() []string {
	var all []string
	for _, f := range o.followers {
		all = append(all, f.names()...)
	}
	return all
}

// mark notes that all first objects of a namespace were handed over.
func (o *objects) mark(namespace string) {
	for _, f := range o.followers {
		if f.namespace == namespace {
			f.handedOver.Store(true)
		}
	}
}

// complete is true once all first objects were handed over.
func (o *objects) complete() bool {
	for _, f := range o.followers {
		if !f.handedOver.Load() {
			return false
		}
	}
	return true
}

// why says which first objects are awaited, and what the trouble is with them.
func (o *objects) why() string {
	var all []string
	for _, f := range o.followers {
		if !f.handedOver.Load() {
			all = append(all, f.why(f.what))
		}
	}
	return strings.Join(all, ", ")
}
