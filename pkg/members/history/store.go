// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What is kept is bounded. What comes later is ignored, and that is reported.
const (
	mostObjects   = 10_000
	mostUses      = 8192   // containers of one object, each in each of its clusters
	mostInstances = 50_000 // containers of the Pods of one object
)

// keep is how long a history is kept that nothing is added to: of a cluster that is silent or no longer counts, or of a
// container that no Pod has. Until then it is frozen.
const keep = 8 * 24 * time.Hour

// Hub is where histories are saved. Its reads must not come from a cache, which would hold them all.
type Hub interface {
	client.Reader
	client.Writer
}

// Owner is the MultidimPodAutoscaler that a history belongs to, and the workload that it names: once it names another, nothing is
// known of that.
type Owner struct {
	Namespace, Name string
	UID             types.UID
	Workload        string
}

func (o Owner) String() string { return "MultidimPodAutoscaler " + o.Namespace + "/" + o.Name }

func (o Owner) key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// Store keeps histories. Many goroutines may use it at once, for one object each.
type Store struct {
	hub    Hub
	period time.Duration

	mu    sync.Mutex // held briefly; never while a memory is locked
	byKey map[types.NamespacedName]*memory
}

// New returns a store that saves each history once in a period, and less often as it grows.
func New(hub Hub, period time.Duration) *Store {
	return &Store{hub: hub, period: period, byKey: map[types.NamespacedName]*memory{}}
}

// memory is the history of one object. Its lock is held for computations only.
type memory struct {
	owner Owner

	mu     sync.Mutex
	absent error     // why it has not been loaded; nil if it was
	loaded Loaded    // what was read then
	fed    time.Time // when the clusters were last asked; zero if that was not by this process
	before time.Time // when what was loaded had been saved; zero: there was none
	caught time.Time // when as much will have been seen as was lost before this process began
	shares []*share  // in order of clusters

	stored stored
	saved  time.Time // or loaded
	dirty  bool      // something was added since it was saved
	urgent bool      // and that is a kill, or could not be saved
	killed time.Time // when a kill was last added; zero: not since it was saved
	saving bool
}

// Forget drops what is known of an object that was deleted. What was saved is deleted by the hub, with its owner.
func (s *Store) Forget(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, types.NamespacedName{Namespace: namespace, Name: name})
}

// locked returns the memory of the owner, to be unlocked by the caller. It is an error if it has not been loaded, or is that of
// an earlier object of the same name, or of another workload.
func (s *Store) locked(owner Owner) (*memory, error) {
	m := s.find(owner)
	if m == nil {
		return nil, errNotLoaded(errNotRead())
	}
	m.mu.Lock()
	if m.absent != nil {
		defer m.mu.Unlock()
		return nil, errNotLoaded(m.absent)
	}
	return m, nil
}

func errNotLoaded(why error) error { return fmt.Errorf("its history has not been loaded: %w", why) }

// find returns the memory of the owner, or nil.
func (s *Store) find(owner Owner) *memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.byKey[owner.key()]; m != nil && m.owner == owner {
		return m
	}
	return nil
}

// of returns the memory of the owner, which is empty if it is new.
func (s *Store) of(owner Owner) (*memory, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	former, known := s.byKey[owner.key()]
	if known && former.owner == owner {
		return former, nil
	}
	if !known && len(s.byKey) >= mostObjects {
		return nil, fmt.Errorf("histories of %d objects are kept already, and no more", mostObjects)
	}
	m := &memory{owner: owner, absent: errNotRead(), stored: stored{limit: partBytes}}
	s.byKey[owner.key()] = m
	return m, nil
}

func errNotRead() error { return errors.New("nothing has been read yet") }

// all are in the order of when they were saved.
func (s *Store) all() []*memory {
	type savedAt struct {
		m  *memory
		at time.Time
	}
	s.mu.Lock()
	list := make([]savedAt, 0, len(s.byKey))
	for _, m := range s.byKey {
		list = append(list, savedAt{m: m})
	}
	s.mu.Unlock()
	for i, of := range list {
		of.m.mu.Lock()
		list[i].at = of.m.saved
		of.m.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b savedAt) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.m.owner.UID, b.m.owner.UID))
	})
	memories := make([]*memory, len(list))
	for i, of := range list {
		memories[i] = of.m
	}
	return memories
}
