// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/lab"
)

// idle is before the first case.
func (s *stage) idle() {
	s.uses(map[string]string{"member1": "10m", "member2": "10m", "member3": "10m"})
	s.runIn(1, allMembers()...)
}

// Of several metrics the one that asks for most decides.
func (s *stage) largestWins() {
	s.queue("30")
	s.hits(map[string]string{"member1": "20", "member2": "30"})
	s.propagate(3, allMembers()...)
	object := fmt.Sprintf("{type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: web}, metric: {name: %s-hits}, "+
		"target: {type: AverageValue, averageValue: 10}}}", s.ns)
	s.autoscale("minReplicas: 2, maxReplicas: 20, metrics: [" + s.byQueue(10) + ", " + object + ", " + byCPU + "]")
	s.runs("hub 5, member1 2, member2 2, member3 1")
	s.comes("the sum of an object counts", says(active+"=True/ValidMetricFound", "from external metric fed-several-hits"))

	s.queue("90")
	s.runs("hub 9, member1 3, member2 3, member3 3")
	s.comes("the queue counts", says(active+"=True/ValidMetricFound", "from external metric fed-several-queue"))
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 9; reason: external metric fed-several-queue(nil) above target")

	s.hits(map[string]string{"member1": "5", "member2": "10"})
	s.queue("5")
	s.runs("hub 2, member1 1, member2 1, member3 0")
	s.shows(`web +Deployment +web +fed-several-queue: 2500m/10 \(avg\), fed-several-hits: 7500m/10 \(avg\), cpu: \d+%/50% +2 +20 +2 +2 +3/3 +Active +\S+`)
}

// hits sets a metric of a Service, by member.
func (s *stage) hits(values map[string]string) {
	s.t.Helper()
	for name, value := range values {
		f := lab.Figure{Namespace: s.ns, Resource: "services", Object: "web", Metric: s.ns + "-hits", Value: resource.MustParse(value)}
		if err := s.member(s.t, name).SetFigure(s.t.Context(), f); err != nil {
			s.t.Fatal(err)
		}
	}
}

// An empty queue takes the workload to zero, and what comes brings it back. Who
// sets zero replicas by hand switches the autoscaler off.
func (s *stage) toZeroAndBack() {
	s.queue("10")
	s.propagate(2, "member1", "member2")
	s.autoscale("minReplicas: 0, maxReplicas: 10, metrics: [" + s.byQueue(5) + "]")
	s.comes("it has seen the queue", says(active+"=True/ValidMetricFound"))
	s.runs("hub 2, member1 1, member2 1")

	s.queue("0")
	s.runs("hub 0, member1 0, member2 0")
	s.comes("it is at zero by itself", says(zeroed+"=True/ScaledToZero"), isIn(v1alpha1.StateActive))

	s.queue("20")
	s.runs("hub 4, member1 2, member2 2")
	s.comes("it has come back", says(zeroed+"=False/NotScaledToZero"))

	s.scaleBy("hub", 0)
	s.comes("it is switched off", isIn(v1alpha1.StatePaused), says(active+"=False/ScalingDisabled"))
	s.runs("hub 0, member1 0, member2 0")
	s.shows(`web +Deployment +web +.* 0 +10 +0 +0 +3/3 +Paused +\S+`)
	s.scaleBy("hub", 1)
	s.runs("hub 4, member1 2, member2 2")
}

// Bounds act as soon as they are set, and what is set by hand does not last.
func (s *stage) boundsAtOnce() {
	s.queue("30")
	s.propagate(3, "member1")
	s.autoscale("minReplicas: 1, maxReplicas: 10, metrics: [" + s.byQueue(10) + "]")
	s.comes("it has seen the queue", says(active+"=True/ValidMetricFound"), isIn(v1alpha1.StateActive))

	s.change(`{"spec":{"minReplicas":5}}`)
	s.runs("hub 5, member1 5")
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 5; reason: Current number of replicas below Spec.MinReplicas")
	s.change(`{"spec":{"minReplicas":1,"maxReplicas":2}}`)
	s.runs("hub 2, member1 2")
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 2; reason: Current number of replicas above Spec.MaxReplicas")

	s.scaleBy("hub", 9)
	s.runs("hub 2, member1 2")
	s.change(`{"spec":{"maxReplicas":10}}`)
	s.runs("hub 3, member1 3")
	s.scaleBy("hub", 1)
	s.runs("hub 3, member1 3")
	s.scaleBy("hub", 7)
	s.runs("hub 3, member1 3")
}

// A rule of the next minute raises the minimum, and the fleet follows.
func (s *stage) ruleRaisesMin() {
	s.queue("5")
	s.propagate(1, "member1", "member2")
	s.autoscale("minReplicas: 1, maxReplicas: 10, metrics: [" + s.byQueue(10) + "]")
	s.apply("hub", `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}
  rules: [{name: soon, schedule: "* * * * *", targetMinReplicas: 4}]
`)
	s.runs("hub 4, member1 2, member2 2")
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 4; reason: Current number of replicas below Spec.MinReplicas")
}
