// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	m.stored, m.saved, m.before = read.stored(), now, read.saved()
	if !m.before.IsZero() {
		m.caught = now.Add(min(now.Sub(m.before), mostPeriods*s.period))
	}
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
	owner      Owner
	now        time.Time
	objects    []object
	containers []saved // when all is read each once, in order of clusters and containers
	faults     []error
}

// object is one that was read.
type object struct {
	part

	status   v1alpha1.MultidimPodAutoscalerHistoryStatus // without containers
	readable bool
}

// saved is what was read of a container.
type saved struct {
	cluster, container string
	use                *sizes.Use
	at                 time.Time // when it was saved
}

// read reads the parts page by page.
func (s *Store) read(ctx context.Context, owner Owner, now time.Time) (*reading, error) {
	r := &reading{owner: owner, now: now}
	for next := ""; ; {
		page := &v1alpha1.MultidimPodAutoscalerHistoryList{}
		if err := s.listPage(ctx, page, []client.ListOption{
			client.InNamespace(owner.Namespace), client.MatchingLabels{v1alpha1.ManagedByLabel: string(owner.UID)},
			client.Limit(pageOfParts), client.Continue(next),
		}); err != nil {
			return nil, fmt.Errorf("listing MultidimPodAutoscalerHistories: %w", err)
		}
		for i := range page.Items {
			r.take(&page.Items[i])
		}
		if len(r.objects) > 2*mostParts {
			return nil, fmt.Errorf("it has more than %d parts", 2*mostParts)
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	slices.SortFunc(r.objects, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.status.Part, b.status.Part), cmp.Compare(a.name, b.name))
	})
	r.once()
	r.miss()
	return r, nil
}

// saved is when that was saved which was read; zero: nothing was.
func (r *reading) saved() (last time.Time) {
	for _, o := range r.objects {
		if at := timeOf(o.status.SavedTime).Time; at.After(last) && !at.After(r.now) {
			last = at
		}
	}
	return last
}

// stored is what the hub holds.
func (r *reading) stored() stored {
	s := stored{limit: partBytes}
	for _, o := range r.objects {
		if o.readable {
			s.parts = append(s.parts, o.part)
		} else {
			s.take(o.name)
		}
	}
	return s
}

func (s *Store) listPage(ctx context.Context, page *v1alpha1.MultidimPodAutoscalerHistoryList, options []client.ListOption) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.hub.List(ctx, page, options...)
}

// take reads one part. If anything in it cannot be read, it is not overwritten; if it is of another workload, it is.
func (r *reading) take(h *v1alpha1.MultidimPodAutoscalerHistory) {
	if of, told := h.Annotations[workloadAnnotation]; told && of != r.owner.Workload {
		h.Status = v1alpha1.MultidimPodAutoscalerHistoryStatus{}
	}
	var first error
	bad := 0
	for i := range h.Status.Containers {
		c := &h.Status.Containers[i]
		use, err := useOf(c, r.now)
		if err == nil && len(r.containers) >= 2*mostUses {
			err = errors.New("there are too many")
		}
		if err != nil {
			if bad++; first == nil {
				first = fmt.Errorf("container %s in cluster %s: %w", c.Container, c.Cluster, err)
			}
			continue
		}
		r.containers = append(r.containers, saved{strings.Clone(c.Cluster), strings.Clone(c.Container), use, timeOf(h.Status.SavedTime).Time})
	}
	if bad > 0 {
		r.faults = append(r.faults, fmt.Errorf("MultidimPodAutoscalerHistory %s/%s: %d of %d containers cannot be read: %w",
			h.Namespace, h.Name, bad, len(h.Status.Containers), first))
	}
	o := object{part{h.Name, h.ResourceVersion, h.UID}, h.Status, bad == 0}
	o.status.Containers = nil
	r.objects = append(r.objects, o)
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

// miss reports the parts that were lost, of those that were saved last.
func (r *reading) miss() {
	var last v1alpha1.MultidimPodAutoscalerHistoryStatus
	there := map[int32]bool{}
	for _, o := range r.objects {
		there[o.status.Part] = true
		if timeOf(last.SavedTime).Time.Before(timeOf(o.status.SavedTime).Time) {
			last = o.status
		}
	}
	for n := range min(last.Parts, mostParts) {
		if !there[n] {
			r.faults = append(r.faults, fmt.Errorf("part %d of %d is missing among the MultidimPodAutoscalerHistories of %v",
				n, last.Parts, r.owner))
		}
	}
}
