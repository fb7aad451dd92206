// SPDX-License-Identifier: Apache-2.0

package federatedhpatest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetscale/fleetscale/pkg/members/workload"
)

// World is the time of a test, and the Events of the program under test. Its lock is that of the hub and of all members.
type World struct {
	T     testing.TB
	Clock *clocktesting.FakePassiveClock
	sync.Mutex
	events []string
}

// NewWorld begins at that time.
func NewWorld(t testing.TB, start time.Time) *World {
	return &World{T: t, Clock: clocktesting.NewFakePassiveClock(start)}
}

// Context is for the program under test, whose logs are dropped.
func (w *World) Context() context.Context { return klog.NewContext(w.T.Context(), logr.Discard()) }

// Eventf hears an Event.
func (w *World) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	w.Lock()
	defer w.Unlock()
	mark := ""
	if kind == corev1.EventTypeWarning {
		mark = "!"
	}
	w.events = append(w.events, mark+reason+": "+fmt.Sprintf(note, args...))
}

// Heard returns the Events since the last time, as "Reason: message", with a "!" before warnings. Those of calls side by side are in any
// order.
func (w *World) Heard() []string {
	w.Lock()
	defer w.Unlock()
	events := w.events
	w.events = nil
	return events
}

// Clusters returns the members in the order of their names.
func Clusters[M workload.Cluster](members map[string]M) (all []workload.Cluster) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, members[name])
	}
	return all
}

// Fault is what a hook says; nil: there is none.
func Fault(hook func() error) error {
	if hook == nil {
		return nil
	}
	return hook()
}

// Number is a number of a status; "?": there is none.
func Number(n *int32) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}
