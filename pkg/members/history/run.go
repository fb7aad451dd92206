// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

const (
	turns        = 10               // how often in a period it is checked which histories are to be saved
	mostPeriods  = 6                // between two saves of one
	mostLost     = 24               // what part of what is known of a container may be lost
	atOnce       = 4                // histories that are saved at once
	flushTimeout = 20 * time.Second // of all histories, when the program ends
)

// Run saves each history when it is due, until ctx ends; then it saves all. It belongs to the leader: it ends with the
// leadership, and what a next leader has written by then is not overwritten.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(max(s.period/turns, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			if left := s.saveAll(end, time.Now(), every); left > 0 {
				klog.FromContext(ctx).Info("Histories were not saved before the program had to end", "histories", left)
			}
			return nil
		case now := <-ticker.C:
			s.saveAll(ctx, now, nil)
		}
	}
}

// every is all histories.
func every(types.NamespacedName) bool { return true }

// Save saves the histories of objects that somebody else is to feed, due or not. It returns once that was tried.
func (s *Store) Save(ctx context.Context, of func(types.NamespacedName) bool) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if left := s.saveAll(ctx, time.Now(), of); left > 0 {
		klog.FromContext(ctx).Info("Histories were not saved before others were to feed them", "histories", left)
	}
}

// saveAll saves these histories; nil: those that are due. What cannot be saved is due again next time. It returns how many it did not
// come to before ctx ended.
func (s *Store) saveAll(ctx context.Context, now time.Time, these func(types.NamespacedName) bool) (left int) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, m := range s.all() {
		switch {
		case these != nil && !these(m.owner.key()):
		case !m.isDue(now, s.period, these != nil):
		case ctx.Err() != nil:
			left++
		default:
			group.Go(func() error {
				if err := s.save(ctx, m, now); err != nil {
					klog.FromContext(ctx).Error(err, "Could not save a history", "multidimpodautoscaler",
						klog.KRef(m.owner.Namespace, m.owner.Name))
				}
				return nil
			})
		}
	}
	_ = group.Wait() // errors are logged
	return left
}

// isDue reports whether a history is to be saved: now, or at all.
func (m *memory) isDue(now time.Time, period time.Duration, atAll bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	soon := !m.killed.IsZero() && now.Sub(m.killed) >= told
	return m.dirty && (atAll || soon || now.Sub(m.saved) >= m.interval(now, period))
}

// interval is the time between two saves: one period, and more as the history grows, since what is added in a period becomes a
// smaller part of it. Kills are few, and each of them matters: who begins after a save knows which were counted (room.known).
func (m *memory) interval(now time.Time, period time.Duration) time.Duration {
	if m.urgent {
		return period
	}
	known := mostLost * mostPeriods * period
	for _, s := range m.shares {
		for _, c := range s.containers {
			if c.use.Samples > 0 {
				known = min(known, now.Sub(c.use.First))
			}
		}
	}
	return max(period, known/mostLost)
}
