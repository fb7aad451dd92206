// SPDX-License-Identifier: Apache-2.0

package soak_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// place is a replica of a workload in a cluster: a Pod, and those that came before it.
type place struct {
	pod     *pod // nil: the next one is still to come
	next    time.Time
	evicted int
	// calm are how often it was resized, and evicted, in the calm.
	calm [2]int
	// by is the leader that did that last, at a time.
	by *leader
	at time.Time
	// advice is what new Pods were to get when the last one was evicted.
	advice pods.Resources
}

// pod is one that was created. What becomes of it later is known from the beginning, so nothing has to happen in between.
type pod struct {
	name       string
	uid        types.UID
	created    time.Time
	ready      time.Time // when it is
	replaces   bool      // it took the place of one that was evicted
	sized      bool
	asked, has pods.Resources
	// state is what its node makes of the last resize, until then.
	state  pods.ResizeState
	until  time.Time
	killed time.Time
	kills  int32
}

// settle is what has become of it by now.
func (p *pod) settle(now time.Time) {
	if p.state != pods.ResizeNone && p.state != pods.ResizeInfeasible && !now.Before(p.until) {
		p.state, p.has = pods.ResizeNone, p.asked
	}
}

func (p *pod) isReady(now time.Time) bool {
	const restart = 20 * time.Second
	return !now.Before(p.ready) && (now.Before(p.killed) || now.Sub(p.killed) >= restart)
}

// resize has its node do it: soon, later, or never.
func (p *pod) resize(to pods.Resources, now time.Time, d dice) {
	p.asked = to
	switch n := d.IntN(20); {
	case p.asked == p.has:
		p.state = pods.ResizeNone
	case n == 0:
		p.state = pods.ResizeInfeasible
	case n <= 2:
		p.state, p.until = pods.ResizeDeferred, now.Add(d.span(30*time.Minute))
	default:
		p.state, p.until = pods.ResizeInProgress, now.Add(5*time.Second+d.span(90*time.Second))
	}
}

func (p *pod) listed(now time.Time) pods.SizedPod {
	listed := pods.SizedPod{
		Pod: replicas.Pod{Name: p.name, Phase: corev1.PodRunning, Started: p.created,
			Ready: replicas.Ready{Status: corev1.ConditionFalse}},
		UID:        p.uid,
		Created:    p.created,
		Node:       "node-1",
		Class:      corev1.PodQOSBurstable,
		Revision:   "1",
		Containers: containersOf(p.asked),
		Resizable:  true,
		Resize:     pods.Resize{State: p.state, Observed: true},
	}
	if p.isReady(now) {
		listed.Ready.Status = corev1.ConditionTrue
	}
	if p.sized {
		listed.SizedBy = "by@1"
	}
	if p.has != p.asked {
		listed.Actual = containersOf(p.has)
	}
	if p.kills > 0 && !now.Before(p.killed) {
		listed.OOMKills = []pods.OOMKill{{Container: container, Restarts: p.kills, StartedAt: p.created, FinishedAt: p.killed}}
	}
	return listed
}

func containersOf(requests pods.Resources) []pods.Container {
	return []pods.Container{{Name: container, Requests: requests, Limits: pods.Resources{MilliCPU: pods.None, Memory: pods.None}}}
}

// container is the only one of each Pod.
const container = "app"

// uidOf is one as API servers give them.
func uidOf(kind, n int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n))
}
