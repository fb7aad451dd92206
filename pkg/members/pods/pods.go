// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Options are those of the mirror. Zero stands for its defaults.
type Options struct {
	// KeepFor is how long the Pods of a namespace are watched after they were last asked for (5 min).
	KeepFor time.Duration
	// MaxAge is how long the Pods last seen of a member that cannot be seen are worth something (1 h).
	MaxAge time.Duration
	// MaxLists bounds the lists that are being read at one time, over all members (8).
	MaxLists int
	// Scope is the namespaces whose Pods are asked for.
	Scope tenancy.Scope
}

// Store knows the Pods of those members and namespaces that somebody asks for.
// All methods may be called from any goroutine.
type Store struct {
	mirror *mirror.Mirror[*corev1.Pod, *Record]
}

// New returns a store that asks nobody until it runs.
func New(o Options) *Store {
	return &Store{mirror: mirror.New(mirror.Options[*corev1.Pod, *Record]{
		Resource: corev1.SchemeGroupVersion.WithResource("pods"),
		Keep:     recordOf,
		KeepFor:  o.KeepFor, MaxAge: o.MaxAge, MaxLists: o.MaxLists, Scope: o.Scope,
	})}
}

// Run keeps the store until ctx ends, and returns nil when everything it
// started has ended. It must be called once.
func (s *Store) Run(ctx context.Context) error { return s.mirror.Run(ctx) }

// Ask answers for one namespace of a member. It waits for the first list of one
// that was not asked for lately, until ctx ends; otherwise it answers from memory.
func (s *Store) Ask(ctx context.Context, m mirror.Member, namespace string, selector labels.Selector) Listing {
	return listingOf(s.mirror.Ask(ctx, m, namespace), selector)
}

// AskAll answers for all Pods of a member; see Ask. They are watched for as long as somebody asks for all, in place of
// those of single namespaces.
func (s *Store) AskAll(ctx context.Context, m mirror.Member) mirror.Answer[*Record] {
	return s.mirror.Ask(ctx, m, "")
}
