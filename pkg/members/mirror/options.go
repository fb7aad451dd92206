// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Member is a cluster that is asked; a [*member.Member]. What is known of one
// is never used for another of the same name.
type Member interface {
	Name() string
	State() member.State
	Silence() error
	Client() rest.Interface
	WatchClient() rest.Interface
	// Reading decodes its answers.
	Reading() *connection.Reading
}

// Options say what is mirrored and for how long. Zero durations and limits
// stand for the defaults given here.
type Options[O runtime.Object, T Object] struct {
	// Resource is one that the members' clients decode.
	Resource schema.GroupVersionResource
	// Optional is for a resource that a cluster need not serve, such as one of a CustomResourceDefinition. One that does not has
	// none of it.
	Optional bool
	// Scope bounds what members are asked for: of others than all namespaces, each is watched by itself, and what has no namespace is
	// not asked for.
	Scope tenancy.Scope
	// Keep makes of an object what is kept of it. It must not hold on to the object.
	Keep func(O) T
	// KeepFor is how long a namespace of a member is watched after it was last asked for (5 min).
	KeepFor time.Duration
	// MaxAge is how long what was last seen of a member that cannot be seen is worth something (1 h).
	MaxAge time.Duration
	// MaxLists bounds the lists that are being read at one time, over all members (8).
	MaxLists int
}

func (o Options[O, T]) withDefaults() Options[O, T] {
	o.KeepFor = cmp.Or(o.KeepFor, 5*time.Minute)
	o.MaxAge = cmp.Or(o.MaxAge, time.Hour)
	o.MaxLists = cmp.Or(o.MaxLists, 8)
	return o
}
