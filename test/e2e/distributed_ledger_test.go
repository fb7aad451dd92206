// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/lab"
)

// entry is one write of an autoscaler in a member, as its API server noted it.
type entry struct {
	member string
	lab.AutoscalerWrite
}

// ledger returns what has been written of a FederatedHPA's autoscalers in all
// members since a time, in the order in which it was stored.
func (s *stage) ledger(owner types.UID, since time.Time) []entry {
	s.t.Helper()
	var all []entry
	for _, member := range s.Members() {
		writes, err := member.AutoscalerWrites()
		if err != nil {
			s.t.Fatal(err)
		}
		for _, w := range writes {
			own := w.Stored == nil || w.Stored.Labels[v1alpha1.ManagedByLabel] == string(owner)
			if w.Namespace == s.ns && own && w.Begun.After(since) {
				all = append(all, entry{member.Name, w})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.Done.Compare(b.Done) })
	return all
}

// key tells the autoscalers of all members apart.
func (e *entry) key() string { return e.member + "/" + e.Name }

// bounds are the minimum and the maximum that an entry leaves behind.
func (e *entry) bounds() [2]int32 {
	if e.Stored == nil {
		return [2]int32{}
	}
	return [2]int32{*e.Stored.Spec.MinReplicas, e.Stored.Spec.MaxReplicas}
}

func (e *entry) maximum() int32 { return e.bounds()[1] }

func (e *entry) String() string {
	told := "deleted"
	if e.Stored != nil {
		told = boundsOf(e.Stored)
	}
	return fmt.Sprintf("%s %s %s", e.Done.Format("15:04:05.000"), e.key(), told)
}

func tell(entries []entry) string {
	var all []string
	for i := range entries {
		all = append(all, entries[i].String())
	}
	return strings.Join(all, "\n")
}

// absence is when a member did not count: it was silent for the grace, and its
// part was with others until it was back among them.
type absence struct {
	member   string
	from, to time.Time
}

// neverAbove fails if the maxima of the members' autoscalers were more than
// this, taken together, at any time, as far as the audit logs of the members
// can tell.
func (s *stage) neverAbove(most int32, owner types.UID, absences ...absence) {
	s.t.Helper()
	entries := s.ledger(owner, time.Time{})
	if len(entries) == 0 {
		s.t.Fatalf("%s: nothing was ever written", s.ns)
	}
	if sum, at := highest(entries, absences); sum > most {
		s.t.Errorf("%s: at %s the maxima were %d together, want %d at most:\n%s", s.ns, at.Format("15:04:05.000"), sum, most, tell(entries))
	}
}

// highest is the highest sum of the maxima, and when it was reached first. What
// grew counts from when it was asked for, and what shrank until it was done.
func highest(entries []entry, absences []absence) (most int32, at time.Time) {
	stored := map[string]int32{}
	for _, turn := range turns(entries) {
		stored[turn.entry.key()] = turn.entry.maximum()
		sum := int32(0)
		for key, n := range stored {
			if !isAbsent(key, absences, turn.time) {
				sum += n
			}
		}
		if sum > most {
			most, at = sum, turn.time
		}
	}
	return most, at
}

type turn struct {
	time  time.Time
	entry *entry
}

// turns are the times at which entries count, in their order.
func turns(entries []entry) []turn {
	last := map[string]int32{}
	var all []turn
	for i := range entries {
		e := &entries[i]
		at := e.Done
		if e.maximum() > last[e.key()] {
			at = e.Begun
		}
		last[e.key()] = e.maximum()
		all = append(all, turn{at, e})
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.time.Compare(b.time) })
	return all
}

func isAbsent(key string, absences []absence, at time.Time) bool {
	return slices.ContainsFunc(absences, func(a absence) bool {
		return strings.HasPrefix(key, a.member+"/") && at.After(a.from) && at.Before(a.to)
	})
}

// neverTurnedBack fails if since a time a bound of a member went one way and
// then the other.
func (s *stage) neverTurnedBack(owner types.UID, since time.Time) {
	s.t.Helper()
	entries := s.ledger(owner, time.Time{})
	if key := turnedBack(entries, since); key != "" {
		s.t.Errorf("%s: the bounds of %s went one way and then the other:\n%s", s.ns, key, tell(entries))
	}
}

// turnedBack names an autoscaler of which that is so.
func turnedBack(entries []entry, since time.Time) (key string) {
	last, way := map[string][2]int32{}, map[string][2]int32{}
	for i := range entries {
		e := &entries[i]
		now, ways := e.bounds(), way[e.key()]
		for bound := range now {
			moved := now[bound] - last[e.key()][bound]
			if e.Begun.Before(since) || moved == 0 {
				continue
			}
			if int64(ways[bound])*int64(moved) < 0 {
				return e.key()
			}
			ways[bound] = moved
		}
		last[e.key()], way[e.key()] = now, ways
	}
	return ""
}

// nothingWritten fails if an autoscaler has been written since a time.
func (s *stage) nothingWritten(owner types.UID, since time.Time) {
	s.t.Helper()
	if entries := s.ledger(owner, since); len(entries) > 0 {
		s.t.Errorf("%s: this was written needlessly:\n%s", s.ns, tell(entries))
	}
}

// quiet waits until nothing was written for a while.
func (s *stage) quiet(owner types.UID) {
	s.t.Helper()
	eventually(s.t, s.ns+": nothing is written any more", func(context.Context) error {
		if entries := s.ledger(owner, time.Now().Add(-3*syncPeriod)); len(entries) > 0 {
			return fmt.Errorf("this is:\n%s", tell(entries))
		}
		return nil
	})
}
