// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	division "github.com/fleetscale/fleetscale/pkg/shards"
	"github.com/fleetscale/fleetscale/test/lab"
)

// The planted logs are of one shard of eight, which is that of the object, and begin at noon.
const (
	object     = "web"
	lasts      = 15 * time.Second
	one, other = "127.0.1.1", "127.0.2.1"
)

var (
	noon    = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	ofWeb   = division.Of("", object, 8)
	version int
)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// leaseAt is a write of the Lease; without a holder it is released.
func leaseAt(seconds float64, by, holder string) lab.Write {
	version++
	return lab.Write{
		Source: by, Resource: "leases", Name: fmt.Sprintf("controller-manager-shard-%d-of-8.fleetscale.io", ofWeb), Code: 200,
		Begun: at(seconds), Done: at(seconds + 0.01),
		Stored: fmt.Appendf(nil, `{"metadata":{"resourceVersion":"%d"},"spec":{"holderIdentity":%q}}`, version, holder),
	}
}

func statusAt(seconds float64, by string) lab.Write {
	return lab.Write{Source: by, Verb: "update", Resource: "federatedhpas", Subresource: "status", Name: object, Code: 200,
		Begun: at(seconds), Done: at(seconds + 0.01)}
}

func scaleAt(seconds float64, to int) lab.Write {
	return lab.Write{Source: one, Verb: "update", Resource: "deployments", Subresource: "scale", Name: object, Code: 200,
		Begun: at(seconds), Done: at(seconds + 0.01), Stored: fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to)}
}

func with(w lab.Write, change func(*lab.Write)) lab.Write {
	change(&w)
	return w
}

func TestForeignWritersAreFound(t *testing.T) {
	tests := map[string]struct {
		log  []lab.Write
		want []string
	}{
		"the holder writes": {[]lab.Write{leaseAt(0, one, "a"), statusAt(1, one), leaseAt(2, one, "a"), statusAt(16, one)}, nil},
		"released, and taken": {[]lab.Write{
			leaseAt(0, one, "a"), statusAt(1, one), leaseAt(2, one, ""), leaseAt(3, other, "b"), statusAt(4, other),
		}, nil},
		"expired, and taken": {[]lab.Write{leaseAt(0, one, "a"), statusAt(1, one), leaseAt(16, other, "b"), statusAt(17, other)}, nil},
		"another writes": {[]lab.Write{leaseAt(0, one, "a"), statusAt(1, other)}, []string{
			"127.0.2.1 at 12:00:01.000: update federatedhpas/status web (200), who did not hold shard 2: " +
				"127.0.1.1 held shard 2 from 12:00:00.000 to 12:00:15.000",
		}},
		"another is refused": {
			[]lab.Write{leaseAt(0, one, "a"), with(statusAt(1, other), func(w *lab.Write) { w.Code = 409 })},
			[]string{
				"127.0.2.1 at 12:00:01.000: update federatedhpas/status web (409), who did not hold shard 2: " +
					"127.0.1.1 held shard 2 from 12:00:00.000 to 12:00:15.000",
			},
		},
		"a former holder writes": {[]lab.Write{leaseAt(0, one, "a"), leaseAt(16, other, "b"), statusAt(17, one)}, []string{
			"127.0.1.1 at 12:00:17.000: update federatedhpas/status web (200), who did not hold shard 2: " +
				"127.0.2.1 held shard 2 from 12:00:16.000 to 12:00:31.000",
		}},
		"it writes though it has released": {[]lab.Write{leaseAt(0, one, "a"), leaseAt(2, one, ""), statusAt(3, one)}, []string{
			"127.0.1.1 at 12:00:03.000: update federatedhpas/status web (200), who did not hold shard 2: nobody did",
		}},
		"it writes though it has not renewed": {[]lab.Write{leaseAt(0, one, "a"), statusAt(15, one)}, []string{
			"127.0.1.1 at 12:00:15.000: update federatedhpas/status web (200), who did not hold shard 2: nobody did",
		}},
		"it writes before it has the Lease": {[]lab.Write{statusAt(0, one), leaseAt(1, one, "a")}, []string{
			"127.0.1.1 at 12:00:00.000: update federatedhpas/status web (200), who did not hold shard 2: nobody did",
		}},
		"it writes before, and is answered after": {
			[]lab.Write{with(statusAt(0, one), func(w *lab.Write) { w.Done = at(2) }), leaseAt(1, one, "a")},
			[]string{"127.0.1.1 at 12:00:00.000: update federatedhpas/status web (200), who did not hold shard 2: nobody did"},
		},
		"its write is answered when another holds": {
			[]lab.Write{
				leaseAt(0, one, "a"), with(statusAt(1, one), func(w *lab.Write) { w.Done = at(4) }), leaseAt(2, one, ""), leaseAt(3, other, "b"),
			},
			[]string{
				"127.0.1.1 at 12:00:01.000: update federatedhpas/status web (200), while shard 2 changed hands: " +
					"127.0.2.1 held shard 2 from 12:00:03.000 to 12:00:18.000",
			},
		},
		"taken too early": {[]lab.Write{leaseAt(0, one, "a"), leaseAt(10, one, "a"), leaseAt(20, other, "b"), statusAt(21, other)}, []string{
			"127.0.2.1 took the Lease before it expired: 127.0.1.1 held shard 2 from 12:00:00.000 to 12:00:25.000",
		}},
		"renewed by another": {[]lab.Write{leaseAt(0, one, "a"), leaseAt(1, other, "a")}, []string{
			"127.0.2.1 wrote the Lease in the name of another: 127.0.1.1 held shard 2 from 12:00:00.000 to 12:00:15.000",
		}},
		"a Lease that was not stored": {
			[]lab.Write{with(leaseAt(0, one, "a"), func(w *lab.Write) { w.Code = 409 }), statusAt(1, one)},
			[]string{"127.0.1.1 at 12:00:01.000: update federatedhpas/status web (200), who did not hold shard 2: nobody did"},
		},
		"what nobody knows": {
			[]lab.Write{leaseAt(0, one, "a"), with(statusAt(1, one), func(w *lab.Write) { w.Resource, w.Subresource = "deployments", "" })},
			[]string{"127.0.1.1 at 12:00:01.000: update deployments web (200): whose is that?"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			slices.Reverse(tc.log) // the order of a log is that of answers, and does not matter
			leases, err := leaseWrites(tc.log, 8)
			if err != nil {
				t.Fatal(err)
			}
			spans, got := spansOf(leases, lasts)
			_, more := foreign(tc.log, spans, 8)
			fleettest.Same(t, "faults", tc.want, append(got, more...))
		})
	}
}

func TestMissedAndDoubledChangesAreFound(t *testing.T) {
	dues := []due{{at(0), 30 * time.Second, 2}, {at(60), 30 * time.Second, 3}}
	tests := map[string]struct {
		log        []lab.Write
		repeatable bool
		want       []string
	}{
		"each once":    {[]lab.Write{scaleAt(1, 2), scaleAt(61, 3)}, false, nil},
		"one too late": {[]lab.Write{scaleAt(1, 2), scaleAt(95, 3)}, false, []string{"web: got 3 after 35s, want 30s at most"}},
		"one missed":   {[]lab.Write{scaleAt(1, 2)}, false, []string{"web: missed 3, due at 12:01:00"}},
		"one doubled": {[]lab.Write{scaleAt(1, 2), scaleAt(2, 2), scaleAt(61, 3)}, false, []string{
			"web: got 2 2 times, which was due at 12:00:00",
		}},
		"the former repeated": {[]lab.Write{scaleAt(1, 2), scaleAt(61, 2), scaleAt(62, 3)}, true, nil},
		"the former after the next": {[]lab.Write{scaleAt(1, 2), scaleAt(62, 2), scaleAt(61, 3)}, true, []string{
			"web: got 2 at 12:01:02, when 3 was due",
		}},
		"the former, of what is not repeated": {[]lab.Write{scaleAt(1, 2), scaleAt(61, 2), scaleAt(62, 3)}, false, []string{
			"web: got 2 at 12:01:01, when 3 was due",
		}},
		"one repeated": {[]lab.Write{scaleAt(1, 2), scaleAt(2, 2), scaleAt(61, 3)}, true, nil},
		"an older one": {[]lab.Write{scaleAt(1, 2), scaleAt(61, 3), scaleAt(62, 2)}, false, []string{
			"web: got 2 at 12:01:02, when 3 was due",
		}},
		"after the end": {[]lab.Write{scaleAt(1, 2), scaleAt(121, 3)}, false, []string{"web: missed 3, due at 12:01:00"}},
		"one was refused": {[]lab.Write{scaleAt(1, 2), with(scaleAt(61, 3), func(w *lab.Write) { w.Code = 409 })}, false, []string{
			"web: missed 3, due at 12:01:00",
		}},
		"of one it is not known": {
			[]lab.Write{scaleAt(1, 2), with(scaleAt(61, 3), func(w *lab.Write) { w.Code = 504 })}, false, nil,
		},
		"of another workload": {[]lab.Write{scaleAt(1, 2), with(scaleAt(61, 3), func(w *lab.Write) { w.Name = "api" })}, false, []string{
			"web: missed 3, due at 12:01:00",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			came, err := scalings(tc.log, object)
			if err != nil {
				t.Fatal(err)
			}
			_, got := missed(object, came, dues, at(120), tc.repeatable)
			fleettest.Same(t, "faults", tc.want, got)
		})
	}
}

// statusOf is a status that tells of runs, which are JSON.
func statusOf(succeeded, failed string) lab.Write {
	return lab.Write{Resource: "cronfederatedhpas", Subresource: "status", Name: object, Code: 200, Sent: fmt.Appendf(nil,
		`{"status":{"executionHistories":[{"ruleName":"r","successfulExecutions":[%s],"failedExecutions":[%s]}]}}`, succeeded, failed)}
}

func TestRunsThatAreNotRecordedOnceAreFound(t *testing.T) {
	const (
		first  = `{"scheduleTime":"2026-11-28T12:00:00Z","executionTime":"2026-11-28T12:00:01Z"}`
		again  = `{"scheduleTime":"2026-11-28T12:00:00Z","executionTime":"2026-11-28T12:00:16Z"}`
		second = `{"scheduleTime":"2026-11-28T12:01:00Z","executionTime":"2026-11-28T12:01:01Z"}`
		failed = `{"scheduleTime":"2026-11-28T12:01:00Z","message":"superseded"}`
	)
	dues := []due{{at: at(0)}, {at: at(60)}}
	tests := map[string]struct {
		log  []lab.Write
		want []string
	}{
		"each once": {[]lab.Write{statusOf(first, ""), statusOf(first+","+second, ""), statusOf(second, "")}, nil},
		"one missed": {[]lab.Write{statusOf(first, "")}, []string{
			"web: its status tells of 0 runs at 12:01:00, want one",
		}},
		"one doubled": {[]lab.Write{statusOf(first, ""), statusOf(again, ""), statusOf(second+","+again, "")}, []string{
			"web: its status tells of 2 runs at 12:00:00, want one",
		}},
		"one failed": {[]lab.Write{statusOf(first, ""), statusOf(first, failed), statusOf("", failed)}, []string{
			"web: its status says that the run of 2026-11-28 12:01:00 +0000 UTC failed: superseded",
			"web: its status tells of 0 runs at 12:01:00, want one",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := recordedRuns(tc.log, object, dues)
			if err != nil {
				t.Fatal(err)
			}
			fleettest.Same(t, "faults", tc.want, got)
		})
	}
}
