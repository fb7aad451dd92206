// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Waits between attempts, spread by up to as much again.
const firstWait, longestWait = time.Second, 15 * time.Second

func waits() *wait.Backoff {
	return &wait.Backoff{Duration: firstWait, Factor: 2, Steps: 10, Cap: longestWait, Jitter: 1}
}

// run keeps the feed until ctx ends. What its reflector has to say, the feed says
// once.
func (f *feed[O, T]) run(ctx context.Context) {
	defer f.attempt()
	ask := asker[O, T]{f, klog.FromContext(ctx), &listing[T]{}}
	defer ask.ends()
	r := cache.NewReflectorWithOptions(ask.listerWatcher(), nil, store[O, T]{f, ask.list}, cache.ReflectorOptions{
		Name: "mirror", TypeDescription: f.o.Resource.Resource,
		Backoff: waits(),
	})
	r.WatchListPageSize = pageSize
	r.RunWithContext(klog.NewContext(ctx, logr.Discard()))
}

// store is where the reflector puts objects.
type store[O runtime.Object, T Object] struct {
	feed *feed[O, T]
	list *listing[T]
}

var _ cache.ReflectorStore = store[runtime.Object, Object]{}

// Add puts one object.
func (s store[O, T]) Add(object any) error { return s.Update(object) }

// Update puts one object in place of its former state.
func (s store[O, T]) Update(object any) error {
	typed, ok := object.(O)
	if !ok {
		return fmt.Errorf("keeping a changed object: it is a %T", object)
	}
	reading := s.feed.member.Reading()
	err := reading.Guard(func() error {
		kept := s.feed.o.Keep(typed)
		if s.feed.asksFor(kept) {
			s.feed.put(kept, time.Now())
		} else {
			reading.Dropped(s.feed.o.Resource.Resource, 1)
		}
		return nil
	})
	if err != nil {
		s.feed.miss()
	}
	return err
}

// Delete takes one object away.
func (s store[O, T]) Delete(object any) error {
	m, err := meta.Accessor(object)
	if err != nil {
		return fmt.Errorf("reading a deleted object: %w", err)
	}
	s.feed.remove(keyOf(m), time.Now())
	return nil
}

// Replace takes the pages of a list.
func (s store[O, T]) Replace(pages []any, _ string) error {
	var objects []T
	for _, p := range pages {
		objects = append(objects, p.(*page[T]).objects...)
	}
	s.feed.member.Reading().Dropped(s.feed.o.Resource.Resource, s.feed.listed(objects, s.list.complete(), time.Now()))
	return nil
}

// Resync has nothing to do: nobody is told of changes.
func (s store[O, T]) Resync() error { return nil }
