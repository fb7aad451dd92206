// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// busyInOne is before the first two cases.
func (s *stage) busyInOne() {
	s.uses(map[string]string{"member1": "200m", "member2": "50m", "member3": "50m"})
	s.runIn(2, allMembers()...)
}

// The load rises in one member only, and replicas rise in all, by what Ready
// Pods use everywhere. The hub's workload is told, and members follow it.
func (s *stage) loadByTheHub() {
	s.propagate(6, allMembers()...)
	s.autoscale("minReplicas: 6, maxReplicas: 12, metrics: [" + byCPU + "]")
	s.runs("hub 12, member1 4, member2 4, member3 4")
	s.comes("all Pods are Ready", hasClusters("member1 Active 4, member2 Active 4, member3 Active 4"),
		says(able+"=True/ReadyForNewScale"), says(active+"=True/ValidMetricFound", "cpu resource utilization (percentage of request)"),
		says(limited+"=True/TooManyReplicas"), says(visible+"=True/AllClustersVisible"))
	s.shows(`web +Deployment +web +cpu: \d+%/50% +6 +12 +12 +12 +3/3 +Limited +\S+`)
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 12", "cpu resource utilization (percentage of request) above target")

	s.uses(map[string]string{"member1": "20m", "member2": "20m", "member3": "20m"})
	s.runs("hub 6, member1 2, member2 2, member3 2")
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 6", "All metrics below target")
}

// The same where each member is told its part, by weights.
func (s *stage) loadByParts() {
	s.autoscale("minReplicas: 4, maxReplicas: 12, metrics: [" + byCPU +
		"], replicaDistribution: {type: StaticWeighted, clusterAutoscalingPreference: [" +
		"{targetCluster: {clusterNames: [member1]}, staticWeight: 2}, {targetCluster: {clusterNames: [member2, member3]}, staticWeight: 1}]}")
	s.runs("member1 6, member2 3, member3 3")
	s.comes("all Pods are Ready", hasClusters("member1 Active 6, member2 Active 3, member3 Active 3"), isIn(v1alpha1.StateLimited),
		isAssigned("6 3 3"), hasMetricAges)
	s.describes("Assigned Replicas: 6 Current Replicas: 6", "Name: member1 Ready Replicas: 6",
		"Message: Pods and metrics of all clusters are visible",
		"Message: the desired replica count is more than the maximum replica count",
		"New size: 12; reason: cpu resource utilization (percentage of request) above target")

	s.uses(map[string]string{"member1": "20m", "member2": "20m", "member3": "20m"})
	s.runs("member1 2, member2 1, member3 1")
	s.comes("it says so", isAssigned("2 1 1"), says(limited+"=True/TooFewReplicas"))
}

// Pods of a StatefulSet have the same names in all members.
func (s *stage) namesThatCollide() {
	s.kind = "StatefulSet"
	s.tells("rps", map[string]string{"member1": "40", "member2": "10", "member3": "10"})
	s.runIn(1, allMembers()...)
	s.autoscale("minReplicas: 3, maxReplicas: 6, metrics: [" + byRPS + "], replicaDistribution: {}")
	s.runs("member1 2, member2 2, member3 2")
	s.comes("the mean is that of all six", hasClusters("member1 Active 2, member2 Active 2, member3 Active 2"), isIn(v1alpha1.StateLimited))
	s.shows(`web +StatefulSet +web +rps: 20/10 \(avg\) +3 +6 +6 +6 +3/3 +Limited +\S+`)
	s.hasEvent("Normal", "SuccessfulRescale", "New size: 6; reason: pods metric rps above target")

	s.tells("rps", map[string]string{"member1": "2", "member2": "2", "member3": "11"})
	s.runs("member1 1, member2 1, member3 1")
}

// byRPS is a metric of Pods.
const byRPS = "{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 10}}}"

func isAssigned(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		var all []string
		for _, c := range f.Status.Clusters {
			if c.AssignedReplicas != nil {
				all = append(all, fmt.Sprint(*c.AssignedReplicas))
			}
		}
		if got := strings.Join(all, " "); got != want {
			return fmt.Errorf("clusters are assigned %s, want %s", got, want)
		}
		return nil
	}
}

func hasMetricAges(f *v1alpha1.FederatedHPA) error {
	for _, c := range f.Status.Clusters {
		if c.MetricAgeSeconds == nil || *c.MetricAgeSeconds > 60 {
			return fmt.Errorf("metrics of %s are %v seconds old", c.Name, c.MetricAgeSeconds)
		}
	}
	return nil
}

// describes wants kubectl describe to have these words, however they are spaced.
func (s *stage) describes(words ...string) {
	s.t.Helper()
	said := strings.Join(strings.Fields(s.kubectl(s.t, "-n", s.ns, "describe", "fhpa", "web").Stdout), " ")
	for _, word := range words {
		if !strings.Contains(said, word) {
			s.t.Errorf("kubectl describe lacks %q: %s", word, said)
		}
	}
}
