// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// restless is for how long nothing is evicted or made smaller after replicas, or the leader, changed; and some more.
const restless = time.Minute + 5*verticalPeriod

// isCapped wants what one cluster is recommended of cpu, and why it is not what the fleet is.
func isCapped(name, cpu string, reason sizes.Reason) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		for _, c := range m.Status.Clusters {
			if c.Name != name || c.Recommendation == nil {
				continue
			}
			of := c.Recommendation.Containers[0]
			capped := slices.ContainsFunc(of.CappedBy, func(by v1alpha1.Cap) bool { return by.Resource == "cpu" && by.Reason == string(reason) })
			if of.Target.CPU == nil || of.Target.CPU.String() != cpu || !capped {
				return fmt.Errorf("%s is recommended %v of cpu, capped by %+v; want %s by %s", name, of.Target.CPU, of.CappedBy, cpu, reason)
			}
			return nil
		}
		return fmt.Errorf("%s is recommended nothing of its own: %+v", name, m.Status.Clusters)
	}
}

// nodesRefuse: nodes can never give Pods what is recommended. That is reported, and no more is recommended there than these nodes give.
// So the resizes are withdrawn, and no Pod is evicted once that would be possible.
func (s *stage) nodesRefuse() {
	s.runSmall(3, "lab.fleetscale.io/resize: Infeasible", sizesNewPods)
	s.running(sizesNewPods, 3)
	pods := s.watchLives("web", sizesNewPods)
	s.size("clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate, minReplicas: 1}")
	s.tellsOwner("Warning", "ResizeInfeasible", sizesNewPods, "can never give them their size")
	rests := []func(*v1alpha1.MultidimPodAutoscaler) error{
		recommendsCPU(muchCPU, "6"), isCapped(sizesNewPods, smallCPU, sizes.ReasonLargestNode), isSized(v1alpha1.MultidimActive, "3/3"),
		states("VerticalActuation=True/Actuating"), admits(sizesNewPods, v1alpha1.AdmissionInstalled), hasEvicted(nil),
	}
	capped := s.becomes("no more is recommended there than nodes give", rests...)
	s.outlasts(capped, restless)
	s.becomes("it stays so", rests...)
	all, _ := pods.told(s.t)
	for _, of := range all {
		if len(of.cpu) != 3 || of.cpu[0].String() != smallCPU || of.cpu[2].String() != smallCPU || !of.ended.IsZero() {
			s.t.Errorf("%s requested %v and ended at %v, want that one resize was withdrawn", of.name, of.cpu, of.ended)
		}
	}
	if len(all) != 3 {
		s.t.Errorf("there were %d Pods, want 3", len(all))
	}
}

// outlasts waits until the MultidimPodAutoscaler is so old.
func (s *stage) outlasts(m *v1alpha1.MultidimPodAutoscaler, age time.Duration) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s: it is %v old", s.ns, age), func(context.Context) error {
		if left := time.Until(m.CreationTimestamp.Add(age)); left > 0 {
			return fmt.Errorf("%v are left", left)
		}
		return nil
	})
}
