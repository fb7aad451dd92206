// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"testing"

	"github.com/fleetscale/fleetscale/pkg/hub/hubclient"
)

// A program that only observes counts a run as done, once, and neither the target nor the object is written.
func TestObserver(t *testing.T) {
	s := newSim(t, moment(t, "08:00"), newCron(deployment, sets("r", "0 9 * * *", 7)), newDeployment(3))
	r := s.program()
	hub := hubclient.NewObserved(r.Hub)
	r.Hub, r.Live, r.Observes = hub, hub.Live(r.Live), true
	for _, at := range []string{"08:00", "09:00", "09:01", "09:30"} {
		s.reconcileAt(r, at)
	}
	if n := s.replicas(); n != 3 {
		t.Errorf("the target has %d replicas, want 3", n)
	}
	if s.cron().Status.ExecutionHistories != nil {
		t.Errorf("the hub's status is %+v", s.cron().Status)
	}
	would := s.cron()
	if err := hub.Get(t.Context(), key, would); err != nil {
		t.Fatal(err)
	}
	if h := would.Status.ExecutionHistories; len(h) != 1 || len(h[0].SuccessfulExecutions) != 1 || len(h[0].FailedExecutions) != 0 {
		t.Errorf("the own status has %+v, want one run that succeeded", h)
	}
}
