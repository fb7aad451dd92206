// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// falls returns how often a cluster runs less than one reconcile before.
func (w *world) falls(name string, reconciles int) (times int) {
	had := w.members[name].deployment().Replicas
	for range reconciles {
		_ = w.reconcileN(1)
		now := w.members[name].deployment().Replicas
		if now < had {
			times++
		}
		had = now
	}
	return times
}

// refusesAbove has a member refuse autoscalers with a greater maximum, as a policy there may.
func refusesAbove(m *member, most int32) {
	m.refusesHPA = func(hpa *autoscalingv2.HorizontalPodAutoscaler) error {
		if hpa.Spec.MaxReplicas > most {
			return errRefused
		}
		return nil
	}
}

// What passes a dry run may be refused in earnest: by a full etcd, or a webhook that is called only then. It is tried less and less.
func TestRefusalThatADryRunDoesNotShow(t *testing.T) {
	for _, policy := range anyPolicy {
		t.Run(string(policy), func(t *testing.T) {
			w := fleetOf(t, policy, map[string]int32{"a": 2}, bounds(2, 20))
			w.hub.workload = template(nil)
			refusing(w.member("b"), "")
			w.member("b").dryOK = true
			carries(w, 1000)
			_ = w.reconcileN(60)
			w.Heard()
			w.writes()
			if times := w.falls("a", 400); times > 3 { // after 10, 20 and 40 minutes
				t.Errorf("a lost Pods %d times", times)
			}
			if heard := w.Heard(); len(heard) > 12 {
				t.Errorf("heard %d times: %q", len(heard), heard)
			}
		})
	}
}

// An edit takes nothing from the others for a cluster that will not take it.
func TestEditWhileOneRefusesForLong(t *testing.T) {
	for _, policy := range anyPolicy {
		t.Run(string(policy), func(t *testing.T) {
			w := fleetOf(t, policy, map[string]int32{"a": 2}, bounds(2, 20))
			w.hub.workload = template(nil)
			refusing(w.member("b"), "")
			carries(w, 1000)
			_ = w.reconcileN(60)
			w.edit(bounds(3, 20))
			same(t, "how often a lost Pods", 0, w.falls("a", 10))
		})
	}
}

// Each is asked for what it would really get, which is more where another one refuses too.
func TestTwoThatRefuse(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 15))
	w.mustReconcile(4)
	refusesAbove(w.member("b"), 15)
	refusing(w.member("c"), "")
	carries(w, 3000)
	w.edit(bounds(3, 39))
	_ = w.reconcileN(60)
	w.Heard()
	same(t, "how often a lost Pods", 0, w.falls("a", 400))
	same(t, "heard", nil, w.Heard())
}

// That a cluster takes its part again is not forgotten while another one is silent.
func TestOneRecoversWhileAnotherIsSilent(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2, "c": 2}, bounds(3, 15))
	w.mustReconcile(4)
	refusesAbove(w.member("b"), 9)
	w.edit(bounds(3, 60))
	_ = w.reconcileN(40)
	w.member("c").Silent = federatedhpatest.Silence()
	_ = w.reconcileN(2)
	w.member("b").refusesHPA = nil
	_ = w.reconcileN(3)
	w.member("c").Silent = nil
	w.mustReconcile(10)
	same(t, "there is", map[string]string{"a": "web 1-20, runs 2", "b": "web 1-20, runs 2", "c": "web 1-20, runs 2"}, w.has())
}

// A cluster that does not shrink does so at nobody else's cost.
func TestRefusalToShrink(t *testing.T) {
	for _, policy := range anyPolicy[2:] {
		for name, refuse := range map[string]func(m *member, stands int32){
			"refuses all":  func(m *member, _ int32) { refusing(m, "apply") },
			"refuses less": func(m *member, stands int32) { m.refusesHPA = refusesBelow(stands) },
		} {
			t.Run(fmt.Sprintf("%s %s", policy, name), func(t *testing.T) {
				w := fleetOf(t, policy, map[string]int32{"a": 2, "b": 2}, bounds(2, 40))
				w.member("a").room, w.member("b").room = 40, 40
				carries(w, 1000)
				w.mustReconcile(30)
				refuse(w.member("b"), w.stands("b"))
				w.edit(bounds(2, 12))
				_ = w.reconcileN(2)
				intended := clusterOf(w, "a").AssignedMax
				w.Heard()
				_ = w.reconcileN(int(fleettest.Rounds(300, 3)))
				if got := ptr.Deref(clusterOf(w, "a").AssignedMax, 0); got < ptr.Deref(intended, 0) {
					t.Errorf("a had %d by the edit, and has %d", ptr.Deref(intended, 0), got)
				}
				if heard := w.Heard(); len(heard) > 6 {
					t.Errorf("heard %d times: %q", len(heard), heard)
				}
			})
		}
	}
}

func refusesBelow(least int32) func(*autoscalingv2.HorizontalPodAutoscaler) error {
	return func(hpa *autoscalingv2.HorizontalPodAutoscaler) error {
		if hpa.Spec.MaxReplicas < least {
			return errRefused
		}
		return nil
	}
}

// stands is the maximum that our autoscaler in a member has.
func (w *world) stands(name string) (upper int32) {
	for _, hpa := range w.members[name].hpas {
		upper = hpa.Spec.MaxReplicas
	}
	return upper
}

// What was refused before a long silence says nothing of what is refused after it.
func TestRefusalsAroundASilence(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2}, bounds(2, 20))
	carries(w, 3000)
	w.mustReconcile(6)
	times := 1
	w.member("b").refuses = func(string) error {
		if times--; times >= 0 {
			return errRefused
		}
		return nil
	}
	w.edit(bounds(2, 30))
	_ = w.reconcileN(1)
	w.member("b").Silent = federatedhpatest.Silence()
	_ = w.reconcileN(30)
	w.member("b").Silent = nil
	times = 1
	_ = w.reconcileN(2)
	had := w.members["a"].deployment().Replicas
	_ = w.reconcileN(3)
	same(t, "a runs", had, w.members["a"].deployment().Replicas)
	same(t, "how often a lost Pods", 0, w.falls("a", 10))
}

// A cluster that takes everything again is well, whatever else it had refused before.
func TestOneThatRefusedAllKinds(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 1, "b": 1, "c": 1}, toZero, bounds(1, 12))
	carries(w, 10)
	_ = w.reconcileN(120)
	asleep := w.asleep()
	refusing(w.member(asleep), "scale")
	carries(w, 1500)
	_ = w.reconcileN(30)
	refusing(w.member(asleep), "")
	w.edit(bounds(1, 24))
	_ = w.reconcileN(400)
	w.member(asleep).refuses = nil
	w.mustReconcile(60)
	if able := w.condition(autoscalingv2.AbleToScale); !strings.HasPrefix(able, "True") {
		t.Errorf("15 minutes after it takes all: %s", able)
	}
	same(t, "its state", v1alpha1.ClusterActive, clusterOf(w, asleep).State)
}

// A new leader knows of a cluster that was given up what its status says, and neither takes it for well nor tells of it again.
func TestRestartWhileOneIsGivenUp(t *testing.T) {
	w := fleetOf(t, "StaticWeighted", map[string]int32{"a": 2, "b": 2})
	w.settle(3)
	refusing(w.member("b"), "")
	w.edit(bounds(2, 20))
	_ = w.reconcileN(30)
	before := w.has()
	same(t, "there is", map[string]string{"a": "web 1-15, runs 2", "b": "web 1-5, runs 2"}, before)
	w.Heard()
	w.restart()
	_ = w.reconcileN(10)
	same(t, "heard", nil, w.Heard())
	same(t, "there is after a restart", before, w.has())
	same(t, "b", reasonFailedWrite, clusterOf(w, "b").Reason)
	w.member("b").refuses = nil
	w.mustReconcile(4)
	same(t, "there is when it takes it", map[string]string{"a": "web 1-10, runs 2", "b": "web 1-10, runs 2"}, w.has())
}
