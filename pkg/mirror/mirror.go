// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps what members hold of one kind of object.
package mirror

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Mirror keeps the objects of one kind of those members and namespaces that
// somebody asks for. All methods may be called from any goroutine.
type Mirror[O runtime.Object, T Object] struct {
	o Options[O, T]
}

// New returns a mirror that asks nobody until it runs.
func New[O runtime.Object, T Object](o Options[O, T]) *Mirror[O, T] {
	return &Mirror[O, T]{o: o.withDefaults()}
}

// Run keeps the mirror until ctx ends, and returns nil when everything it
// started has ended. It must be called once.
func (m *Mirror[O, T]) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Ask answers for one namespace of a member; the empty one stands for all. It
// waits for the first list of what was not asked for lately, until ctx ends;
// otherwise it answers from memory.
func (m *Mirror[O, T]) Ask(_ context.Context, _ Member, _ string) Answer[T] {
	return Answer[T]{Silence: &fleet.Silence{Reason: ReasonNotListed}}
}
