// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// The simplest FederatedHPA, and the simplest rule, of workloads that the hub lacks: they are scaled in the members, in the
// proportions that they have.
func (s *stage) scaledWhereItIs() {
	s.queue("30")
	for member, replicas := range map[string]int{"member1": 2, "member2": 1} {
		s.apply(member, webOf(s.kind, replicas, false))
		s.apply(member, strings.ReplaceAll(webOf(s.kind, replicas, false), "web", "plain"))
	}
	s.autoscale("minReplicas: 1, maxReplicas: 10, metrics: [" + s.byQueue(10) + "]")
	s.comes("it is scaled where it is", isIn(v1alpha1.StateActive), says(string(v1alpha1.Propagated)+"=True/ScaledInMembers"))
	s.hasEvent("Normal", "ScaledInMembers", `the hub has no Deployment "web"`)
	s.runs("member1 2, member2 1")
	s.queue("60")
	s.runs("member1 4, member2 2")
	s.apply("hub", `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: plain}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: plain}
  rules: [{name: soon, schedule: "* * * * *", targetReplicas: 9}]
`)
	s.runsOf("plain", "member1 6, member2 3")
	s.ran("plain", "soon Succeeded")
}

// Rules divide a workload that the hub lacks as a FederatedHPA would: what is not selected stays. Once the hub has it, they fail, and say
// so.
func (s *stage) dividedByRules() {
	for member, replicas := range map[string]int{"member1": 1, "member2": 1, "member3": 2} {
		s.apply(member, webOf(s.kind, replicas, false))
	}
	s.apply("hub", `
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  clusterAffinity: {exclude: [member3]}
  replicaDistribution:
    type: Prioritized
    clusterAutoscalingPreference:
    - {targetCluster: {clusterNames: [member1]}, priority: 1}
    - {targetCluster: {clusterNames: [member2]}, priority: 2, autoscalingMaxThreshold: 4}
  rules: [{name: soon, schedule: "* * * * *", targetReplicas: 9}]
`)
	s.runsOf("web", "member1 5, member2 4, member3 2")
	s.ran("web", "soon Succeeded")
	s.apply("hub", webOf(s.kind, 3, true))
	s.ran("web", "soon Failed")
	s.hasEventOf("CronFederatedHPA", "Warning", "RunFailed", "is on the hub, where whoever propagates it divides its replicas")
	s.runsOf("web", "hub 3, member1 5, member2 4, member3 2")
}

// ran waits for the last run of rules.
func (s *stage) ran(cron, last string) {
	s.t.Helper()
	eventually(s.t, "the run is recorded: "+last, func(ctx context.Context) error {
		said, err := s.Ask(ctx, "-n", s.ns, "get", "cronfhpa", cron, "-o", "jsonpath={.status.summary.last}")
		if err == nil && said.Stdout != last {
			err = fmt.Errorf("the last run is %q", said.Stdout)
		}
		return err
	})
}
