// SPDX-License-Identifier: Apache-2.0

package cronfederatedhpa

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fleetOfCrons is a hub with many objects of four rules each, that were seen,
// and have a run behind them.
func fleetOfCrons(b *testing.B, n int) (*sim, *Reconciler, []reconcile.Request) {
	b.Helper()
	s := newSim(b, moment(b, "07:00"))
	var requests []reconcile.Request
	for i := range n {
		object := newCron(deployment,
			sets("a", "0 8 * * *", 2), sets("b", "0 8 * * *", 3), sets("c", "0 9 * * mon-fri", 4), sets("d", "0 9 * * *", 5))
		object.Namespace = fmt.Sprintf("shop-%d", i)
		target := newDeployment(1)
		target.Namespace = object.Namespace
		s.store.put(object)
		s.store.put(target)
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	program := s.program()
	for _, at := range []string{"07:00", "08:00"} {
		s.reconcileAll(b, program, at, requests)
	}
	return s, program, requests
}

// reconcileAll is what one worker does.
func (s *sim) reconcileAll(b *testing.B, program *Reconciler, at string, requests []reconcile.Request) {
	b.Helper()
	s.clock.SetTime(moment(b, at))
	ctx := klog.NewContext(b.Context(), logr.Discard())
	for _, request := range requests {
		if _, err := program.Reconcile(ctx, request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTenThousand has one worker reconcile 10 000 objects of four rules:
// when nothing is due, as it does once a minute, and when all rules of all
// objects are. The hub answers at once; calls/op is what it is asked.
func BenchmarkTenThousand(b *testing.B) {
	const n = 10_000
	b.Run("idle", func(b *testing.B) {
		s, program, requests := fleetOfCrons(b, n)
		calls := s.calls
		for b.Loop() {
			s.reconcileAll(b, program, "08:30", requests)
		}
		b.ReportMetric(float64(s.calls-calls)/float64(b.N), "calls/op")
	})
	b.Run("due", func(b *testing.B) {
		s, program, requests := fleetOfCrons(b, n)
		calls, day := s.calls, moment(b, "09:00")
		for b.Loop() {
			s.reconcileAll(b, program, day.Format(time.DateTime), requests)
			day = day.Add(24 * time.Hour)
		}
		b.ReportMetric(float64(s.calls-calls)/float64(b.N), "calls/op")
	})
}
