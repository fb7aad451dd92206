// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fleetscale/fleetscale/pkg/fence"
)

// The leader's Lease has one name, with shards or without, and who only observes takes none.
func TestCandidate(t *testing.T) {
	for name, c := range map[string]struct {
		shards          int
		elect, observes bool
		stands, divides bool
	}{
		"one leader":           {1, true, false, true, false},
		"shards":               {64, true, false, true, true},
		"one leader, observed": {1, true, true, false, false},
		"shards, observed":     {64, true, true, false, false},
		"one replica":          {1, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOptions()
			o.Leader.Shards, o.Leader.Elect, o.Observing.Observe = c.shards, c.elect, c.observes
			config := &rest.Config{Host: "https://hub.invalid", UserAgent: program}
			candidate, err := newCandidate(config, o)
			if err != nil {
				t.Fatal(err)
			}
			if config.UserAgent != program || config.Timeout != 0 {
				t.Errorf("other requests to the hub are by %s, for %v", config.UserAgent, config.Timeout)
			}
			var options ctrl.Options
			candidate.stands(t.Context(), &options)
			lock := options.LeaderElectionResourceLockInterface
			if options.LeaderElection != c.stands || (lock != nil) != c.stands {
				t.Fatalf("it is elected: %t, by %v, want %t", options.LeaderElection, lock, c.stands)
			}
			if lock == nil {
				return
			}
			if lock.Describe() != "fleetscale-system/controller-manager.fleetscale.io" || options.LeaderElectionID != lease {
				t.Errorf("it takes %s as %s", lock.Describe(), options.LeaderElectionID)
			}
			if strings.HasSuffix(lock.Identity(), "-of-64") != c.divides || strings.Contains(lock.Identity(), "-of-") != c.divides {
				t.Errorf("it is %s", lock.Identity())
			}
		})
	}
}

// recorder is that of a manager.
type recorder struct{ *record.FakeRecorder }

func (r recorder) GetEventRecorderFor(string) record.EventRecorder { return r }

// Who comes to lead is told by an Event, and whoever has lost the Lease writes nothing.
func TestLeading(t *testing.T) { synctest.Test(t, testLeading) }

func testLeading(t *testing.T) {
	o := NewOptions()
	o.Leader.Shards = 64
	c, err := newCandidate(&rest.Config{Host: "https://hub.invalid"}, o)
	if err != nil {
		t.Fatal(err)
	}
	c.lease.Client = fake.NewClientset().CoordinationV1()
	told := record.NewFakeRecorder(1)
	c.tells(recorder{told})
	var options ctrl.Options
	c.stands(t.Context(), &options)
	ctx, lock := options.BaseContext(), options.LeaderElectionResourceLockInterface
	if err := fence.Of(ctx)(); err != nil {
		t.Errorf("before it leads: %v", err)
	}
	if err := lock.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: c.id}); err != nil {
		t.Fatal(err)
	}
	if err := fence.Of(ctx)(); err != nil {
		t.Errorf("while it leads: %v", err)
	}
	lock.RecordEvent("became leader")
	if got, want := <-told.Events, "Normal LeaderElection "+c.id+" became leader"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	time.Sleep(o.Leader.RenewDeadline)
	if err := fence.Of(ctx)(); err == nil {
		t.Error("it may still write, though it has not renewed the Lease")
	}
}
