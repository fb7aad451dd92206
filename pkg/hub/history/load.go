// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

const (
	callTimeout = 10 * time.Second // of one request to the hub
	pageOfParts = 8                // 4 MiB
)

// Loaded is what was read of a history.
type Loaded struct {
	// Containers is how many containers were read, each in each cluster.
	Containers int
	// Faults are of parts that cannot be read, or are missing. What is readable was taken; the objects stay as they are, and the
	// history is saved beside them.
	Faults []error
}

// Load reads the history of an object, if that has not been done, and returns what was read. Until it succeeds there is no advice.
func (s *Store) Load(ctx context.Context, owner Owner, now time.Time) (Loaded, error) {
	m, err := s.of(owner)
	if err != nil {
		return Loaded{}, fmt.Errorf("loading the history of %v: %w", owner, err)
	}
	if loaded, done := m.isLoaded(); done {
		return loaded, nil
	}
	read, err := s.read(ctx, owner, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.absent == nil { // another was faster
		return m.loaded, nil
	}
	if m.absent = err; err != nil {
		return Loaded{}, fmt.Errorf("loading the history of %v: %w", owner, err)
	}
	m.stored, m.due = read.stored, now.Add(s.period)
	m.loaded = Loaded{m.fill(read.containers, now), read.faults}
	return m.loaded, nil
}

func (m *memory) isLoaded() (Loaded, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loaded, m.absent == nil
}

// fill takes what was read, except for what is too old, and returns how many containers that is.
func (m *memory) fill(read []saved, now time.Time) int {
	taken := 0
	for _, r := range read {
		if now.Sub(r.use.Last) > keep {
			continue
		}
		s := m.shareOf(r.cluster)
		place, _ := s.find(r.container)
		s.containers = slices.Insert(s.containers, place, &container{name: r.container, use: *r.use})
		taken++
	}
	return taken
}

// reading is what is read of a history.
type reading struct {
	stored     stored
	containers []saved // each once, in order of clusters and containers
	faults     []error
}

// saved is what was read of a container.
type saved struct {
	cluster, container string
	use                *sizes.Use
	at                 time.Time // when it was saved
}

func (s *Store) read(ctx context.Context, owner Owner, now time.Time) (*reading, error) {
	objects, err := s.list(ctx, owner)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(objects, func(a, b v1alpha1.MultidimPodAutoscalerHistory) int {
		return cmp.Or(cmp.Compare(a.Status.Part, b.Status.Part), cmp.Compare(a.Name, b.Name))
	})
	r := &reading{stored: stored{limit: partBytes}}
	for i := range objects {
		r.take(&objects[i], now)
	}
	r.faults = append(r.faults, missing(objects)...)
	r.once()
	return r, nil
}

// list reads the parts page by page.
func (s *Store) list(ctx context.Context, owner Owner) ([]v1alpha1.MultidimPodAutoscalerHistory, error) {
	var all []v1alpha1.MultidimPodAutoscalerHistory
	page := &v1alpha1.MultidimPodAutoscalerHistoryList{}
	for {
		options := []client.ListOption{client.InNamespace(owner.Namespace), client.MatchingLabels{v1alpha1.ManagedByLabel: string(owner.UID)},
			client.Limit(pageOfParts), client.Continue(page.Continue)}
		if err := s.listPage(ctx, page, options); err != nil {
			return nil, fmt.Errorf("listing MultidimPodAutoscalerHistories: %w", err)
		}
		if all = append(all, page.Items...); len(all) > mostParts {
			return nil, fmt.Errorf("it has more than %d parts", mostParts)
		}
		if page.Continue == "" {
			return all, nil
		}
	}
}

func (s *Store) listPage(ctx context.Context, page *v1alpha1.MultidimPodAutoscalerHistoryList, options []client.ListOption) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.hub.List(ctx, page, options...)
}

// take reads one part. If anything in it cannot be read, it is not overwritten.
func (r *reading) take(h *v1alpha1.MultidimPodAutoscalerHistory, now time.Time) {
	var first error
	bad := 0
	for i := range h.Status.Containers {
		c := &h.Status.Containers[i]
		use, err := useOf(c, now)
		if err != nil {
			if bad++; first == nil {
				first = fmt.Errorf("container %s in cluster %s: %w", c.Container, c.Cluster, err)
			}
			continue
		}
		at := timeOf(h.Status.SavedTime)
		r.containers = append(r.containers, saved{c.Cluster, c.Container, use, at.Time})
	}
	if bad == 0 {
		r.stored.parts = append(r.stored.parts, part{h.Name, h.ResourceVersion, h.UID})
		return
	}
	r.stored.take(h.Name)
	r.faults = append(r.faults, fmt.Errorf("MultidimPodAutoscalerHistory %s/%s: %d of %d containers cannot be read: %w",
		h.Namespace, h.Name, bad, len(h.Status.Containers), first))
}

// once keeps what was saved last of each container: parts may be of different times.
func (r *reading) once() {
	slices.SortStableFunc(r.containers, func(a, b saved) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.container, b.container), b.at.Compare(a.at))
	})
	r.containers = slices.CompactFunc(r.containers, func(a, b saved) bool { return a.cluster == b.cluster && a.container == b.container })
	if more := len(r.containers) - mostUses; more > 0 {
		r.containers = r.containers[:mostUses]
		r.faults = append(r.faults, fmt.Errorf("%d containers are beyond the %d that are kept", more, mostUses))
	}
}

// missing are the parts that were lost, of those that were saved last.
func missing(objects []v1alpha1.MultidimPodAutoscalerHistory) []error {
	var last *v1alpha1.MultidimPodAutoscalerHistoryStatus
	there := map[int32]bool{}
	for i := range objects {
		status := &objects[i].Status
		there[status.Part] = true
		if savedAt := timeOf(status.SavedTime); last == nil || timeOf(last.SavedTime).Time.Before(savedAt.Time) {
			last = status
		}
	}
	var faults []error
	for n := int32(0); last != nil && n < min(last.Parts, mostParts); n++ {
		if !there[n] {
			faults = append(faults, fmt.Errorf("part %d of %d is missing", n, last.Parts))
		}
	}
	return faults
}
