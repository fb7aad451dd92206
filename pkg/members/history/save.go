// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// errDeleted is that somebody deleted all parts, by which people have a history forgotten.
var errDeleted = errors.New("it was deleted on the hub, so it is forgotten")

// save writes the history of an object, unless nothing was added to it.
func (s *Store) save(ctx context.Context, m *memory, now time.Time) error {
	containers, hub, due := m.begin(now)
	if !due {
		return nil
	}
	err := s.write(ctx, m.owner, &hub, containers, now)
	deleted := errors.Is(err, errDeleted)
	if deleted {
		err = errors.Join(err, s.write(ctx, m.owner, &hub, nil, now))
	}
	m.end(hub, now, err, deleted)
	if err != nil {
		return fmt.Errorf("saving the history of %v: %w", m.owner, err)
	}
	return nil
}

func (m *memory) begin(now time.Time) ([]v1alpha1.ContainerHistory, stored, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.absent != nil || m.saving || !m.dirty {
		return nil, stored{}, false
	}
	m.saving, m.dirty, m.urgent, m.killed = true, false, false, time.Time{}
	return m.checkpoints(now), m.stored, true
}

func (m *memory) end(hub stored, now time.Time, err error, deleted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saving, m.stored = false, hub
	switch {
	case deleted:
		m.shares, m.fed = nil, time.Time{}
		m.saved = now
	case err != nil:
		m.dirty, m.urgent = true, true
	default:
		m.saved = now
	}
}

// write makes the hub hold these containers, and notes what it holds then. If a part is too large for the hub, all are made
// smaller.
func (s *Store) write(ctx context.Context, o Owner, hub *stored, containers []v1alpha1.ContainerHistory, now time.Time) error {
	for {
		parts, err := split(containers, hub.limit)
		switch {
		case err != nil:
		case len(parts) > mostParts:
			err = fmt.Errorf("it would have %d parts, more than %d", len(parts), mostParts)
		default:
			err = s.writeParts(ctx, o, hub, parts, now)
		}
		if !apierrors.IsRequestEntityTooLargeError(err) || hub.limit/2 < partLeast {
			return err
		}
		hub.limit /= 2
	}
}

// writeParts writes the last part first: as a history grows, containers go from a part to the next one.
func (s *Store) writeParts(ctx context.Context, o Owner, hub *stored, parts [][]v1alpha1.ContainerHistory, now time.Time) error {
	for len(hub.parts) < len(parts) {
		hub.parts = append(hub.parts, part{name: hub.freeName(o)})
	}
	former, lost := hub.written(), 0
	for n := len(hub.parts) - 1; n >= 0; n-- {
		p := &hub.parts[n]
		var err error
		if n < len(parts) {
			err = s.writePart(ctx, p, p.object(o, n, len(parts), parts[n], now))
		} else if err = s.deletePart(ctx, o, p); err == nil {
			hub.parts = hub.parts[:n]
		}
		switch {
		case errors.Is(err, errTaken):
			hub.take(p.name)
			p.name = hub.freeName(o)
			n++ // the same part, under another name
		case errors.Is(err, errDeleted):
			if lost++; lost == former {
				return err
			}
			n++ // others are left, so nobody wanted all to be forgotten
		case err != nil:
			return fmt.Errorf("MultidimPodAutoscalerHistory %s/%s: %w", o.Namespace, p.name, err)
		}
	}
	return nil
}

// errTaken is that another object has the name of a new part.
var errTaken = errors.New("the name is taken")

// writePart writes a part, and notes what the hub made of it.
func (s *Store) writePart(ctx context.Context, p *part, object *v1alpha1.MultidimPodAutoscalerHistory) error {
	err := s.put(ctx, object)
	switch {
	case err == nil:
		p.uid, p.version = object.UID, object.ResourceVersion
	case p.version != "" && apierrors.IsNotFound(err):
		p.uid, p.version = "", ""
		return errDeleted
	case apierrors.IsConflict(err), p.version == "" && apierrors.IsAlreadyExists(err):
		return s.reread(ctx, p, object)
	}
	return err
}

func (s *Store) put(ctx context.Context, object *v1alpha1.MultidimPodAutoscalerHistory) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if object.ResourceVersion == "" {
		return s.hub.Create(ctx, object)
	}
	return s.hub.Update(ctx, object)
}

// reread reads a part that another has written. If it is of the same history, the next save overwrites it: by then whoever is
// no leader has stopped.
func (s *Store) reread(ctx context.Context, p *part, wanted *v1alpha1.MultidimPodAutoscalerHistory) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var there v1alpha1.MultidimPodAutoscalerHistory
	if err := s.hub.Get(ctx, client.ObjectKeyFromObject(wanted), &there); err != nil {
		return fmt.Errorf("reading what another has written: %w", err)
	}
	if there.Labels[v1alpha1.ManagedByLabel] != wanted.Labels[v1alpha1.ManagedByLabel] {
		return errTaken
	}
	p.uid, p.version = there.UID, there.ResourceVersion
	at := "an unknown time"
	if there.Status.SavedTime != nil {
		at = there.Status.SavedTime.UTC().Format(time.RFC3339)
	}
	return fmt.Errorf("another process has written it, at %s; the next save overwrites that", at)
}

// deletePart deletes a part that is no longer needed, if nobody has written it since.
func (s *Store) deletePart(ctx context.Context, o Owner, p *part) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if p.version == "" {
		return nil
	}
	object := &v1alpha1.MultidimPodAutoscalerHistory{}
	object.Namespace, object.Name = o.Namespace, p.name
	err := s.hub.Delete(ctx, object, client.Preconditions{UID: &p.uid, ResourceVersion: &p.version})
	if apierrors.IsConflict(err) {
		object.Labels = map[string]string{v1alpha1.ManagedByLabel: string(o.UID)}
		return s.reread(ctx, p, object)
	}
	return client.IgnoreNotFound(err)
}
