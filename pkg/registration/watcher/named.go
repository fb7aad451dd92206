// SPDX-License-Identifier: Apache-2.0

package watcher

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Named is one object of the hub, by its name.
type Named struct {
	Hub             dynamic.Interface
	Resource        schema.GroupVersionResource
	Namespace, Name string
	// What the object is, for people.
	What string
}

// Follow watches the object until ctx ends. It calls read with the object as it is, or nil where there is none, at first and after each
// change; and failed when that cannot be read, which is retried. Calls of read do not overlap.
func (n Named) Follow(ctx context.Context, read func(*unstructured.Unstructured), failed func(*fleet.Silence)) {
	var f *follower[*unstructured.Unstructured]
	tell := func() {
		object, _ := f.get(n.Name)
		read(object)
	}
	whole := func(u *unstructured.Unstructured) *unstructured.Unstructured { return u }
	f = newFollower(n.Hub, registration.Watch{What: n.What, Resource: n.Resource, Namespace: n.Namespace}, n.Name, whole, following{
		changed: func(string) { tell() },
		synced:  tell,
		failed:  func() { failed(f.trouble.Load()) },
	})
	var running sync.WaitGroup
	f.start(ctx, &running)
	running.Wait()
}
